"""The slices that a query means: how many, where, and the next one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from explorer_app.lod import Blocks, Window, chosen_in_blocks
from explorer_app.web.numbers import once
from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.query import Pattern, Query, parse
from explorer_app.web.timeline.regex import matching
from trace_format import Trace
from trace_format.spill import release

Array = np.ndarray

# As wide as the overview of the trace is drawn on most screens, and not much finer than it can be seen.
STRIP_PIXELS: Final = 1200
MOST_INSTANT_NAMES: Final = 20_000
# What a query found takes four bytes for each slice at most.
_MOST_KEPT = 2
_ROWS_AT_A_TIME = 1 << 20


@dataclass(frozen=True, eq=False)
class Found:
    """What a query found.

    - `position` (m,) uint32: the slices, as ascending positions of the lanes (see `explorer_app.lod.Lanes`).
    - `instant_names`: ids of the names of instants that fit; None where the query asks for more than a name.
    """

    position: Array
    instant_names: Array | None

    def __len__(self) -> int:
        return len(self.position)


class Finder:
    """What the last queries found in a trace. Get it with `numbers.once(Finder, trace)`."""

    def __init__(self, trace: Trace) -> None:
        self.data = once(TimelineData, trace)
        self._kept: OrderedDict[str, Found] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, text: str) -> Found:
        """The slices that a query means. Raises QueryError."""
        with self._lock:
            if text in self._kept:
                self._kept.move_to_end(text)
                return self._kept[text]
        found = _find(self.data, parse(text))  # others need not wait: a regular expression may take seconds
        with self._lock:
            self._kept[text] = found
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return found


def summary(data: TimelineData, found: Found) -> dict[str, Any]:
    """What is said about what was found, ready for JSON.

    `{slice_count, name_count, instants, strip, strip_pixels}`: how many slices and how many different names they have;
    `Found.instant_names`, at most `MOST_INSTANT_NAMES`; and where they lie, as ranges [from, to) of `STRIP_PIXELS`
    pixels over the whole trace.
    """
    seen = np.zeros(len(data.trace.pool.strings), bool)
    for position in _pieces(found.position):
        seen[data.trace.slices.name[data.lanes.row[position]]] = True
    instants = found.instant_names
    return {
        "slice_count": len(found),
        "name_count": int(np.count_nonzero(seen)),
        "instants": None if instants is None else instants[:MOST_INSTANT_NAMES].tolist(),
        "strip": _strip(data, found),
        "strip_pixels": STRIP_PIXELS,
    }


def next_slice(data: TimelineData, found: Found, after: int, direction: int) -> dict[str, int | None]:
    """The slice nearest in time, of those that were found: after the slice `after` (-1: from the start of the trace),
    or before it where `direction` is -1. Goes on at the other end of the trace.

    `{slice, number}`: its row, and which it is of them in order of time, from 1; both None where nothing was found.
    """
    if not len(found):
        return {"slice": None, "number": None}
    rows, ts_ns = data.lanes.row[found.position], data.lanes.start_ns[found.position]
    chosen = np.ones(len(rows), bool)
    if after >= 0:
        from_ns = data.trace.slices.ts_ns[after]
        earlier = _before(ts_ns, rows, from_ns, after)
        beyond = ~earlier & (rows != after) if direction > 0 else earlier
        chosen = beyond if beyond.any() else chosen
    rows_left, ts_left = rows[chosen], ts_ns[chosen]
    moment = ts_left.min() if direction > 0 else ts_left.max()
    there = rows_left[ts_left == moment]
    row = there.min() if direction > 0 else there.max()
    return {"slice": int(row), "number": int(np.count_nonzero(_before(ts_ns, rows, moment, row))) + 1}


def found_in_blocks(data: TimelineData, found: Found, blocks: Blocks, window: Window, lanes: Sequence[int]) -> Array:
    """How many of the slices that were found each block holds, `(n,) uint32`."""
    return chosen_in_blocks(data.lanes, blocks, window, lanes, found.position)


def _before(ts_ns: Array, rows: Array, moment: int, row: int) -> Array:
    return (ts_ns < moment) | ((ts_ns == moment) & (rows < row))


def _find(data: TimelineData, query: Query) -> Found:
    trace, lanes = data.trace, data.lanes
    name_fits = _names(data, query.names)
    in_category = None
    if query.categories is not None:
        in_category = np.isin(np.arange(256), list(query.categories))
    track_fits = _tracks(data, query.tracks)
    slices = trace.slices
    parts = [np.zeros(0, np.uint32)]
    for begin, stop in _ranges(data, track_fits):
        for first in range(begin, stop, _ROWS_AT_A_TIME):
            row = lanes.row[first : min(first + _ROWS_AT_A_TIME, stop)]
            fits = np.ones(len(row), bool) if name_fits is None else name_fits[slices.name[row]]
            if in_category is not None:
                fits &= in_category[slices.category[row]]
            if query.asks_duration:
                dur_ns = slices.dur_ns[row]
                fits &= (dur_ns >= query.least_ns) & (dur_ns <= query.most_ns)
            parts.append((np.flatnonzero(fits) + first).astype(np.uint32))
            lanes.release()
            release((slices.name, slices.category, slices.dur_ns))
    only_names = track_fits is None and in_category is None and not query.asks_duration
    instants = None
    if only_names and name_fits is not None:
        instants = np.unique(trace.instants.name)
        instants = instants[name_fits[instants]]
    return Found(np.concatenate(parts), instants)


def _ranges(data: TimelineData, track_fits: Array | None) -> list[tuple[int, int]]:
    """The positions [first, stop) of the lanes of the tracks that fit, neighbours together."""
    lanes = data.lanes
    if track_fits is None:
        return [(0, len(lanes))]
    out: list[tuple[int, int]] = []
    for track in np.flatnonzero(track_fits & (lanes.depths > 0)).tolist():
        first_lane = int(lanes.first_lane[track])
        first, stop = int(lanes.offset[first_lane]), int(lanes.offset[first_lane + int(lanes.depths[track])])
        if out and out[-1][1] == first:
            out[-1] = (out[-1][0], stop)
        else:
            out.append((first, stop))
    return out


def _names(data: TimelineData, patterns: tuple[Pattern, ...]) -> Array | None:
    """Which strings of the trace fit all patterns, of those that name a slice or an instant; None where all do."""
    if not patterns:
        return None
    strings = data.trace.pool.strings
    is_name = data.slices_by_name > 0
    is_name[data.trace.instants.name] = True
    used = np.flatnonzero(is_name)
    for pattern in patterns:
        used = used[_fits(pattern, [strings[name] for name in used.tolist()])]
    out = np.zeros(len(strings), bool)
    out[used] = True
    return out


def _tracks(data: TimelineData, patterns: tuple[Pattern, ...]) -> Array | None:
    """Which tracks have a name, or a name of what they belong to, that fits; all patterns must. None where all do."""
    if not patterns:
        return None
    strings, tracks = data.trace.pool.strings, data.trace.tracks
    distinct, number = np.unique(tracks.name, return_inverse=True)
    names = [strings[name] for name in distinct.tolist()]
    out = np.ones(len(tracks), bool)
    for pattern in patterns:
        own = _fits(pattern, names)[number]
        out &= np.array([own[list(data.path(track))].any() for track in range(len(tracks))], bool)
    return out


def _fits(pattern: Pattern, texts: Sequence[str]) -> Array:
    """Which of the texts are like a pattern, `(n,) bool`."""
    if pattern.how == "matches":
        return matching(pattern.text, texts)
    if pattern.how == "is":
        return np.array([text == pattern.text for text in texts], bool)
    wanted = pattern.text.casefold()
    return np.array([wanted in text.casefold() for text in texts], bool)


def _strip(data: TimelineData, found: Found) -> list[tuple[int, int]]:
    lanes = data.lanes
    span_ns = float(max(lanes.end_ns - lanes.start_of_trace_ns, 1))
    change = np.zeros(STRIP_PIXELS + 1, np.int64)
    for position in _pieces(found.position):
        # never negative, and up to 64 bits: what wraps around in signed numbers is right in unsigned ones
        since = lanes.start_ns[position] - np.int64(lanes.start_of_trace_ns)
        start = since.view(np.uint64).astype(np.float64)
        end = start + lanes.duration_ns(position.astype(np.int64))
        first = np.clip(start / span_ns * STRIP_PIXELS, 0, STRIP_PIXELS - 1).astype(np.int64)
        last = np.clip(np.ceil(end / span_ns * STRIP_PIXELS), first + 1, STRIP_PIXELS).astype(np.int64)
        change += np.bincount(first, minlength=STRIP_PIXELS + 1)
        change -= np.bincount(last, minlength=STRIP_PIXELS + 1)
    marked = np.r_[False, np.cumsum(change)[:-1] > 0, False]
    edges = np.flatnonzero(marked[1:] != marked[:-1])
    return list(zip(edges[0::2].tolist(), edges[1::2].tolist(), strict=True))


def _pieces(position: Array) -> Iterable[Array]:
    for first in range(0, len(position), _ROWS_AT_A_TIME):
        yield position[first : first + _ROWS_AT_A_TIME]
