"""The graph of a window of a trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.critical_path import kinds
from neuron_profile.analysis.critical_path.device_work import (
    DeviceWork,
    before_on_its_device,
    before_on_its_track,
    device_work,
)
from neuron_profile.analysis.critical_path.graph import (
    EVENT,
    GUESS,
    LAUNCH,
    ORDER,
    STREAM,
    SYNC,
    THREAD,
    Graph,
    Pieces,
)
from neuron_profile.analysis.critical_path.host_lanes import HostLanes, host_lanes
from neuron_profile.analysis.critical_path.sorted_keys import distinct, is_in
from neuron_profile.analysis.critical_path.threads import Causes, causes
from neuron_profile.analysis.critical_path.timing import EdgeList
from neuron_profile.analysis.critical_path.waits import Waits, waits
from neuron_profile.analysis.critical_path.window import Window
from neuron_profile.analysis.intervals import merged
from trace_format import Trace

Array = np.ndarray


def built(trace: Trace, window: Window) -> Graph:
    """The graph of the window; its lags are such that all moments come out as they were recorded.

    Edges: the order of a thread; from the start of a launching call to the work launched; the order of a stream; waits
    for events between streams; calls that wait for a device; threads that wait for threads; and where work of a device
    began later than all of that explains, whoever had ended last there. An edge that was not the last to be ready has
    the least lag: none, of a launch the shortest one in the window.
    """
    work, uncut = device_work(trace, window), host_lanes(trace, window)
    waited, woken = waits(trace, uncut, work), causes(trace, uncut)
    marks = _Marks.of(trace, uncut, work, waited)
    lanes = uncut.cut_at(np.concatenate([marks.launch, marks.done, woken.source, woken.woken]))
    pieces = _pieces(trace, lanes, work, marks, woken)
    last = np.r_[lanes.lane[1:] != lanes.lane[:-1], True][: len(lanes.row)]
    keys = distinct(np.concatenate([
        distinct(lanes.lane) * lanes.stride, lanes.end[last], marks.launch, marks.sync, woken.source, woken.woken,
    ]))  # fmt: skip
    keys = keys[_on_a_lane(lanes, keys)]
    nodes = _Nodes(keys, len(lanes.row))
    causes_of_work = _CausesOfWork.of(trace, work, waited, marks)
    edges = _edges(lanes, work, waited, marks, woken, causes_of_work, nodes)
    at_ns = np.concatenate([keys % lanes.stride + window.start_ns, work.start_ns]).astype(np.int64)
    # what happens at one moment: a thread that others wake comes after them, and the work launched after its launch
    turn = np.zeros(len(at_ns), np.int64)
    woken_nodes = nodes.moment(woken.woken)
    turn[woken_nodes[woken_nodes >= 0]] = 1
    turn[len(keys) :] = 2
    order = np.lexsort((turn, at_ns))
    timed, binding, contradicting = edges.timed(at_ns, order, pieces.work_ns, causes_of_work.launch_ns)
    host_ends = nodes.moment(lanes.end[last])
    notes = {
        "work": len(work), "work_without_launch": int((work.launch < 0).sum()),
        "event_waits_untold": waited.untold, "guessed_waits": int((causes_of_work.guess >= 0).sum()),
        "contradicting_edges": contradicting, "threads_left_out": uncut.left_out,
    }  # fmt: skip
    return Graph(
        window=window, pieces=pieces, at_ns=at_ns, order=order, source=timed.source, target=timed.target,
        label=timed.label, lag_ns=timed.lag_ns, first=timed.first, last=timed.last, binding=binding,
        ends=np.concatenate([host_ends, nodes.work(np.arange(len(work)))]),
        end_piece=np.concatenate([np.full(len(host_ends), -1), len(lanes.row) + np.arange(len(work))]).astype(np.int64),
        weights=np.concatenate([np.diff(np.r_[-1, np.flatnonzero(last)]), np.full(len(work), len(lanes.row) + 1)]),
        counts=np.concatenate([np.full(len(host_ends), not (window.cut and work.goes_on)), np.ones(len(work), bool)]),
        works=len(work), notes=notes,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Marks:
    """Moments of threads as keys of their lanes, -1 outside of the window.

    - `launched`, `launch`: works with a launch, and the start of it.
    - `sync`: from when each of `Waits.call` goes on: `done` where it waited for its work, else its end.
    - `done`: when the work was done, of those that waited.
    """

    launched: Array
    launch: Array
    sync: Array
    done: Array

    @classmethod
    def of(cls, trace: Trace, lanes: HostLanes, work: DeviceWork, waited: Waits) -> _Marks:
        slices, window = trace.slices, lanes.window
        launched = np.flatnonzero(work.launch >= 0)
        launch = _keys(trace, lanes, work.launch[launched], work.launch_ns[launched])
        ends_ns = np.minimum(slices.ts_ns[waited.call] + slices.dur_ns[waited.call], window.end_ns)
        sync = _keys(trace, lanes, waited.call, ends_ns)
        done = _keys(trace, lanes, waited.call, work.end_ns[waited.work])
        piece = np.minimum(np.searchsorted(lanes.end, sync), len(lanes.row) - 1)
        in_vain = (sync < 0) | (done < 0) | (done > sync)
        if len(lanes.row):
            in_vain |= done <= lanes.start[piece]
        return cls(launched, launch, np.where(in_vain, sync, done), done[~in_vain])


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The numbers of nodes: moments of threads by their keys, then works by their positions. -1 stays -1."""

    keys: Array
    host_pieces: int

    def moment(self, key: Array) -> Array:
        if len(self.keys) == 0:
            return np.full(len(key), -1, np.int64)
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(self.keys[at] == key, at, -1)

    def work(self, position: Array) -> Array:
        return np.where(position >= 0, position + len(self.keys), -1)


@dataclass(frozen=True, slots=True)
class _CausesOfWork:
    """What each work of a device followed, as positions, -1 for none.

    - `before`: the last to end on its track.
    - `guess`: the last to end on its device, where that came later than all that is known to have been waited for.
    - `launch_ns`: the shortest time in the window from a launch to the work, of work whose stream had nothing to do.
    """

    before: Array
    guess: Array
    launch_ns: int

    @classmethod
    def of(cls, trace: Trace, work: DeviceWork, waited: Waits, marks: _Marks) -> _CausesOfWork:
        before = before_on_its_track(work)
        ready_ns = np.where(before >= 0, np.r_[work.end_ns, 0][before], np.iinfo(np.int64).min)
        launched = marks.launched[marks.launch >= 0]
        was_empty = launched[(before[launched] >= 0) & (ready_ns[launched] <= work.launch_ns[launched])]
        launch_ns = int((work.start_ns - work.launch_ns)[was_empty].min()) if len(was_empty) else 0
        ready_ns[launched] = np.maximum(ready_ns[launched], work.launch_ns[launched] + launch_ns)
        np.maximum.at(ready_ns, waited.after, work.end_ns[waited.before])
        guess = before_on_its_device(trace, work)
        # what began soon after it was ready, by what a launch takes, waited for nothing else
        waited_longer = work.start_ns - launch_ns > ready_ns
        later = np.r_[work.end_ns, 0][guess] > ready_ns
        return cls(before, np.where((guess >= 0) & waited_longer & later, guess, -1), launch_ns)


def _edges(
    lanes: HostLanes, work: DeviceWork, waited: Waits, marks: _Marks, woken: Causes, causes_of_work: _CausesOfWork,
    nodes: _Nodes,
) -> EdgeList:  # fmt: skip
    edges = EdgeList()
    piece_of = np.searchsorted(lanes.start, nodes.keys)
    follows = np.flatnonzero(nodes.keys[1:] // lanes.stride == nodes.keys[:-1] // lanes.stride)
    edges.add(follows, follows + 1, ORDER, piece_of[follows], piece_of[follows + 1])
    edges.add(nodes.moment(marks.launch), nodes.work(marks.launched), LAUNCH)
    everything = np.arange(len(work))
    for label, before, after in (
        (STREAM, causes_of_work.before, everything), (EVENT, waited.before, waited.after),
        (GUESS, causes_of_work.guess, everything),
    ):  # fmt: skip
        piece = nodes.host_pieces + before
        edges.add(nodes.work(before), nodes.work(after), label, piece, piece + 1)
    piece = nodes.host_pieces + waited.work
    edges.add(nodes.work(waited.work), nodes.moment(marks.sync), SYNC, piece, piece + 1)
    edges.add(nodes.moment(woken.source), nodes.moment(woken.woken), THREAD)
    return edges


def _keys(trace: Trace, lanes: HostLanes, rows: Array, ts_ns: Array) -> Array:
    """The keys of moments of the threads that these slices are on; -1 outside of the window."""
    if len(rows) == 0:
        return np.zeros(0, np.int64)
    lane, window = lanes.lane_of_track[trace.slices.track[rows]], lanes.window
    inside = (lane >= 0) & (ts_ns >= window.start_ns) & (ts_ns <= window.end_ns)
    return np.where(inside, lanes.key(lane, ts_ns), -1)


def _on_a_lane(lanes: HostLanes, keys: Array) -> Array:
    """Which keys are where pieces start or end."""
    return is_in(keys, lanes.start) | is_in(keys, lanes.end)


def _pieces(trace: Trace, lanes: HostLanes, work: DeviceWork, marks: _Marks, woken: Causes) -> Pieces:
    slices, lane = trace.slices, lanes.lane
    kind = np.where(lanes.row >= 0, kinds.HOST_WORK, kinds.GAP)
    kind[_in_a_data_loader(trace, lanes)] = kinds.DATA_LOADING
    kind[is_in(lanes.start, distinct(marks.done)) & (lanes.row >= 0)] = kinds.SYNC_WAIT
    length = lanes.end - lanes.start
    waiting = is_in(lanes.end, distinct(np.concatenate([marks.done, woken.woken])))
    offset = lanes.window.start_ns - lane * lanes.stride
    return Pieces(
        np.concatenate([lanes.start + offset, work.start_ns]).astype(np.int64),
        np.concatenate([lanes.end + offset, work.end_ns]).astype(np.int64),
        np.concatenate([lanes.row, work.row]).astype(np.int64),
        np.concatenate([kind, kinds.device_kinds(slices.category[work.row])]).astype(np.int64),
        np.concatenate([np.where(waiting, 0, length), work.end_ns - work.start_ns]).astype(np.int64),
    )


def _in_a_data_loader(trace: Trace, lanes: HostLanes) -> Array:
    """Which pieces lie in what a thread's data loader does, `(pieces,) bool`."""
    slices, window = trace.slices, lanes.window
    loaders = np.flatnonzero(kinds.named(trace, kinds.DATA_LOADER)[slices.name] & (slices.dur_ns > 0))
    ends_ns = slices.ts_ns[loaders] + slices.dur_ns[loaders]
    start = _keys(trace, lanes, loaders, np.maximum(slices.ts_ns[loaders], window.start_ns))
    end = _keys(trace, lanes, loaders, np.minimum(ends_ns, window.end_ns))
    there = (start >= 0) & (end >= 0)
    start, end = merged(start[there], end[there])
    if len(start) == 0:
        return np.zeros(len(lanes.row), bool)
    at = np.searchsorted(start, lanes.start, "right") - 1
    return (at >= 0) & (lanes.start < end[at])
