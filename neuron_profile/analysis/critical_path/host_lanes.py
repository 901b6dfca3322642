"""What each thread of the host did at each moment of a window: pieces that follow one another without a gap."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from neuron_profile.analysis.critical_path.sorted_keys import distinct
from neuron_profile.analysis.critical_path.window import Window, tracks_of
from neuron_profile.analysis.sides import HOST, side_of_tracks
from trace_format import Trace
from trace_format.nesting import nest

Array = np.ndarray

_NEVER = np.iinfo(np.int64).max
_KEY_SPACE = 1 << 62


@dataclass(frozen=True, slots=True)
class HostLanes:
    """Pieces of threads, in order of (lane, start); a lane is one thread and begins with the window.

    Moments are keys on one axis: `lane * (window + 1) + nanoseconds since the window's start`.

    - `start`, `end`: keys of each piece, `(n,) int64`; each ends where the next of its lane starts.
    - `row`: the innermost slice of the piece, -1 where none was recorded.
    - `pid_of_lane`, `lane_of_track`: the process of each lane; the lane of each track, -1 for none.
    - `left_out`: how many threads there is no room for on the axis, as the window is years long; those with least.
    """

    window: Window
    start: Array
    end: Array
    row: Array
    pid_of_lane: Array
    lane_of_track: Array
    left_out: int

    @property
    def stride(self) -> int:
        return self.window.total_ns + 1

    @property
    def lane(self) -> Array:
        return self.start // self.stride

    def key(self, lane: Array, ts_ns: Array) -> Array:
        """The keys of moments inside the window."""
        return lane * self.stride + (ts_ns - self.window.start_ns)

    def piece_at(self, key: Array) -> Array:
        """The piece in which each key lies, -1 where its lane has none there."""
        at = np.searchsorted(self.start, key, "right") - 1
        if len(self.start) == 0:
            return at
        return np.where((at >= 0) & (self.end[at] > key) & (self.start[at] <= key), at, -1)

    def cut_at(self, keys: Array) -> HostLanes:
        """The same with pieces cut in two at the keys that lie inside one."""
        inside = self.piece_at(keys) >= 0
        start = distinct(np.concatenate([self.start, keys[inside]]))
        whole = np.searchsorted(self.start, start, "right") - 1
        end = np.minimum(self.end[whole], np.r_[start[1:], np.iinfo(np.int64).max]) if len(start) else start
        return replace(self, start=start, end=end, row=self.row[whole])


def host_lanes(trace: Trace, window: Window) -> HostLanes:
    """The lanes of the window's rank; tracks of one process and thread number are one lane.

    A slice that did not finish lasts to the end of the window. Slices without a duration are no pieces.
    """
    slices = trace.slices
    lane_of_track, pid_of_lane, left_out = _lanes(trace, window)
    ends = np.where(slices.dur_ns < 0, window.end_ns, slices.ts_ns + slices.dur_ns)
    row = np.flatnonzero((slices.ts_ns < window.end_ns) & (slices.dur_ns != 0) & (ends > window.start_ns))
    row = row[lane_of_track[slices.track[row]] >= 0]
    lane = lane_of_track[slices.track[row]]
    start = np.maximum(slices.ts_ns[row], window.start_ns) - window.start_ns
    end = np.minimum(ends[row], window.end_ns) - window.start_ns
    stride = window.total_ns + 1
    start, end = start + lane * stride, end + lane * stride
    # of those that begin together, as those do that began before the window, the outer ones are the longer ones
    order = np.argsort(start, kind="stable")
    if _shared(trace, row, lane):
        order = np.lexsort((-(slices.dur_ns[row] & _NEVER), slices.ts_ns[row], start))
    row, lane, start, end = row[order], lane[order], start[order], end[order]
    edges = distinct(np.concatenate([distinct(lane) * stride, start, end]))
    begin, stop = edges[:-1], edges[1:]
    in_one = begin // stride == stop // stride
    begin, stop = begin[in_one], stop[in_one]
    above = nest(lane, start, end - start).parent if _shared(trace, row, lane) else _parents(trace, row)
    owner = _innermost(start, end, above, begin)
    return HostLanes(
        window, begin, stop, np.where(owner >= 0, row[owner], -1) if len(row) else owner, pid_of_lane, lane_of_track,
        left_out,
    )  # fmt: skip


def _shared(trace: Trace, row: Array, lane: Array) -> bool:
    """Whether several tracks with slices make up one lane."""
    return len(distinct(trace.slices.track[row].astype(np.int64))) > len(distinct(lane))


def _parents(trace: Trace, row: Array) -> Array:
    """The position of the slice around each, -1 for none or one that is not there."""
    position = np.full(len(trace.slices) + 1, -1, np.int64)
    position[row] = np.arange(len(row))
    return position[trace.slices.parent[row]]


def _lanes(trace: Trace, window: Window) -> tuple[Array, Array, int]:
    """The lane of each track, the process of each lane, and how many threads have none."""
    tracks = trace.tracks
    lane_of_track = np.full(len(tracks), -1, np.int64)
    if len(tracks) == 0:
        return lane_of_track, np.zeros(0, np.int64), 0
    mine = np.flatnonzero((side_of_tracks(tracks) == HOST) & tracks_of(trace, window.rank))
    slices = np.bincount(trace.slices.track, minlength=len(tracks))
    number: dict[tuple[int, int, int], int] = {}
    # those with most slices first, and those without any not at all
    for track in mine[np.argsort(-slices[mine], kind="stable")].tolist():
        tid = int(tracks.tid[track])
        # a track without a thread number is a thread of its own
        thread = (int(tracks.rank[track]), int(tracks.pid[track]), tid if tid >= 0 else -2 - track)
        if slices[track]:
            lane_of_track[track] = number.setdefault(thread, len(number))
    room = _KEY_SPACE // (window.total_ns + 1)
    lane_of_track[lane_of_track >= room] = -1
    pid_of_lane = np.array([pid for _, pid, _ in number], np.int64)[:room]
    return lane_of_track, pid_of_lane, len(number) - len(pid_of_lane)


def _innermost(start: Array, end: Array, above: Array, at: Array) -> Array:
    """The position of the innermost slice around each key, -1 for none; `above` is the one around each slice."""
    found = np.searchsorted(start, at, "right") - 1
    over = np.flatnonzero((found >= 0) & (end[found] <= at)) if len(start) else np.zeros(0, np.int64)
    while len(over):
        found[over] = above[found[over]]
        over = over[(found[over] >= 0) & (end[found[over]] <= at[over])]
    return found
