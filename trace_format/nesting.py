"""Which slice lies in which: depth, parent and self time of the slices of each track."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from trace_format.free_lines import FreeLines
from trace_format.large_columns import LargeColumns
from trace_format.spill import Spill, lies_in_a_file, release

Array = np.ndarray

_EXACT_IN_DOUBLE = 2**53
_KEY_SPACE = 2**62
# Each level costs a look at all rows (measured: 0.5 ns a row); one by one, a row takes 1 us however deep it lies.
_MOST_LEVELS = 256
_ROWS_AT_A_TIME = 1 << 20
_DTYPES: dict[str, np.dtype[Any]] = {"depth": np.dtype("<i4"), "parent": np.dtype("<i8"), "self_ns": np.dtype("<i8")}


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


@dataclass(frozen=True, slots=True)
class _Open:
    """The slices of a track that are open where a piece of it begins, in row order; columns `(k,)`.

    What comes later depends on nothing else of what came before.
    """

    row: Array
    ts_ns: Array
    end_ns: Array
    depth: Array
    parent: Array
    self_ns: Array  # so far

    def __len__(self) -> int:
        return len(self.row)


_NONE_OPEN = _Open(*(np.zeros(0, np.int64) for _ in range(6)))


def nest(track: Array, ts_ns: Array, dur_ns: Array) -> Nesting:
    """The nesting of slices given as columns `(n,)`; a track's rows are in order of (start, longer first).

    Half-open intervals: a slice that starts where another ends is beside it, not in it. A slice that did
    not finish (`dur_ns` -1) lasts to the end of its track. Slices that overlap in part go to the next free
    line below; their parent is the innermost slice that contains them. Empty input gives empty columns.
    Where the columns given lie in a file and are in order of track, those of the result lie in one too.
    """
    rows = len(ts_ns)
    order = None if _is_sorted(track) else np.argsort(track, kind="stable")
    if order is not None:
        track, ts_ns, dur_ns = track[order], ts_ns[order], dur_ns[order]
    large = lies_in_a_file(ts_ns)
    out = LargeColumns(rows, _DTYPES, Spill() if large else None)
    _nest_in_pieces(track, ts_ns, dur_ns, out, _ROWS_AT_A_TIME if large else max(rows, 1))
    found = Nesting(**out.finish())
    if order is None:
        return found
    back = np.empty(rows, np.int64)
    back[order] = np.arange(rows)
    parent = np.where(found.parent >= 0, order[found.parent], -1)[back]
    return Nesting(found.depth[back], parent, found.self_ns[back])


def has_circle(parent: Array) -> bool:
    """Whether going from row to parent never ends somewhere."""
    up = parent
    for _ in range(len(parent).bit_length()):  # each round doubles how far up it is from the row itself
        up = np.where(up >= 0, up[up], -1)
    return bool((up >= 0).any())


def on_one_axis(track: Array, ts_ns: Array, dur_ns: Array) -> tuple[Array, Array, Array]:
    """End times, and starts and ends with the tracks laid one behind the other: no two share a moment.

    Rows are in order of track; there is one at least.
    """
    number = np.cumsum(_begins(track, 0, len(track))) - 1
    end_ns = np.where(dur_ns < 0, _track_ends(track, ts_ns, dur_ns, len(track))[number], ts_ns + dur_ns)
    return end_ns, *_one_behind_the_other(number, ts_ns, end_ns)


def _is_sorted(values: Array) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))


def _nest_in_pieces(track: Array, ts_ns: Array, dur_ns: Array, out: LargeColumns, rows_at_a_time: int) -> None:
    """Nest rows that are in order of track, so many at a time."""
    track_end = _track_ends(track, ts_ns, dur_ns, rows_at_a_time)
    opened, tracks = _NONE_OPEN, 0
    for first in range(0, len(track), rows_at_a_time):
        last = min(first + rows_at_a_time, len(track))
        begins = _begins(track, first, last)
        number = np.cumsum(begins) + (tracks - 1)
        tracks = int(number[-1]) + 1
        ts, dur = ts_ns[first:last], dur_ns[first:last]
        end = np.where(dur < 0, track_end[number], ts + dur)
        nested = _nest_piece(_NONE_OPEN if begins[0] else opened, first, number, ts, end, dur)
        came = len(nested) - len(ts)
        out.put(first, {name: getattr(nested, name)[came:] for name in _DTYPES})
        for i in np.flatnonzero(nested.self_ns[:came] != opened.self_ns[:came]).tolist():
            out.put(int(nested.row[i]), {"self_ns": nested.self_ns[i : i + 1]})
        if last < len(track):
            still = nested.end_ns > ts_ns[last]
            still &= np.r_[np.full(came, number[0]), number] == number[-1]
            opened = _Open(*(getattr(nested, name)[still] for name in _Open.__slots__))
            release([track, ts_ns, dur_ns])


def _begins(track: Array, first: int, last: int) -> Array:
    """Which of the rows [first, last) begin a track."""
    here = track[first:last]
    begins = np.empty(last - first, bool)
    begins[0] = first == 0 or here[0] != track[first - 1]
    np.not_equal(here[1:], here[:-1], out=begins[1:])
    return begins


def _track_ends(track: Array, ts_ns: Array, dur_ns: Array, rows_at_a_time: int) -> Array:
    """Where the slices of each track that did not finish end: behind everything else on it."""
    ends: list[Array] = []
    for first in range(0, len(track), rows_at_a_time):
        last = min(first + rows_at_a_time, len(track))
        begins = _begins(track, first, last)
        goes_on, begins[0] = not begins[0], True
        end = np.maximum.reduceat(ts_ns[first:last] + np.maximum(dur_ns[first:last], 0), np.flatnonzero(begins)) + 1
        if goes_on:
            ends[-1][-1] = max(ends[-1][-1], end[0])
            end = end[1:]
        if len(end):
            ends.append(end)
    return np.concatenate(ends) if ends else np.zeros(0, np.int64)


def _nest_piece(opened: _Open, first: int, number: Array, ts_ns: Array, end_ns: Array, dur_ns: Array) -> _Open:
    """The open slices and then the rows from `first` on, which lie on the tracks with these numbers, all nested."""
    came, row = len(opened), np.arange(first, first + len(ts_ns))
    unfinished = np.flatnonzero(dur_ns < 0) + came
    if came:
        number, row = np.r_[np.full(came, number[0]), number], np.r_[opened.row, row]
        ts_ns, end_ns = np.r_[opened.ts_ns, ts_ns], np.r_[opened.end_ns, end_ns]
        dur_ns = np.r_[np.zeros(came, np.int64), dur_ns]  # their parents know of them already
    start, end = _one_behind_the_other(number, ts_ns, end_ns)
    depth, parent = _by_counting(start, end)
    in_the_way = not np.array_equal(opened.depth, depth[:came])  # on other lines than if nothing had overlapped before
    crossed = _crossed_clusters(depth, parent, end, first_too=in_the_way)
    self_ns = _self_time(parent, dur_ns)
    depth[:came], self_ns[:came] = opened.depth, self_ns[:came] + opened.self_ns
    for begin, stop in crossed:
        if begin == 0:
            self_ns[:came] = opened.self_ns
        _by_stack(begin, stop, came if begin == 0 else 0, ts_ns, end_ns, depth, parent, self_ns)
    self_ns[unfinished] = -1
    self_ns[:came][opened.self_ns < 0] = -1
    parent = parent if first == 0 else np.where(parent >= 0, row[parent], -1)
    parent[:came] = opened.parent
    return _Open(row, ts_ns, end_ns, depth, parent, self_ns)


def _one_behind_the_other(number: Array, ts_ns: Array, end_ns: Array) -> tuple[Array, Array]:
    """Starts and ends with the tracks, whose numbers go up one by one, laid one behind the other."""
    number = number - number[0]
    first = np.flatnonzero(_begins(number, 0, len(number)))
    track_start = ts_ns[first]
    spans = np.maximum.reduceat(end_ns, first) + 1 - track_start
    if float(spans.astype(np.float64).sum()) < _KEY_SPACE and not bool((spans < 0).any()):
        shift = (np.r_[0, np.cumsum(spans)[:-1]] - track_start)[number]
        return ts_ns + shift, end_ns + shift
    # too long in sum for one int64 axis: the order of the moments does as well
    moments = np.unique(np.concatenate([ts_ns, end_ns]))
    shift = number * (len(moments) + 1)
    return np.searchsorted(moments, ts_ns) + shift, np.searchsorted(moments, end_ns) + shift


def _by_counting(start: Array, end: Array) -> tuple[Array, Array]:
    """Depth = the slices before this one that are still open; right wherever no two overlap in part.

    Parents are found down to `_MOST_LEVELS`.
    """
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
    while len(level) and wanted < _MOST_LEVELS:
        here = np.flatnonzero(depth == wanted)
        if len(here) == 0:
            break
        parent[here] = level[np.searchsorted(level, here) - 1]
        level = here if before is None else here[end[here] > start[here]]
        wanted += 1
    return depth.astype(np.int32), parent


def _crossed_clusters(depth: Array, parent: Array, end: Array, *, first_too: bool) -> list[tuple[int, int]]:
    """Row ranges, from one slice that nothing encloses to the next, which counting does not do.

    Some slices in them overlap in part, or are nested too deep; `first_too`: the first one is among them anyway.
    """
    crossing = np.flatnonzero(((parent >= 0) & (end > end[np.maximum(parent, 0)])) | (depth >= _MOST_LEVELS))
    if first_too:
        crossing = np.r_[0, crossing]
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


def _by_stack(
    first: int, last: int, came: int, ts_ns: Array, end_ns: Array, depth: Array, parent: Array, self_ns: Array
) -> None:
    """Nest rows [first, last) of one track one by one, writing into the three columns.

    The first `came` of them have their lines and their self times so far.
    """
    starts, ends = ts_ns[first:last].tolist(), end_ns[first:last].tolist()
    lines, parents = depth[first : first + came].tolist(), [-1] * len(starts)
    own = self_ns[first : first + came].tolist()
    own += [end - start for start, end in zip(starts[came:], ends[came:], strict=True)]
    covered = starts.copy()  # up to where the children of each row cover it so far
    around_next: list[int] = []  # open rows that a later one may lie in: each starts after, and ends before, the last
    to_close = np.argsort(end_ns[first:last], kind="stable")
    to_close = to_close[ts_ns[first:last][to_close] < end_ns[first:last][to_close]]
    closing = iter(to_close.tolist())
    next_closed = next(closing, -1)
    closes_at = ends[next_closed] if next_closed >= 0 else inf
    free = FreeLines()
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        while closes_at <= start:
            free.give(lines[next_closed])
            next_closed = next(closing, -1)
            closes_at = ends[next_closed] if next_closed >= 0 else inf
        while around_next and (ends[around_next[-1]] <= start or ends[around_next[-1]] < end):
            around_next.pop()
        around = around_next[-1] if around_next else -1
        if row >= came:
            lines.append(free.lowest(lines[around] + 1 if around >= 0 else 0))
            parents[row] = first + around if around >= 0 else -1
        if end > start:
            free.take(lines[row])
            around_next.append(row)
            if around >= 0:
                if row >= came:
                    own[around] -= max(0, end - max(start, covered[around]))
                covered[around] = max(end, covered[around])
    depth[first:last], parent[first:last], self_ns[first:last] = lines, parents, own
