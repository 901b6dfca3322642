"""Unions of half-open intervals, in whatever unit of time their borders have."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def merged(start: Array, end: Array) -> tuple[Array, Array]:
    """The union of half-open intervals as disjoint ones, `(m,) int64` starts and ends in order; empty ones are gone."""
    some = end > start
    order = np.argsort(start[some], kind="stable")
    start, end = start[some][order], end[some][order]
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
    begin, stop = merged(start, end)
    if len(begin) == 0:
        return np.zeros(len(edges) - 1, np.int64)
    before = np.r_[0, np.cumsum(stop - begin)[:-1]]
    last = np.maximum(np.searchsorted(begin, edges, "right") - 1, 0)
    up_to = before[last] + np.clip(edges - begin[last], 0, (stop - begin)[last])
    return np.diff(up_to)


def within(begin: Array, stop: Array, start: Array, end: Array) -> Array:
    """How much of each of the intervals [begin, stop), disjoint and in order, the union of [start, end) covers."""
    edges = np.stack([begin, stop], axis=1).reshape(-1)
    return covered(edges, start, end)[::2] if len(begin) else np.zeros(0, np.int64)
