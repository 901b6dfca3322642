"""What is drawn on the lanes in a window: blocks, each a slice or a run of slices too short to tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer_app.lod.lanes import Lanes
from explorer_app.lod.pyramid import Level, Pyramid
from explorer_app.lod.runs import Runs, heads, merge
from explorer_app.lod.window import Window

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks ordered by lane, then start; columns `(n,)`.

    - `lane` uint16: index into the lanes that were asked for.
    - `start_ns`, `end_ns` int64: from the start of its first slice to the end of its last.
    - `busy_ns` int64: sum of the durations of its slices.
    - `count` uint32: how many slices it stands for.
    - `row` uint32: the longest of them, as a row of the trace's table.
    """

    lane: Array
    start_ns: Array
    end_ns: Array
    busy_ns: Array
    count: Array
    row: Array

    def __len__(self) -> int:
        return len(self.lane)

    @property
    def busy_ratio(self) -> Array:
        """Busy share of each block; 1 for a block without extent."""
        extent = self.end_ns - self.start_ns
        return np.divide(self.busy_ns, extent, out=np.ones(len(self)), where=extent > 0)


def blocks_in_window(pyramid: Pyramid, window: Window, lanes: Sequence[int]) -> Blocks:
    """The blocks that share a moment with the window, on these lanes.

    They are those of the whole trace on the window's grid, whichever levels are built. A run that the window cuts is
    given whole: over a part of a trace, counts and busy times exceed the window's by what the blocks at its
    edges hold outside it; over the whole trace they are exact.
    """
    store = pyramid.lanes
    level = pyramid.level_for(window.shift)
    ranges = [_range(store, level, window, lane) for lane in lanes]
    sizes = np.array([stop - first for first, stop in ranges], np.int64)
    runs = _runs(level, ranges)
    starts_lane = np.zeros(len(runs), bool)
    starts_lane[(np.cumsum(sizes) - sizes)[sizes > 0]] = True
    at = heads(store, runs, starts_lane, window.shift)
    merged = merge(store, runs, at)
    used = np.flatnonzero(sizes).astype(np.uint16)
    last = merged.stop - 1
    return Blocks(
        lane=used[np.cumsum(starts_lane[at]) - 1],
        start_ns=store.start_ns[merged.first],
        end_ns=store.start_ns[last] + store.duration_ns(last),
        busy_ns=store.busy_before_ns[merged.stop] - store.busy_before_ns[merged.first],
        count=(merged.stop - merged.first).astype(np.uint32),
        row=store.row[merged.longest],
    )


def _range(store: Lanes, level: Level | None, window: Window, lane: int) -> tuple[int, int]:
    """The runs [first, stop) of a level (None: the slices) that make up the window's runs on a lane."""
    first, stop = store.positions(lane, window.start_ns, window.end_ns, window.shift)
    if level is None:
        return first, stop
    return int(np.searchsorted(level.first, np.uint32(first))), int(np.searchsorted(level.first, np.uint32(stop)))


def _runs(level: Level | None, ranges: list[tuple[int, int]]) -> Runs:
    if not ranges:
        return Runs.single(np.zeros(0, np.int64))
    if level is None:
        return Runs.single(np.concatenate([np.arange(first, stop) for first, stop in ranges]))

    def column(values: Array, ahead: int = 0) -> Array:
        return np.concatenate([values[first + ahead : stop + ahead] for first, stop in ranges]).astype(np.int64)

    return Runs(column(level.first), column(level.first, 1), column(level.longest))
