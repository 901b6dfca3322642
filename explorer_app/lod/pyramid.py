"""Levels of detail prepared beforehand: the runs of all lanes on ever coarser grids."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from explorer_app.lod.lanes import Lanes
from explorer_app.lod.runs import Runs, heads, merge

Array = np.ndarray

# A level is kept when it has at most this share of the runs of the one below it: all levels together
# then take less memory than one level of all slices, and a query merges at most twice what it returns.
_WORTH_KEEPING = 0.5
# Coarser than the whole trace on this many pixels is never asked for.
_COARSEST_PIXELS = 256
_SAMPLE = 100_000


@dataclass(frozen=True, slots=True)
class Level:
    """The runs of all lanes on a grid of 2**shift ns; 8 bytes for each. A run ends where the next begins."""

    shift: int
    first: Array  # (runs + 1,) uint32, closed by the number of slices
    longest: Array  # (runs,) uint32


class Pyramid:
    """The levels over some lanes. Queries work from the first moment and get faster as `build` goes on."""

    def __init__(self, lanes: Lanes, levels: tuple[Level, ...] | None = None) -> None:
        """`levels`: those that were made before."""
        self.lanes = lanes
        self.levels = levels or ()
        self._begun = threading.Lock()
        self._ended = threading.Event()
        if levels is not None:
            self._begun.acquire()
            self._ended.set()

    def build(self) -> None:
        """Make all levels, finest first; each is in use as soon as it is made."""
        lanes = self.lanes
        if not len(lanes):
            return
        level, below = None, len(lanes)
        for shift in range(self._finest(), self._coarsest() + 1):
            pieces = list(lanes.all_pieces(shift))
            at = [self._heads(level, piece, shift) for piece in pieces]
            if sum(map(len, at)) > _WORTH_KEEPING * below:
                continue
            first, longest = [], []
            for piece, begins in zip(pieces, at, strict=True):
                merged = merge(lanes, runs_in(level, [piece])[0], begins)
                first.append(merged.first.astype(np.uint32))
                longest.append(merged.longest.astype(np.uint32))
                lanes.release()
            first.append(np.array([len(lanes)], np.uint32))
            level = Level(shift, np.concatenate(first), np.concatenate(longest))
            self.levels += (level,)
            below = len(level.longest)

    def _heads(self, level: Level | None, piece: tuple[int, int], shift: int) -> Array:
        """Which runs of a level in these positions begin one on a coarser grid."""
        lanes = self.lanes
        runs, _ = runs_in(level, [piece])
        starts_lane = np.zeros(len(runs), bool)
        inside = lanes.offset[slice(*np.searchsorted(lanes.offset, piece))]
        starts_lane[0] = True
        starts_lane[np.searchsorted(runs.first, inside)] = True
        found = heads(lanes, runs, starts_lane, shift)
        lanes.release()
        return found

    def build_in_background(self, then: Callable[[Pyramid], None] = lambda _: None) -> None:
        """Have `build` run in a thread of its own, `then` what is to be done with all levels.

        Only the first call does anything, and none where they were made before.
        """

        def build() -> None:
            self.build()
            then(self)
            self._ended.set()

        if self._begun.acquire(blocking=False):
            threading.Thread(target=build, name="timeline levels", daemon=True).start()

    def wait(self) -> None:
        """Wait until what `build_in_background` does has ended."""
        self._ended.wait()

    def level_for(self, shift: int) -> Level | None:
        """The coarsest level that is at least as fine as 2**shift ns; None: the slices themselves."""
        return next((level for level in reversed(self.levels) if level.shift <= shift), None)

    def _finest(self) -> int:
        sample = np.arange(0, len(self.lanes), max(1, len(self.lanes) // _SAMPLE))
        return max(0, int(math.log2(max(1.0, float(np.median(self.lanes.duration_ns(sample)))))))

    def _coarsest(self) -> int:
        span = self.lanes.end_ns - self.lanes.start_of_trace_ns
        return max(0, math.ceil(math.log2(max(1, span) / _COARSEST_PIXELS)))


def runs_in(level: Level | None, ranges: Sequence[tuple[int, int]]) -> tuple[Runs, Array]:
    """The runs of a level (None: the slices) in these ranges of positions, and how many are in each.

    A range begins and ends with a run of the level.
    """
    if level is not None:
        places = np.array(ranges, np.uint32).reshape(-1, 2)
        ranges = list(map(tuple, np.searchsorted(level.first, places).tolist()))
    sizes = np.array([stop - first for first, stop in ranges], np.int64)
    places = np.concatenate([np.zeros(0, np.int64), *(np.arange(first, stop) for first, stop in ranges)])
    if level is None:
        return Runs.single(places), sizes
    return Runs(
        *(column.astype(np.int64) for column in (level.first[places], level.first[places + 1], level.longest[places]))
    ), sizes
