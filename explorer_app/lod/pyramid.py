"""Levels of detail prepared beforehand: the runs of all lanes on ever coarser grids."""

from __future__ import annotations

import math
import threading
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

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.levels: tuple[Level, ...] = ()
        self._begun = threading.Lock()

    def build(self) -> None:
        """Make all levels, finest first; each is in use as soon as it is made."""
        lanes = self.lanes
        if not len(lanes):
            return
        runs = Runs.single(np.arange(len(lanes), dtype=np.int64))
        starts_lane = np.zeros(len(lanes), bool)
        starts_lane[lanes.offset[:-1][np.diff(lanes.offset) > 0]] = True
        for shift in range(self._finest(), self._coarsest() + 1):
            at = heads(lanes, runs, starts_lane, shift)
            if len(at) <= _WORTH_KEEPING * len(runs):
                runs, starts_lane = merge(lanes, runs, at), starts_lane[at]
                first = np.append(runs.first, len(lanes)).astype(np.uint32)
                self.levels += (Level(shift, first, runs.longest.astype(np.uint32)),)

    def build_in_background(self) -> None:
        """Have `build` run in a thread of its own; only the first call does anything."""
        if self._begun.acquire(blocking=False):
            threading.Thread(target=self.build, name="timeline levels", daemon=True).start()

    def level_for(self, shift: int) -> Level | None:
        """The coarsest level that is at least as fine as 2**shift ns; None: the slices themselves."""
        return next((level for level in reversed(self.levels) if level.shift <= shift), None)

    def _finest(self) -> int:
        sample = np.arange(0, len(self.lanes), max(1, len(self.lanes) // _SAMPLE))
        return max(0, int(math.log2(max(1.0, float(np.median(self.lanes.duration_ns(sample)))))))

    def _coarsest(self) -> int:
        span = self.lanes.end_ns - self.lanes.start_of_trace_ns
        return max(0, math.ceil(math.log2(max(1, span) / _COARSEST_PIXELS)))
