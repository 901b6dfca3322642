"""The slices of a trace as lanes: rows of the timeline on which no two slices overlap."""

from __future__ import annotations

import numpy as np

from trace_format import Trace

Array = np.ndarray


class Lanes:
    """A lane is one depth of one track; lanes are numbered track by track, depth by depth.

    The slices are laid out lane by lane in order of start; a *position* is a place in that order.

    - `offset` (lanes + 1,) int64: the positions of lane L are [offset[L], offset[L + 1]).
    - `start_ns` (n,) int64: start of the slice at each position.
    - `busy_before_ns` (n + 1,) int64: sum of the durations at all positions before this one.
    - `row` (n,) uint32: row of the slice in the trace's table.
    - `first_lane`, `depths` (tracks,) int64: the first lane of each track and how many it has.

    A slice that did not finish lasts to `end_ns`, the end of the trace. 20 bytes for each slice.
    """

    def __init__(self, trace: Trace) -> None:
        slices = trace.slices
        whole = trace.time_range_ns or (0, 0)
        self.start_of_trace_ns, self.end_ns = whole
        self.depths = np.zeros(len(trace.tracks), np.int64)
        if len(slices):
            np.maximum.at(self.depths, slices.track, slices.depth + np.int64(1))
        self.first_lane = np.r_[0, np.cumsum(self.depths)[:-1]].astype(np.int64) if len(self.depths) else self.depths
        self.count = int(self.depths.sum())
        lane = self.first_lane[slices.track] + slices.depth
        self.row = _stable_order(lane, self.count)
        self.offset = np.zeros(self.count + 1, np.int64)
        np.cumsum(np.bincount(lane, minlength=self.count), out=self.offset[1:])
        self.start_ns = slices.ts_ns[self.row]
        duration = slices.dur_ns[self.row]
        unfinished = duration < 0
        if unfinished.any():
            duration[unfinished] = self.end_ns - self.start_ns[unfinished]
        self.busy_before_ns = np.zeros(len(duration) + 1, np.int64)
        np.cumsum(duration, out=self.busy_before_ns[1:])

    def __len__(self) -> int:
        """How many slices there are."""
        return len(self.row)

    def duration_ns(self, position: Array) -> Array:
        """The durations of the slices at these positions."""
        return self.busy_before_ns[position + 1] - self.busy_before_ns[position]

    def positions(self, lane: int, start_ns: int, end_ns: int, shift: int) -> tuple[int, int]:
        """The positions [first, stop) on a lane of whole runs on the grid of 2**shift ns that reach into a window.

        The window is first widened to whole cells of the grid, so that it cuts no run in two; of a run that
        starts before it and ends in it, all slices are taken.
        """
        start_ns = start_ns >> shift << shift
        end_ns = -(-end_ns >> shift) << shift
        low, high = int(self.offset[lane]), int(self.offset[lane + 1])
        starts = self.start_ns[low:high]
        first = low + int(np.searchsorted(starts, start_ns, "left"))
        stop = low + int(np.searchsorted(starts, end_ns, "left"))
        if first > low:
            before = int(self.start_ns[first - 1])
            duration = int(self.busy_before_ns[first] - self.busy_before_ns[first - 1])
            if before + duration > start_ns:
                alone = duration >= 1 << shift
                first = first - 1 if alone else low + int(np.searchsorted(starts, before >> shift << shift, "left"))
        return first, stop

    def lane_of(self, track: int, depth: int) -> int:
        """The lane of a depth of a track."""
        return int(self.first_lane[track]) + depth


def _stable_order(lane: Array, lanes: int) -> Array:
    """The rows in order of lane, rows of one lane in their own order, as uint32."""
    if bool(np.all(lane[1:] >= lane[:-1])):
        return np.arange(len(lane), dtype=np.uint32)
    # numpy sorts 16-bit keys by radix, ten times faster than wider ones
    keys = lane.astype(np.uint16) if lanes <= 1 << 16 else lane
    return np.argsort(keys, kind="stable").astype(np.uint32)
