"""Gives every slice a process and thread number on which it nests properly."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

import numpy as np

from trace_format.trace import Trace

Array = np.ndarray

_LARGEST_NUMBER = 2**31 - 1  # viewers keep process and thread numbers in 32 bits


@dataclass(slots=True)
class Lanes:
    """Lines of the exported file.

    - `pid`, `tid`: of each lane, unique as a pair. `track`: the track it belongs to. `number`: 0 for a track's first.
    - `first`: the first lane of each track, -1 for one that has none.
    - `slice_lane`: the lane of each slice, `(n,) int64`.
    - `process`: the number of each track's process.
    """

    process: list[int]
    first: Array
    slice_lane: Array
    pid: list[int] = field(default_factory=list)
    tid: list[int] = field(default_factory=list)
    track: list[int] = field(default_factory=list)
    number: list[int] = field(default_factory=list)


def lay_out(trace: Trace, *, levels: int = sys.maxsize) -> Lanes:
    """The lanes of a trace. Tracks keep their source's numbers where those are free; slices of one track that
    overlap in part, or lie in `levels` others or more, go to further lanes."""
    tracks, slices = trace.tracks, trace.slices
    used = np.zeros(len(tracks), bool)
    for table in (slices, trace.instants):
        used[np.unique(table.track)] = True
    asked = np.unique(trace.memory.track)
    used[asked[asked >= 0]] = True
    sub = _sub_lanes(trace, levels)
    roots = _roots(tracks.parent.tolist())
    process = _processes(roots, tracks.pid.tolist())
    lanes = Lanes(process, np.full(len(tracks), -1, np.int64), np.zeros(len(slices), np.int64))
    most = np.zeros(len(tracks), np.int64)
    np.maximum.at(most, slices.track, sub)
    taken = _Numbers(set(process))
    wanted = tracks.tid.tolist()
    # first lanes before further ones, so that a further lane never takes the number of another track's first
    for number in range(int(most.max(initial=0)) + 1):
        for track in np.flatnonzero(used & (most >= number)).tolist():
            if number == 0:
                lanes.first[track] = len(lanes.pid)
            pid = process[track]
            lanes.pid.append(pid)
            lanes.tid.append(taken.thread(pid, wanted[track] if number == 0 else -1))
            lanes.track.append(track)
            lanes.number.append(number)
    place = {(t, n): lane for lane, (t, n) in enumerate(zip(lanes.track, lanes.number, strict=True))}
    lanes.slice_lane = lanes.first[slices.track] if len(slices) else lanes.slice_lane
    for row in np.flatnonzero(sub).tolist():
        lanes.slice_lane[row] = place[int(slices.track[row]), int(sub[row])]
    return lanes


class _Numbers:
    """Thread numbers that are free."""

    def __init__(self, processes: set[int]) -> None:
        self._taken: set[tuple[int, int]] = set()
        self._next = max([999_999, *processes]) + 1

    def thread(self, pid: int, wanted: int) -> int:
        """`wanted` if it is a number a viewer can hold and is free in this process, else a new one."""
        tid = wanted
        if not 0 <= tid <= _LARGEST_NUMBER or (pid, tid) in self._taken:
            tid, self._next = self._next, self._next + 1
        self._taken.add((pid, tid))
        return tid


def _roots(parents: list[int]) -> list[int]:
    """The outermost track around each track; a track whose parents go in a circle is its own."""
    out = []
    for track in range(len(parents)):
        seen, at = {track}, track
        while 0 <= parents[at] < len(parents) and parents[at] not in seen:
            at = parents[at]
            seen.add(at)
        out.append(at)
    return out


def _processes(roots: list[int], pids: list[int]) -> list[int]:
    """The process number of each track: its outermost track's own where that is free, else a new one."""
    numbers: dict[int, int] = {}
    taken: set[int] = set()
    following = 1_000_000
    for root in dict.fromkeys(roots):
        pid = pids[root]
        if not 0 <= pid <= _LARGEST_NUMBER or pid in taken:
            while following in taken or following in pids:
                following += 1
            pid = following
        taken.add(pid)
        numbers[root] = pid
    return [numbers[root] for root in roots]


def _sub_lanes(trace: Trace, levels: int) -> Array:
    """Per slice 0, or a higher number where it does not fit among the slices of a lower lane, `(n,) int64`."""
    slices = trace.slices
    out = np.zeros(len(slices), np.int64)
    depth, parent = slices.depth, slices.parent
    crossing = depth != np.where(parent >= 0, depth[parent] + 1, 0) if len(slices) else np.zeros(0, bool)
    for track in np.unique(slices.track[crossing | (depth >= levels)]).tolist():
        rows = np.flatnonzero(slices.track == track)
        out[rows] = _first_fit(slices.ts_ns[rows].tolist(), slices.dur_ns[rows].tolist(), levels)
    return out


def _first_fit(starts: list[int], durations: list[int], levels: int) -> list[int]:
    """The first lane whose open slices, fewer than `levels`, contain each slice whole.

    Slices in order of (start, longer first).
    """
    lanes = _OpenLanes(levels)
    out = []
    for start, duration in zip(starts, durations, strict=True):
        lanes.close(start)
        end = inf if duration < 0 else start + duration
        number = lanes.first_with_room(end)
        if duration:
            lanes.open(number, end)
        out.append(number)
    return out


class _OpenLanes:
    """The open slices of each lane, and up to which end a further one fits among them, as a tree of maxima."""

    def __init__(self, levels: int) -> None:
        self._levels = levels
        self._ends: list[list[float]] = []
        self._to_close: list[tuple[float, int]] = []  # (end, lane), a heap
        self._leaves = 1
        self._room = [-inf, -inf]  # of node i the children are 2i and 2i + 1; from `_leaves` on the lanes

    def close(self, now: float) -> None:
        """End what ends until now."""
        while self._to_close and self._to_close[0][0] <= now:
            lane = heappop(self._to_close)[1]
            self._ends[lane].pop()
            self._update(lane)

    def first_with_room(self, end: float) -> int:
        """The first lane in which a slice up to this end fits, a new one if there is none."""
        if self._room[1] < end or not self._ends:
            return self._add()
        node = 1
        while node < self._leaves:
            node *= 2
            if self._room[node] < end:
                node += 1
        return node - self._leaves

    def open(self, lane: int, end: float) -> None:
        self._ends[lane].append(end)
        heappush(self._to_close, (end, lane))
        self._update(lane)

    def _add(self) -> int:
        lane = len(self._ends)
        self._ends.append([])
        if lane == self._leaves:
            self._leaves *= 2
            self._room = [-inf] * (2 * self._leaves)
            for earlier in range(lane):
                self._update(earlier)
        self._update(lane)
        return lane

    def _update(self, lane: int) -> None:
        ends, room = self._ends[lane], self._room
        node = self._leaves + lane
        room[node] = inf if not ends else ends[-1] if len(ends) < self._levels else -inf
        while node > 1:
            node //= 2
            room[node] = max(room[2 * node], room[2 * node + 1])
