"""Operators that only move data: DMA, and the Tensor engine where rows become columns."""

from __future__ import annotations

import math

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.simulation.instructions import PARTITIONS, PSUM_BANK, tiled
from neuron_profile.simulation.lowering.target import Flat, Lower, Target, flat_bytes, row_major
from neuron_profile.simulation.work import Transfer, Work, stage

_WHOLE_RUN_BYTES = 64  # from such runs on pieces are moved whole, below it element by element


def transposed(rows: int, columns: int, itemsize: int, batch: int, target: Target) -> Work:
    """A copy whose rows are the source's columns: 128 x 128 transposes on the Tensor engine."""
    unit = target.unit
    blocks = batch * math.ceil(rows / PARTITIONS) * math.ceil(columns / PARTITIONS)
    return Work(
        rule="transpose",
        stages=(stage(Tensor=blocks * unit.transpose(itemsize),
                      Scalar=tiled(blocks * PARTITIONS, PSUM_BANK, unit.scalar_copy)),),
        loads=(Transfer(batch * rows, columns * itemsize),), stores=(Transfer(batch * columns, rows * itemsize),),
        tiles=max(batch * math.ceil(rows / PARTITIONS), 1), rows=batch * rows,
    )  # fmt: skip


def _copy(call: Call, target: Target) -> Work | None:
    """copy_(self, src): broadcast, cast and laid out anew on the way."""
    to, source = call.tensor(0), call.tensor(1)
    if to is None or source is None or not to.numel:
        return None
    if len(to.shape) > 1 and to.shape == source.shape and row_major(to) and not row_major(source):
        rows, columns = source.shape[-1], source.shape[-2]
        return transposed(rows, columns, source.itemsize, to.numel // max(rows * columns, 1), target)
    reads = _moved(source) if source.numel > 1 else None
    return Work(
        rule="copy", loads=(reads,) if reads else (), stores=(_moved(to),),
        tiles=Flat(to.numel).tiles, rows=to.numel, pointwise=target.compiled,
    )  # fmt: skip


def _join(call: Call, target: Target) -> Work | None:
    """cat and stack: each part to its place, a run at a time."""
    parts = [part for part in call.list(0) if part.numel]
    if not parts:
        return None
    axis = call.number(1) or 0
    moved = tuple(_runs(part, axis) for part in parts)
    return Work(rule="copy", loads=moved, stores=moved, tiles=len(parts), rows=sum(one.rows for one in moved))


def _item(call: Call, target: Target) -> Work | None:
    source = call.tensor(0)
    return None if source is None else Work(rule="copy", loads=(Transfer(1, source.itemsize),))


def _moved(tensor: Tensor) -> Transfer:
    """A tensor as DMA moves it: whole where it lies together, else by its runs."""
    run = _run_length(tensor)
    if run >= tensor.numel:
        return Flat(tensor.numel).transfer(tensor.itemsize)
    nbytes = run * tensor.itemsize
    if nbytes < _WHOLE_RUN_BYTES:
        flat = Flat(tensor.numel).transfer(tensor.itemsize)
        return Transfer(flat.rows, flat.row_bytes, element_bytes=nbytes)
    return Transfer(tensor.numel // run, nbytes)


def _run_length(tensor: Tensor) -> int:
    """Elements that lie together at the end of a tensor's axes; a broadcast axis lies together with itself."""
    if tensor.strides is None:
        return tensor.numel
    run = 1
    for size, step in zip(reversed(tensor.shape), reversed(tensor.strides), strict=True):
        if size != 1 and step not in (run, 0):
            break
        run *= size
    return max(run, 1)


def _runs(part: Tensor, axis: int) -> Transfer:
    axis = axis % len(part.shape) if part.shape else 0
    run = max(math.prod(part.shape[axis:]), 1)
    if part.numel == run:
        return flat_bytes(part.nbytes)[0]
    return Transfer(part.numel // run, run * part.itemsize)


LOWERING: dict[str, Lower] = {
    "copy": _copy,
    **dict.fromkeys(("cat", "concat", "stack", "_cat"), _join),
    "_local_scalar_dense": _item,
}
