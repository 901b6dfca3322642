"""Unions of half-open intervals, in whatever unit of time their borders have."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def merged(start: Array, end: Array) -> tuple[Array, Array]:
    """The union of half-open intervals as disjoint ones, `(m,) int64` starts and ends in order; empty ones are gone."""
    some = end > start
    if not some.all():
        start, end = start[some], end[some]
    if (start[1:] < start[:-1]).any():
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
    if len(start) == 0:
        return start, end
    reach = np.maximum.accumulate(end)
    first = np.r_[True, start[1:] > reach[:-1]]
    return start[first], reach[np.r_[first[1:], True]]


def union_length(start: Array, end: Array) -> int:
    """How long the union of the half-open intervals is; 0 for none."""
    begin, stop = merged(start, end)
    return int((stop - begin).sum())


def covered(edges: Array, start: Array, end: Array) -> Array:
    """How much of each bin the union of the intervals covers, `(bins,) int64`; `edges` `(bins + 1,)` ascend."""
    return np.diff(covered_before(edges, *merged(start, end)))


def covered_before(moments: Array, begin: Array, stop: Array) -> Array:
    """How much of the time before each moment the intervals [begin, stop), disjoint and in order, cover."""
    if len(begin) == 0:
        return np.zeros(len(moments), np.int64)
    before = np.r_[0, np.cumsum(stop - begin)[:-1]]
    last = np.maximum(np.searchsorted(begin, moments, "right") - 1, 0)
    return before[last] + np.clip(moments - begin[last], 0, (stop - begin)[last])


def without(begin: Array, stop: Array, start: Array, end: Array) -> tuple[Array, Array]:
    """What the intervals [start, end) leave of [begin, stop); all of them disjoint and in order, the result too."""
    edges = np.concatenate([begin, stop, start, end])
    turn = np.repeat([1, -1, -2, 2], [len(begin), len(stop), len(start), len(end)])
    order = np.argsort(edges, kind="stable")
    edges, state = edges[order], np.cumsum(turn[order])
    kept = (state[:-1] == 1) & (edges[1:] > edges[:-1]) if len(edges) else np.zeros(0, bool)
    return merged(edges[:-1][kept], edges[1:][kept])


def within(begin: Array, stop: Array, start: Array, end: Array) -> Array:
    """How much of each of the intervals [begin, stop), disjoint and in order, the union of [start, end) covers."""
    edges = np.stack([begin, stop], axis=1).reshape(-1)
    return covered(edges, start, end)[::2] if len(begin) else np.zeros(0, np.int64)
