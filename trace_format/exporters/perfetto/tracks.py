"""Describes the lines of a trace to Perfetto: processes, threads, groups, further lanes, counters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trace_format.exporters.lanes import Lanes
from trace_format.exporters.perfetto import wire
from trace_format.exporters.perfetto.memory import Series
from trace_format.tables import TRACK_KINDS
from trace_format.trace import Trace

Array = np.ndarray

# Fields of TrackDescriptor and of the messages in it (perfetto/protos/perfetto/trace/track_event/).
_UUID, _NAME, _PROCESS, _THREAD, _PARENT, _COUNTER = 1, 2, 3, 4, 5, 8
_CHILD_ORDERING, _SIBLING_RANK, _SIBLING_MERGE = 11, 12, 15
_PID, _PROCESS_NAME = 1, 6
_THREAD_PID, _TID, _THREAD_NAME = 1, 2, 5
_UNIT_NAME = 6
_EXPLICIT_ORDER, _NEVER_MERGE = 3, 2
_HOST_THREAD = TRACK_KINDS.index("host_thread")


@dataclass(frozen=True, slots=True)
class Lines:
    """What Perfetto calls each line: small positive numbers.

    - `lane`: of each lane of slices, `(n,) int64`; a track's first lane has its track's, which is its row + 1.
    - `counter`: of the values of each track, `(n,) int64`.
    - `memory`: of each counter of memory.
    - `descriptors`: a TrackDescriptor of each, parents before children.
    """

    lane: Array
    counter: Array
    memory: range
    descriptors: list[bytes]


def numbered(trace: Trace, lanes: Lanes, memory: Sequence[Series]) -> Lines:
    """The lines of a trace, and the counters of memory."""
    tracks = len(trace.tracks)
    track = 1 + np.arange(tracks)
    lane = track[np.array(lanes.track, np.int64)]
    further = np.flatnonzero(lanes.number)
    lane[further] = 1 + tracks + np.arange(len(further))
    following = 1 + tracks + len(further)
    counter = track.copy()
    beside = _counters_beside(trace, lanes)
    counter[beside] = following + np.arange(len(beside))
    following += len(beside)
    counters = range(following, following + len(memory))
    descriptors = list(_of_tracks(trace, lanes, set(beside.tolist())))
    names, units = trace.tracks.text("name"), trace.tracks.text("unit")
    for i in further.tolist():
        of = lanes.track[i]
        name = f"{names[of]} (lane {lanes.number[i] + 1})"
        descriptors.append(_descriptor(int(lane[i]), of, name, lanes.number[i]))
    for of in beside.tolist():
        descriptors.append(_descriptor(int(counter[of]), of, names[of], 0, _counter(units[of])))
    for uuid, series in zip(counters, memory, strict=True):
        descriptors.append(_descriptor(uuid, -1, series.name, uuid, _counter("bytes")))
    return Lines(lane, counter, counters, descriptors)


def _counters_beside(trace: Trace, lanes: Lanes) -> Array:
    """The tracks whose values need a line of their own: a line of Perfetto's shows values or events or other lines."""
    with_values = np.unique(trace.counters.track).astype(np.int64)
    others = np.zeros(len(trace.tracks), bool)
    others[lanes.track] = True
    parents = trace.tracks.parent
    others[parents[parents >= 0]] = True
    return with_values[others[with_values]]


def _of_tracks(trace: Trace, lanes: Lanes, beside: set[int]) -> Iterator[bytes]:
    tracks = trace.tracks
    names, units, order = tracks.text("name"), tracks.text("unit"), tracks.sort_index.tolist()
    parents, kinds, devices = tracks.parent.tolist(), tracks.kind.tolist(), tracks.device.tolist()
    values_alone = set(np.unique(trace.counters.track).tolist()) - beside
    processes = set()
    described: set[int] = set()
    for track in _parents_first(parents):
        parent = parents[track] if parents[track] in described else -1
        name, pid, lane = names[track], lanes.process[track], int(lanes.first[track])
        what = b""
        if track in values_alone:
            what = _counter(units[track])
        # to Perfetto number 0 is the idle process and the idle thread
        elif parent < 0 and pid > 0 and devices[track] < 0:
            processes.add(pid)
            what = wire.sized(_PROCESS, wire.number(_PID, pid), wire.text(_PROCESS_NAME, name))
        elif lane >= 0 and kinds[track] == _HOST_THREAD and pid in processes and lanes.tid[lane] > 0:
            ids = wire.number(_THREAD_PID, pid), wire.number(_TID, lanes.tid[lane])
            what = wire.sized(_THREAD, *ids, wire.text(_THREAD_NAME, name))
        described.add(track)
        yield _descriptor(track + 1, parent, name, order[track], what)


def _counter(unit: str) -> bytes:
    return wire.sized(_COUNTER, wire.text(_UNIT_NAME, unit))


def _descriptor(uuid: int, parent: int, name: str, rank: int, what: bytes = b"") -> bytes:
    """A TrackDescriptor; `what` it is besides a line of that name below the track `parent` (-1: none)."""
    around = wire.number(_PARENT, parent + 1) if parent >= 0 else b""
    rank = min(max(rank, -(2**31)), 2**31 - 1)
    ordering = wire.number(_CHILD_ORDERING, _EXPLICIT_ORDER) + wire.number(_SIBLING_RANK, rank)
    merging = wire.number(_SIBLING_MERGE, _NEVER_MERGE)
    return b"".join((wire.number(_UUID, uuid), around, wire.text(_NAME, name), what, ordering, merging))


def _parents_first(parents: list[int]) -> list[int]:
    """Every track after the one around it, except where they go in a circle."""
    order: list[int] = []
    placed = [False] * len(parents)
    for track in range(len(parents)):
        path = []
        while 0 <= track < len(parents) and not placed[track]:
            placed[track] = True
            path.append(track)
            track = parents[track]
        order += reversed(path)
    return order
