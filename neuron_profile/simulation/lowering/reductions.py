"""Operators that reduce their input along some axes, and those that select from it by value."""

from __future__ import annotations

import math

from neuron_profile.hardware.call import Call
from neuron_profile.hardware.op_cost import RULES
from neuron_profile.simulation.instructions import PSUM_BANK, tiled
from neuron_profile.simulation.lowering.pointwise import Passes, pointwise
from neuron_profile.simulation.lowering.target import Flat, Lower, Rows, Target, flat_bytes, last_axis
from neuron_profile.simulation.work import Work, stage

_MAX8 = 8  # how many of a row's largest values one instruction finds (AWS Neuron docs, nki.isa.max8)
_SQUARES = frozenset({"norm", "linalg_vector_norm", "var", "std", "var_mean", "std_mean", "logsumexp"})


def _reduce(call: Call, target: Target) -> Work | None:
    """Vector along a row; across partitions a product with ones on the Tensor engine."""
    source = call.tensor(0)
    traffic = RULES[call.operator].traffic(call)
    if source is None or traffic is None or not source.numel:
        return None
    second = call.tensor(1)
    if call.operator in ("max", "min") and second is not None:
        return pointwise(
            "elementwise", [source, second], traffic.written_bytes, source.numel, Passes(tensor_tensor=1), target
        )
    axes = call.numbers(2 if call.operator in _SQUARES and "norm" in call.operator else 1)
    ndim = len(source.shape)
    reduced = {axis % ndim for axis in axes} if axes and ndim else set()
    unit, itemsize = target.unit, source.itemsize
    busy: dict[str, float] = {}
    if reduced and ndim - 1 not in reduced:  # rows lie along the partitions, which only the Tensor engine sums up
        rows = last_axis(source)
        left = math.prod(size for axis, size in enumerate(source.shape) if axis not in reduced)
        busy["Tensor"] = rows.row_tiles * tiled(rows.width, PSUM_BANK, lambda n: unit.matmul(n, itemsize))
        busy["Scalar"] = tiled(left, PSUM_BANK, unit.scalar_copy)
        transfer, tiles = rows.transfer(itemsize), rows.tiles
    else:
        whole: Rows | Flat = last_axis(source) if reduced else Flat(source.numel)
        busy["Vector"] = whole.times(lambda n: unit.reduce(n, itemsize))
        transfer, tiles = whole.transfer(itemsize), whole.tiles
        if not reduced:  # the partitions' sums
            busy["Tensor"] = unit.matmul(1, 4)
    if call.operator in _SQUARES:
        busy["Scalar"] = busy.get("Scalar", 0.0) + Flat(source.numel).times(unit.activation)
    return Work(
        rule="reduction", stages=(stage(**busy),), loads=(transfer,), stores=flat_bytes(traffic.written_bytes),
        tiles=tiles, rows=transfer.rows, pointwise=True,
    )  # fmt: skip


def _largest(call: Call, target: Target) -> Work | None:
    """topk, argmax and sort by eights: find the largest, find where they are, take them out."""
    source = call.tensor(0)
    traffic = RULES[call.operator].traffic(call)
    if source is None or traffic is None or not source.numel:
        return None
    rows, unit = last_axis(source), target.unit
    kept = {"topk": call.number(1) or 1, "sort": rows.width, "argsort": rows.width}.get(call.operator, 1)
    rounds = math.ceil(kept / _MAX8)
    return Work(
        rule="selection", stages=(stage(Vector=rounds * 3 * rows.times(unit.reduce)),),
        loads=(rows.transfer(source.itemsize),), stores=flat_bytes(traffic.written_bytes), tiles=rows.tiles,
        rows=rows.rows,
    )  # fmt: skip


_REDUCTIONS = """
    sum nansum mean nanmean prod amax amin logsumexp norm linalg_vector_norm var std var_mean std_mean any all max min
"""
LOWERING: dict[str, Lower] = {
    **dict.fromkeys(_REDUCTIONS.split(), _reduce),
    **dict.fromkeys(("argmax", "argmin", "topk", "sort", "argsort"), _largest),
}
