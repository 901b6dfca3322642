"""Operators that reduce their input along some axes, and those that select from it by value."""

from __future__ import annotations

import math
from collections.abc import Callable

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.dtypes import INDEX_BYTES
from neuron_profile.hardware.rule import Rule, Traffic

_SOURCE = "the input read once, the result written once; one operation per element of the input"
_NO_SOURCE = "the input read once, values and int64 indices written once; comparisons are not counted"


def _result_numel(source: Tensor, axes: tuple[int, ...] | None) -> int:
    """Elements left after reducing these axes; 1 where the axes are not known or are all."""
    if not axes or not all(-len(source.shape) <= axis < len(source.shape) for axis in axes):
        return 1
    reduced = {axis % len(source.shape) for axis in axes}
    return math.prod(size for axis, size in enumerate(source.shape) if axis not in reduced)


def _traffic(
    axes_at: int, *, value_itemsize: int | None = None, index: bool = False
) -> Callable[[Call], Traffic | None]:
    def traffic(call: Call) -> Traffic | None:
        source = call.tensor(0)
        if source is None:
            return None
        axes = call.numbers(axes_at)
        itemsize = source.itemsize if value_itemsize is None else value_itemsize
        indices = INDEX_BYTES if index and axes else 0
        return Traffic(source.nbytes, _result_numel(source, axes) * (itemsize + indices))

    return traffic


def _extreme(call: Call) -> Traffic | None:
    """max and min: of all elements, along an axis (with indices), or of two tensors element by element."""
    left, right = call.tensor(0), call.tensor(1)
    if left is not None and right is not None:
        return Traffic(left.nbytes + right.nbytes, max(left.nbytes, right.nbytes))
    return _traffic(1, index=True)(call)


def _selected(call: Call, kept: int | None) -> Traffic | None:
    source = call.tensor(0)
    if source is None or not source.shape:
        return None
    numel = source.numel if kept is None else source.numel // max(source.shape[-1], 1) * kept
    return Traffic(source.nbytes, numel * (source.itemsize + INDEX_BYTES))


def _topk(call: Call) -> Traffic | None:
    kept = call.number(1)
    return None if kept is None else _selected(call, kept)


def _per_input_element(operations: int) -> Callable[[Call], float | None]:
    def flops(call: Call) -> float | None:
        source = call.tensor(0)
        return None if source is None else operations * source.numel

    return flops


_ONCE = Rule("reduction", _traffic(1), _per_input_element(1), _SOURCE)
_AXES_SECOND = Rule(
    "reduction", _traffic(2), _per_input_element(2), _SOURCE.replace("one operation", "two operations (square, add)")
)
_SPREAD = Rule(
    "reduction", _traffic(1), _per_input_element(3),
    _SOURCE.replace("one operation", "three operations (subtract, square, add)"),
)  # fmt: skip
_INDEX = Rule("reduction", _traffic(1, value_itemsize=INDEX_BYTES), None, _NO_SOURCE)
_FLAG = Rule("reduction", _traffic(1, value_itemsize=1), None, "the input read once, flags of one byte written once")

RULES: dict[str, Rule] = {
    **dict.fromkeys(("sum", "nansum", "mean", "nanmean", "prod", "amax", "amin", "logsumexp"), _ONCE),
    **dict.fromkeys(("norm", "linalg_vector_norm"), _AXES_SECOND),
    **dict.fromkeys(("var", "std", "var_mean", "std_mean"), _SPREAD),
    **dict.fromkeys(("argmax", "argmin"), _INDEX),
    **dict.fromkeys(("any", "all"), _FLAG),
    **dict.fromkeys(("max", "min"), Rule("reduction", _extreme, _per_input_element(1), _SOURCE)),
    **dict.fromkeys(("sort", "argsort"), Rule("sort", lambda call: _selected(call, None), None, _NO_SOURCE)),
    "topk": Rule("sort", _topk, None, _NO_SOURCE),
}
