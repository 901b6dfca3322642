"""In which order the begins and ends of slices stand in a file, so that equal times nest right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trace_format.nesting import on_one_axis

Array = np.ndarray

_CHUNK_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class Run:
    """Begins and ends that follow each other: rows of the slices, and the place of each in the run."""

    begins: Array
    ends: Array
    begin_places: Array
    end_places: Array


def runs(lane: Array, ts_ns: Array, dur_ns: Array) -> Iterator[Run]:
    """The begins and ends of all slices, lane by lane in order of time; the slices of each lane nest.

    Rows of a lane are in order of (start, longer first). At one moment what ends comes before what begins, the inner
    before the outer, and a slice without length ends where it begins. A slice that did not finish has no end.
    """
    rows = len(ts_ns)
    if rows == 0:
        return
    order = np.argsort(lane, kind="stable")
    lane, ts_ns, dur_ns = lane[order], ts_ns[order], dur_ns[order]
    _, start, end = on_one_axis(lane, ts_ns, dur_ns)
    still_open = np.zeros(0, np.int64)
    for first in range(0, rows, _CHUNK_ROWS):
        last = min(first + _CHUNK_ROWS, rows)
        starts = start[first:last]
        pending = np.concatenate([still_open, first + np.flatnonzero(dur_ns[first:last] > 0)])
        now = end[pending] <= start[last] if last < rows else np.ones(len(pending), bool)
        still_open = pending[~now]
        ends = pending[now][::-1]  # later rows are inner ones
        ends = ends[np.argsort(end[ends], kind="stable")]
        empty = dur_ns[first:last] == 0
        empty_before = np.r_[0, np.cumsum(empty)]
        ended_before = np.searchsorted(end[ends], starts, "right")
        begin_places = np.arange(last - first) + empty_before[:-1] + ended_before
        begun_before = np.searchsorted(starts, end[ends], "left")
        end_places = np.arange(len(ends)) + begun_before + empty_before[begun_before]
        empty_rows = np.flatnonzero(empty)
        yield Run(
            order[first:last],
            order[np.concatenate([ends, first + empty_rows])],
            begin_places,
            np.concatenate([end_places, begin_places[empty_rows] + 1]),
        )
