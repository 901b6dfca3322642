"""Operators that read or write at places given by an index tensor."""

from __future__ import annotations

import math

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.ops.elementwise import broadcast
from neuron_profile.hardware.rule import Rule, Traffic

_GATHER = "the index and the elements it picks read once, the result written once; no operations"
_SCATTER = "index, source and the places written to read once, those places written once; one operation per element"


def _rows(table: Tensor | None, index: Tensor | None) -> Traffic | None:
    """Whole rows of `table`, one for each element of `index`."""
    if table is None or index is None or not table.shape:
        return None
    picked = index.numel * math.prod(table.shape[1:]) * table.itemsize
    return Traffic(index.nbytes + picked, picked)


def _embedding(call: Call) -> Traffic | None:
    return _rows(call.tensor(0), call.tensor(1))


def _embedding_backward(call: Call) -> Traffic | None:
    gradient, index, rows = call.tensor(0), call.tensor(1), call.number(2)
    if gradient is None or index is None or rows is None or not gradient.shape:
        return None
    return Traffic(gradient.nbytes + index.nbytes, rows * gradient.shape[-1] * gradient.itemsize)


def _index_select(call: Call) -> Traffic | None:
    source, axis, index = call.tensor(0), call.number(1), call.tensor(2)
    if source is None or index is None or not source.shape:
        return None
    axis = 0 if axis is None else axis
    if not -len(source.shape) <= axis < len(source.shape):
        return None
    front = source.shape[axis]
    others = source.numel // front if front else 0
    return _rows(Tensor((front, others), source.itemsize), index)


def _index(call: Call) -> Traffic | None:
    source, indices = call.tensor(0), call.list(1)
    place = broadcast(indices)
    if source is None or not indices or place is None or len(indices) > len(source.shape):
        return None
    picked = math.prod(place) * math.prod(source.shape[len(indices) :]) * source.itemsize
    # a list has no element type of its own; indices are int64
    return Traffic(picked + sum(8 * t.numel for t in indices), picked)


def _gather(call: Call) -> Traffic | None:
    source, index = call.tensor(0), call.tensor(2)
    if source is None or index is None:
        return None
    picked = index.numel * source.itemsize
    return Traffic(index.nbytes + picked, picked)


def _scatter(call: Call) -> Traffic | None:
    """(self, dim, index, source): out of place, the whole of self is copied first."""
    target, index = call.tensor(0), call.tensor(2)
    if target is None or index is None:
        return None
    source = call.tensor(3)
    touched = index.numel * target.itemsize
    read = index.nbytes + (source.nbytes if source else 0)
    return Traffic(read + touched, touched) if call.in_place else Traffic(read + target.nbytes, target.nbytes)


def _index_add(call: Call) -> Traffic | None:
    """(self, dim, index, source): source covers the touched part of self."""
    target, index, source = call.tensor(0), call.tensor(2), call.tensor(3)
    if target is None or index is None or source is None:
        return None
    read = index.nbytes + source.nbytes
    touched = source.numel * target.itemsize
    return Traffic(read + touched, touched) if call.in_place else Traffic(read + target.nbytes, target.nbytes)


def _one_per_source_element(call: Call) -> float | None:
    source = call.tensor(3)
    return None if source is None else source.numel


RULES: dict[str, Rule] = {
    "embedding": Rule("gather", _embedding, None, _GATHER),
    "embedding_dense_backward": Rule(
        "scatter", _embedding_backward, None, "gradient and index read once, the whole table's gradient written once"
    ),
    "index_select": Rule("gather", _index_select, None, _GATHER),
    "index": Rule("gather", _index, None, _GATHER),
    "gather": Rule("gather", _gather, None, _GATHER),
    **dict.fromkeys(("scatter", "scatter_reduce"), Rule("scatter", _scatter, None, _SCATTER)),
    "scatter_add": Rule("scatter", _scatter, _one_per_source_element, _SCATTER),
    "index_add": Rule("scatter", _index_add, _one_per_source_element, _SCATTER),
    "index_copy": Rule("scatter", _index_add, None, _SCATTER),
}
