"""The slices of a trace as lanes: rows of the timeline on which no two slices overlap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from trace_format import Trace
from trace_format.large_columns import LargeColumns
from trace_format.nesting import nest
from trace_format.spill import Spill, lies_in_a_file, release
from trace_format.tables import Slices

Array = np.ndarray
_ROWS_AT_A_TIME = 1 << 20
_COLUMNS = ("track", "depth", "ts_ns", "dur_ns")


class Lanes:
    """A lane is one depth of one track; lanes are numbered track by track, depth by depth.

    The slices are laid out lane by lane in order of start; a *position* is a place in that order.

    - `offset` (lanes + 1,) int64: the positions of lane L are [offset[L], offset[L + 1]).
    - `start_ns` (n,) int64: start of the slice at each position.
    - `busy_before_ns` (n + 1,) int64: sum of the durations at all positions before this one.
    - `row` (n,) uint32: row of the slice in the trace's table.
    - `first_lane`, `depths` (tracks,) int64: the first lane of each track and how many it has.

    A slice that did not finish lasts to `end_ns`, the end of the trace. 20 bytes for each slice, in a temporary file
    where the trace's own columns are.
    """

    COLUMNS: ClassVar = {
        "offset": "<i8",
        "start_ns": "<i8",
        "busy_before_ns": "<i8",
        "row": "<u4",
        "first_lane": "<i8",
        "depths": "<i8",
    }

    def __init__(self, trace: Trace, rows: Array | None = None) -> None:
        """The lanes of a trace; where `rows` (n,) of its slices are given, ascending and all of each of their tracks,
        of those alone."""
        slices = trace.slices
        self.start_of_trace_ns, self.end_ns = trace.time_range_ns or (0, 0)
        self.depths = np.zeros(len(trace.tracks), np.int64)
        columns = tuple(getattr(slices, name) for name in _COLUMNS) if rows is None else _nested(slices, rows)
        for track, depth in _pieces(columns[:2]):
            np.maximum.at(self.depths, track, depth + np.int64(1))
        self.first_lane = np.r_[0, np.cumsum(self.depths)[:-1]].astype(np.int64) if len(self.depths) else self.depths
        self.count = int(self.depths.sum())
        self.offset = np.zeros(self.count + 1, np.int64)
        if any(map(lies_in_a_file, columns)):
            self._lay_out_in_pieces(columns)
        else:
            self._lay_out(columns, rows)

    @classmethod
    def of_columns(cls, columns: Mapping[str, Array], range_ns: tuple[int, int]) -> Lanes:
        """Lanes that were laid out before: their attributes that are arrays, and the range of the trace."""
        lanes = cls.__new__(cls)
        lanes.start_of_trace_ns, lanes.end_ns = range_ns
        for name in cls.COLUMNS:
            setattr(lanes, name, columns[name])
        lanes.count = len(lanes.offset) - 1
        return lanes

    def _lay_out(self, columns: tuple[Array, ...], rows: Array | None) -> None:
        """Put the slices into their positions. `rows`: which of the table they are, None for all."""
        track, depth, ts_ns, dur_ns = columns
        lane = self.first_lane[track] + depth
        order = _stable_order(lane, self.count)
        self.row = order if rows is None else rows[order].astype(np.uint32)
        np.cumsum(np.bincount(lane, minlength=self.count), out=self.offset[1:])
        self.start_ns = ts_ns[order]
        self.busy_before_ns = np.zeros(len(order) + 1, np.int64)
        np.cumsum(self._lasting(self.start_ns, dur_ns[order]), out=self.busy_before_ns[1:])

    def _lay_out_in_pieces(self, columns: tuple[Array, ...]) -> None:
        """The same in a file."""
        sizes, busy_ns = np.zeros(self.count, np.int64), np.zeros(self.count, np.int64)
        for track, depth, ts_ns, dur_ns in _pieces(columns):
            lane = self.first_lane[track] + depth
            sizes += np.bincount(lane, minlength=self.count)
            np.add.at(busy_ns, lane, self._lasting(ts_ns, dur_ns))
        np.cumsum(sizes, out=self.offset[1:])
        rows, file = len(columns[0]), Spill()
        out = LargeColumns(rows, {"start_ns": np.dtype(np.int64), "row": np.dtype(np.uint32)}, file)
        sums = LargeColumns(rows + 1, {"busy_before_ns": np.dtype(np.int64)}, file)
        following, busy_before_ns, row = self.offset[:-1].copy(), np.r_[0, np.cumsum(busy_ns)], 0
        for track, depth, ts_ns, dur_ns in _pieces(columns):
            lane = self.first_lane[track] + depth
            order = _stable_order(lane, self.count)
            lane = lane[order]
            start_ns = ts_ns[order]
            through = np.cumsum(self._lasting(start_ns, dur_ns[order]))
            first = np.flatnonzero(np.r_[True, lane[1:] != lane[:-1]])  # the first of each lane in this piece
            used, count = lane[first], np.diff(first, append=len(lane))
            before = np.r_[0, through[first[1:] - 1]]
            through += np.repeat(busy_before_ns[used] - before, count)
            at = following[used]
            # what goes side by side is written together: all but the lanes that earlier pieces have begun
            joins = np.flatnonzero(np.r_[True, at[1:] != at[:-1] + count[:-1]])
            bounds = np.r_[first[joins], len(lane)].tolist()
            for place, begin, end in zip(at[joins].tolist(), bounds[:-1], bounds[1:], strict=True):
                out.put(place, {"start_ns": start_ns[begin:end], "row": order[begin:end] + np.uint32(row)})
                sums.put(place + 1, {"busy_before_ns": through[begin:end]})
            following[used] += count
            busy_before_ns[used] = through[first + count - 1]
            row += len(lane)
        sums.put(0, {"busy_before_ns": np.zeros(1, np.int64)})
        found = out.finish() | sums.finish()
        self.start_ns, self.row, self.busy_before_ns = found["start_ns"], found["row"], found["busy_before_ns"]

    def _lasting(self, ts_ns: Array, dur_ns: Array) -> Array:
        """How long slices last, those that did not finish to the end of the trace."""
        unfinished = dur_ns < 0
        return np.where(unfinished, self.end_ns - ts_ns, dur_ns) if unfinished.any() else dur_ns

    def __len__(self) -> int:
        """How many slices there are."""
        return len(self.row)

    def release(self) -> None:
        """Give back what memory the columns take where they lie in a file."""
        release((self.start_ns, self.row, self.busy_before_ns))

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

    def pieces(self, first: int, stop: int, shift: int) -> Iterator[tuple[int, int]]:
        """The positions [first, stop) of one lane in ranges of about a million; no run on the grid is in two of them.

        `first` begins a run.
        """
        while first < stop:
            end = stop if stop - first <= _ROWS_AT_A_TIME else self._next_cell(first, stop, shift)
            yield first, end
            first = end

    def all_pieces(self, shift: int) -> Iterator[tuple[int, int]]:
        """All positions in ranges of about a million, of one or several lanes; no run on the grid is in two of them."""
        first = 0
        while first < len(self):
            lane = int(np.searchsorted(self.offset, first + _ROWS_AT_A_TIME, "right")) - 1
            end = int(self.offset[lane])
            if end <= first:  # the whole piece is of one lane
                end = self._next_cell(first, int(self.offset[lane + 1]), shift)
            yield first, end
            first = end

    def _next_cell(self, first: int, stop: int, shift: int) -> int:
        """About a million behind `first`, but before `stop`, the position where a cell of the grid begins."""
        starts = self.start_ns[first:stop]
        cell = int(starts[_ROWS_AT_A_TIME]) >> shift
        ahead = int(np.searchsorted(starts, cell << shift, "left"))
        return first + (ahead or int(np.searchsorted(starts, (cell + 1) << shift, "left")))

    def lane_of(self, track: int, depth: int) -> int:
        """The lane of a depth of a track."""
        return int(self.first_lane[track]) + depth


def _pieces(columns: Sequence[Array]) -> Iterator[tuple[Array, ...]]:
    """These columns, all rows at once; a million at a time where any of them lies in a file."""
    rows = len(columns[0])
    rows_at_a_time = _ROWS_AT_A_TIME if any(map(lies_in_a_file, columns)) else rows
    for first in range(0, rows, max(rows_at_a_time, 1)):
        yield tuple(column[first : first + rows_at_a_time] for column in columns)
        release(columns)


def _nested(slices: Slices, rows: Array) -> tuple[Array, ...]:
    """The columns of some rows, their depth worked out from them alone."""
    track, ts_ns, dur_ns = slices.track[rows], slices.ts_ns[rows], slices.dur_ns[rows]
    return track, nest(track, ts_ns, dur_ns).depth, ts_ns, dur_ns


def _stable_order(lane: Array, lanes: int) -> Array:
    """The rows in order of lane, rows of one lane in their own order, as uint32."""
    if bool(np.all(lane[1:] >= lane[:-1])):
        return np.arange(len(lane), dtype=np.uint32)
    # numpy sorts 16-bit keys by radix, ten times faster than wider ones
    keys = lane.astype(np.uint16) if lanes <= 1 << 16 else lane
    return np.argsort(keys, kind="stable").astype(np.uint32)
