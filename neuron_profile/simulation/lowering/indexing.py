"""Operators that read or write at places given by an index: DMA by descriptors that GpSimd writes."""

from __future__ import annotations

import math

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.op_cost import RULES
from neuron_profile.simulation.lowering.target import Flat, Lower, Target, flat_bytes, flat_transfers
from neuron_profile.simulation.work import Transfer, Work, stage


def _rows(table: Tensor | None, index: Tensor | None, row: int, target: Target) -> Work | None:
    """Rows of `row` bytes, one for each element of the index."""
    if table is None or index is None or not index.numel or not row:
        return None
    picked = Transfer(index.numel, row, gathered=True)
    return Work(
        rule="gather", stages=(stage(GpSimd=Flat(index.numel).times(target.unit.gpsimd)),),
        loads=(*flat_transfers([index]), picked), stores=(Transfer(index.numel, row),),
        tiles=max(math.ceil(index.numel / 128), 1), rows=index.numel,
    )  # fmt: skip


def _embedding(call: Call, target: Target) -> Work | None:
    table = call.tensor(0)
    row = math.prod(table.shape[1:]) * table.itemsize if table and table.shape else 0
    return _rows(table, call.tensor(1), row, target)


def _index_select(call: Call, target: Target) -> Work | None:
    source, axis = call.tensor(0), call.number(1) or 0
    if source is None or not source.shape or not -len(source.shape) <= axis < len(source.shape):
        return None
    outer = math.prod(source.shape[: axis % len(source.shape)])
    row = source.numel // max(outer * source.shape[axis], 1) * source.itemsize
    index = call.tensor(2)
    picked = None if index is None else Tensor((index.numel * max(outer, 1),), index.itemsize)
    return _rows(source, picked, row, target)


def _embedding_backward(call: Call, target: Target) -> Work | None:
    """The table's gradient is cleared, then each row of the gradient added to its place: read, add, write."""
    gradient, index, rows = call.tensor(0), call.tensor(1), call.number(2)
    if gradient is None or index is None or rows is None or not gradient.shape or not index.numel:
        return None
    row = gradient.shape[-1] * gradient.itemsize
    moved = Transfer(index.numel, row, gathered=True)
    flat = Flat(gradient.numel)
    return Work(
        rule="scatter",
        stages=(
            stage(GpSimd=Flat(index.numel).times(target.unit.gpsimd),
                  Vector=flat.times(lambda n: target.unit.tensor_tensor(n, gradient.itemsize))),
        ),
        loads=(*flat_transfers([index, gradient]), moved), stores=(*flat_bytes(rows * row), moved),
        tiles=flat.tiles, rows=index.numel,
    )  # fmt: skip


def _by_element(call: Call, target: Target) -> Work | None:
    """gather, scatter and index: element by element, or by the runs that an index of the first axes leaves whole."""
    traffic = RULES[call.operator].traffic(call) if call.operator in RULES else None
    source = call.tensor(0)
    if traffic is None or source is None or not traffic.written_bytes:
        return None
    index = call.tensor(2)
    indices = call.list(1)
    run = math.prod(source.shape[len(indices) :]) * source.itemsize if indices else source.itemsize
    count = index.numel if index is not None else max(traffic.written_bytes // max(run, 1), 1)
    flat, unit = Flat(count), target.unit
    busy = {"GpSimd": flat.times(unit.gpsimd)}
    writes = not call.operator.startswith(("gather", "index")) or call.operator in ("index_add", "index_copy")
    if call.operator in ("scatter_add", "index_add", "scatter_reduce"):
        busy["Vector"] = flat.times(lambda n: unit.tensor_tensor(n, source.itemsize))
    rows = flat.transfer(run)
    places = Transfer(rows.rows, rows.row_bytes, element_bytes=run, gathered=True)
    others = flat_bytes(max(traffic.read_bytes - places.nbytes, 0))
    kept = flat_bytes(max(traffic.written_bytes - places.nbytes, 0)) if writes else ()
    return Work(
        rule="scatter" if writes else "gather", stages=(stage(**busy),), loads=(*others, places),
        stores=(*kept, places) if writes else (flat.transfer(run),), tiles=flat.tiles, rows=count,
    )  # fmt: skip


LOWERING: dict[str, Lower] = {
    "embedding": _embedding,
    "index_select": _index_select,
    "embedding_dense_backward": _embedding_backward,
    **dict.fromkeys(
        ("index", "gather", "scatter", "scatter_reduce", "scatter_add", "index_add", "index_copy"), _by_element
    ),
}
