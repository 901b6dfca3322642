"""Which slice lies in which: depth, parent and self time of the slices of each track."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

Array = np.ndarray

_EXACT_IN_DOUBLE = 2**53
_KEY_SPACE = 2**62


@dataclass(frozen=True, slots=True)
class Nesting:
    """Per slice, in the caller's row order, shapes `(n,)`.

    - `depth` int32: the line of its track the slice is drawn on; no two slices that share a moment share a line.
    - `parent` int64: row of the innermost slice of the same track that contains it whole, -1 for none.
    - `self_ns` int64: its duration less the time covered by its children; -1 where it did not finish.
    """

    depth: Array
    parent: Array
    self_ns: Array


def nest(track: Array, ts_ns: Array, dur_ns: Array) -> Nesting:
    """The nesting of slices given as columns `(n,)`; a track's rows are in order of (start, longer first).

    Half-open intervals: a slice that starts where another ends is beside it, not in it. A slice that did
    not finish (`dur_ns` -1) lasts to the end of its track. Slices that overlap in part go to the next free
    line below; their parent is the innermost slice that contains them. Empty input gives empty columns.
    """
    rows = len(ts_ns)
    if rows == 0:
        return Nesting(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64))
    order = None if _is_sorted(track) else np.argsort(track, kind="stable")
    if order is not None:
        track, ts_ns, dur_ns = track[order], ts_ns[order], dur_ns[order]
    end_ns, start, end = on_one_axis(track, ts_ns, dur_ns)
    depth, parent = _by_counting(start, end)
    crossed = _crossed_clusters(depth, parent, end)
    self_ns = _self_time(parent, np.asarray(dur_ns))
    for first, last in crossed:
        _by_stack(first, last, ts_ns, end_ns, depth, parent, self_ns)
    self_ns[dur_ns < 0] = -1
    if order is not None:
        back = np.empty(rows, np.int64)
        back[order] = np.arange(rows)
        parent = np.where(parent >= 0, order[parent], -1)[back]
        depth, self_ns = depth[back], self_ns[back]
    return Nesting(depth, parent, self_ns)


def has_circle(parent: Array) -> bool:
    """Whether going from row to parent never ends somewhere."""
    up = parent
    for _ in range(len(parent).bit_length()):  # each round doubles how far up it is from the row itself
        up = np.where(up >= 0, up[up], -1)
    return bool((up >= 0).any())


def _is_sorted(values: Array) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))


def on_one_axis(track: Array, ts_ns: Array, dur_ns: Array) -> tuple[Array, Array, Array]:
    """End times, and starts and ends with the tracks laid one behind the other: no two share a moment."""
    new_track = np.r_[True, track[1:] != track[:-1]]
    first = np.flatnonzero(new_track)
    number = np.cumsum(new_track) - 1
    end_ns = ts_ns + np.maximum(dur_ns, 0)
    track_start = ts_ns[first]
    track_end = np.maximum.reduceat(end_ns, first) + 1
    end_ns = np.where(dur_ns < 0, track_end[number], end_ns)
    spans = track_end - track_start + 1
    if float(spans.astype(np.float64).sum()) < _KEY_SPACE and not bool((spans < 0).any()):
        shift = (np.r_[0, np.cumsum(spans)[:-1]] - track_start)[number]
        return end_ns, ts_ns + shift, end_ns + shift
    # too long in sum for one int64 axis: the order of the moments does as well
    moments = np.unique(np.concatenate([ts_ns, end_ns]))
    shift = number * (len(moments) + 1)
    return end_ns, np.searchsorted(moments, ts_ns) + shift, np.searchsorted(moments, end_ns) + shift


def _by_counting(start: Array, end: Array) -> tuple[Array, Array]:
    """Depth = the slices before this one that are still open; right wherever no two overlap in part."""
    long = np.flatnonzero(end > start)
    whole = len(long) == len(start)
    s, e = (start, end) if whole else (start[long], end[long])
    ends = np.sort(e)
    depth_long = np.arange(len(s), dtype=np.int64) - np.searchsorted(ends, s, "right")
    if whole:
        depth, before = depth_long, None
    else:
        before = np.cumsum(end > start)  # long slices up to and with this row; a zero-length one does not count itself
        depth = before - np.searchsorted(ends, start, "right")
        depth[long] = depth_long
    parent = np.full(len(start), -1, np.int64)
    level = np.flatnonzero(depth == 0) if before is None else long[depth_long == 0]
    wanted = 1
    while len(level):
        here = np.flatnonzero(depth == wanted)
        if len(here) == 0:
            break
        parent[here] = level[np.searchsorted(level, here) - 1]
        level = here if before is None else here[end[here] > start[here]]
        wanted += 1
    return depth.astype(np.int32), parent


def _crossed_clusters(depth: Array, parent: Array, end: Array) -> list[tuple[int, int]]:
    """Row ranges, from one slice that nothing encloses to the next, in which some slices overlap in part."""
    crossing = np.flatnonzero((parent >= 0) & (end > end[np.maximum(parent, 0)]))
    if len(crossing) == 0:
        return []
    roots = np.flatnonzero(depth == 0)
    ranges = np.unique(np.searchsorted(roots, crossing, "right") - 1)
    bounds = np.r_[roots, len(depth)]
    return [(int(bounds[i]), int(bounds[i + 1])) for i in ranges]


def _self_time(parent: Array, dur_ns: Array) -> Array:
    """Duration less the sum of the children's; right wherever children do not overlap each other."""
    self_ns = dur_ns.astype(np.int64, copy=True)
    inner = np.flatnonzero((parent >= 0) & (dur_ns > 0))
    if len(inner) == 0:
        return self_ns
    if float(dur_ns[inner].astype(np.float64).sum()) < _EXACT_IN_DOUBLE:
        covered = np.bincount(parent[inner], weights=dur_ns[inner], minlength=len(dur_ns))
        return self_ns - covered.astype(np.int64)
    np.subtract.at(self_ns, parent[inner], dur_ns[inner])
    return self_ns


def _by_stack(first: int, last: int, ts_ns: Array, end_ns: Array, depth: Array, parent: Array, self_ns: Array) -> None:
    """Nest rows [first, last) of one track one by one, writing into the three columns."""
    starts, ends = ts_ns[first:last].tolist(), end_ns[first:last].tolist()
    lines, parents = [0] * len(starts), [-1] * len(starts)
    own = [e - s for s, e in zip(starts, ends, strict=True)]
    covered = starts.copy()  # up to where the children of each row cover it so far
    around_next: list[int] = []  # open rows that a later one may lie in: each starts after, and ends before, the last
    to_close: list[tuple[int, int]] = []  # (end, row) of the open rows, a heap
    taken = 0  # a bit for each line that an open row is on
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        while to_close and to_close[0][0] <= start:
            taken ^= 1 << lines[heappop(to_close)[1]]
        while around_next and (ends[around_next[-1]] <= start or ends[around_next[-1]] < end):
            around_next.pop()
        around = around_next[-1] if around_next else -1
        line = lines[around] + 1 if around >= 0 else 0
        free = ~(taken >> line)
        line += (free & -free).bit_length() - 1
        lines[row], parents[row] = line, first + around if around >= 0 else -1
        if end > start:
            taken |= 1 << line
            heappush(to_close, (end, row))
            around_next.append(row)
            if around >= 0:
                own[around] -= max(0, end - max(start, covered[around]))
                covered[around] = max(end, covered[around])
    depth[first:last], parent[first:last], self_ns[first:last] = lines, parents, own
