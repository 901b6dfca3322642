"""Runs: neighbouring slices of one lane that are drawn as one block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer_app.lod.lanes import Lanes

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs in order of position, `(n,)` integers each: the positions [first, stop), and the longest slice in it.

    Where several are longest, it is the first of them.
    """

    first: Array
    stop: Array
    longest: Array

    @classmethod
    def single(cls, positions: Array) -> Runs:
        """Each slice as a run of its own."""
        return cls(positions, positions + 1, positions)

    def __len__(self) -> int:
        return len(self.first)


def heads(lanes: Lanes, runs: Runs, starts_lane: Array, shift: int) -> Array:
    """Which of these runs, `(m,)` indices, begin a run on a grid of 2**shift ns.

    Slices shorter than the pitch that start in the same cell and follow each other in a lane become one run;
    a slice as long as the pitch or longer stays alone. `starts_lane` (n,) bool says where a new lane begins.
    """
    cell = lanes.start_ns[runs.first] >> shift
    # no mark is needed behind a long slice: its successor starts a whole pitch later, in another cell
    begins = starts_lane | ((runs.stop - runs.first == 1) & (lanes.duration_ns(runs.first) >= 1 << shift))
    begins[1:] |= cell[1:] != cell[:-1]
    return np.flatnonzero(begins)


def merge(lanes: Lanes, runs: Runs, at: Array) -> Runs:
    """These runs joined so that only those `at` (m,) begin one; the first run is among them.

    Joining runs of a finer grid at their `heads` gives exactly what joining the slices themselves gives.
    """
    if len(at) == len(runs):
        return runs
    length = lanes.duration_ns(runs.longest)
    sizes = np.diff(at, append=len(runs))
    hits = np.flatnonzero(length == np.repeat(np.maximum.reduceat(length, at), sizes))
    group = np.searchsorted(at, hits, "right") - 1
    longest = np.empty(len(at), runs.longest.dtype)
    longest[group[::-1]] = runs.longest[hits[::-1]]  # of several that are longest the first is written last
    return Runs(runs.first[at], runs.stop[at + sizes - 1], longest)
