"""The channels over which bytes move: a device's memory, its DMA queues, the link to the host, the links to peers."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.bandwidth.movement import movement
from neuron_profile.analysis.derived import kept_with_the_trace
from neuron_profile.analysis.grouping import group
from neuron_profile.analysis.sides import SIDES, side_of_tracks
from trace_format import CATEGORIES, TRACK_KINDS, Trace

Array = np.ndarray
Positions = slice

DIRECTIONS = (
    "memory_read", "memory_write", "memory", "host_to_device", "device_to_host", "peer", "dma_queue", "unknown",
)  # fmt: skip
READ, WRITE, MEMORY, TO_DEVICE, TO_HOST, PEER, QUEUE, UNKNOWN = range(len(DIRECTIONS))
OF_MEMORY = DIRECTIONS[READ : MEMORY + 1]
OF_LINKS = DIRECTIONS[TO_DEVICE : PEER + 1]
_IN_MEMORY = -1  # read and written in the same memory: both

# Kineto (libkineto/src/ActivityType, CuptiActivity: "Memcpy HtoD (Pinned -> Device)", of XPU "M2D"), ROCm's tracers
# ("CopyHostToDevice"), XLA ("MemcpyH2D"), Neuron's runtime ("tensor_write", "dmem_buf_copyin").
_BEFORE = r"(?:^|[^A-Za-z]|[Mm]emcpy|[Cc]opy)"
_COPIES = (
    (re.compile(_BEFORE + r"(?:HtoD|H2D|M2D)(?![a-z])|HostToDevice|tensor_write|buf_copyin"), TO_DEVICE),
    (re.compile(_BEFORE + r"(?:DtoH|D2H|D2M)(?![a-z])|DeviceToHost|tensor_read|buf_copyout"), TO_HOST),
    (re.compile(_BEFORE + r"(?:PtoP|P2P)(?![a-z])|PeerToPeer"), PEER),
    (re.compile(_BEFORE + r"(?:DtoD|D2D)(?![a-z])|DeviceToDevice"), _IN_MEMORY),
)
_HBM_COUNTER, _BYTES_PER_S = "HBM throughput", "B/s"  # of a Neuron core (trace_format/importers/ntff/counters.py)
_MEMCPY, _MEMSET = CATEGORIES.index("memcpy"), CATEGORIES.index("memset")
_DMA_QUEUE, _COUNTER = TRACK_KINDS.index("dma_queue"), TRACK_KINDS.index("counter")


@dataclass(frozen=True, slots=True)
class Channel:
    """One way for bytes; numbers are -1 where the trace does not tell. `queue` is the name of a DMA queue, else ""."""

    rank: int
    device: int
    core: int
    side: str
    direction: str
    queue: str


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """What went over the channels; columns of equal length, by channel, and within one by row of the slices.

    - `channel`: index into `channels`; `first`: `(len(channels) + 1,)`, where the rows of each begin.
    - `slice`: the row during which the bytes moved, -1 where a counter tells of them.
    - `start_ns`, `dur_ns` (-1: did not finish), `bytes` (float64), `estimated` (from shapes).
    """

    channels: tuple[Channel, ...]
    first: Array
    channel: Array
    slice: Array
    start_ns: Array
    dur_ns: Array
    bytes: Array
    estimated: Array

    def rows(self, channel: int) -> Positions:
        """The rows of a channel."""
        return Positions(int(self.first[channel]), int(self.first[channel + 1]))


@kept_with_the_trace
def traffic(trace: Trace) -> Traffic:
    """The bytes of `movement`, and those that counters tell of, by the channel over which they went.

    An estimate is read and written in the memory of its device, as is a copy within it, which counts whole in both
    directions. A record that does not tell is "memory" on a device and "unknown" on the host. Empty for a trace that
    tells of no bytes.
    """
    moved, slices, tracks = movement(trace), trace.slices, trace.tracks
    track = slices.track[moved.slice]
    is_queue = (tracks.kind == _DMA_QUEUE)[track] if len(tracks) else np.zeros(0, bool)
    direction = np.full(len(track), MEMORY, np.int8)
    side = side_of_tracks(tracks)[track] if len(tracks) else np.zeros(0, np.int8)
    direction[side == SIDES.index("host")] = UNKNOWN
    category = slices.category[moved.slice]
    direction[category == _MEMSET] = WRITE
    copies = np.flatnonzero((category == _MEMCPY) & ~moved.estimated)
    told = copy_directions(trace, moved.slice[copies])
    direction[copies] = np.where(told == UNKNOWN, direction[copies], told)
    direction[is_queue] = QUEUE
    both = np.flatnonzero(moved.estimated | (direction == _IN_MEMORY))
    direction[both] = READ
    read = np.where(moved.estimated[both], moved.read_bytes[both], moved.bytes[both])
    written = np.where(moved.estimated[both], moved.bytes[both] - read, moved.bytes[both])
    nbytes = moved.bytes.astype(np.float64)
    nbytes[both] = read
    queue = np.where(is_queue, slices.name[moved.slice], np.uint32(0))

    at = np.concatenate([np.arange(len(track)), both])
    counted = _counters(trace)
    none = np.zeros(len(counted.track), np.int64)
    columns = _Columns(
        track=np.concatenate([track[at], counted.track.astype(track.dtype)]),
        direction=np.concatenate([direction, np.full(len(both), WRITE, np.int8), (none + MEMORY).astype(np.int8)]),
        queue=np.concatenate([queue[at], none.astype(queue.dtype)]),
        slice=np.concatenate([moved.slice[at], none - 1]),
        start_ns=np.concatenate([slices.ts_ns[moved.slice][at], counted.start_ns]),
        dur_ns=np.concatenate([slices.dur_ns[moved.slice][at], counted.dur_ns]),
        bytes=np.concatenate([nbytes, written, counted.bytes]),
        estimated=np.concatenate([moved.estimated[at], none > 0]),
    )
    return _by_channel(trace, columns)


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    track: Array
    direction: Array
    queue: Array
    slice: Array
    start_ns: Array
    dur_ns: Array
    bytes: Array
    estimated: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    track: Array
    start_ns: Array
    dur_ns: Array
    bytes: Array


def _by_channel(trace: Trace, columns: _Columns) -> Traffic:
    tracks, strings = trace.tracks, trace.pool.strings
    if len(columns.track) == 0:
        none = np.zeros(0, np.int64)
        return Traffic((), np.zeros(1, np.int64), none, none, none, none, columns.bytes, columns.estimated)
    side = np.where(tracks.kind == _COUNTER, 0, side_of_tracks(tracks))
    numbers = [tracks.rank + 1, tracks.device + 1, tracks.core + 1, side]
    places = group(numbers, [int(column.max()) + 1 for column in numbers])
    groups = group(
        (places.of_row[columns.track], columns.direction, columns.queue), (len(places), len(DIRECTIONS), len(strings))
    )
    # few channels: 16 bits are sorted by counting
    of_row = groups.of_row.astype(np.uint16) if len(groups) < 1 << 16 else groups.of_row
    order = np.argsort(of_row, kind="stable")
    place, direction, queue = groups.values
    rank, device, core, side = (values[place].tolist() for values in places.values)
    channels = tuple(
        Channel(rank[i] - 1, device[i] - 1, core[i] - 1, SIDES[side[i]], DIRECTIONS[way], strings[name] if name else "")
        for i, (way, name) in enumerate(zip(direction.tolist(), queue.tolist(), strict=True))
    )
    return Traffic(
        channels, np.concatenate([[0], np.cumsum(groups.count())]), groups.of_row[order], columns.slice[order],
        columns.start_ns[order], columns.dur_ns[order], columns.bytes[order], columns.estimated[order],
    )  # fmt: skip


def copy_directions(trace: Trace, rows: Array) -> Array:
    """The direction of each of these copies (rows of slices) by its name, UNKNOWN where that does not tell.

    Negative for a copy within one memory.
    """
    strings, names = trace.pool.strings.values, trace.slices.name[rows]
    of_name = np.full(len(strings), UNKNOWN, np.int8)
    for name in np.unique(names).tolist():
        of_name[name] = next((way for pattern, way in _COPIES if pattern.search(strings[name])), UNKNOWN)
    return of_name[names]


def _counters(trace: Trace) -> _Counted:
    """What counters of a rate tell of: one row from each of their values to the next."""
    tracks, counters, strings = trace.tracks, trace.counters, trace.pool.strings
    tells = (tracks.kind == _COUNTER) & ~tracks.simulated.astype(bool)
    tells &= (tracks.name == strings.find(_HBM_COUNTER)) & (tracks.unit == strings.find(_BYTES_PER_S))
    rows = np.flatnonzero(tells[counters.track]) if tells.any() else np.zeros(0, np.int64)
    same = counters.track[rows[1:]] == counters.track[rows[:-1]]
    here, following = rows[:-1][same], rows[1:][same]
    dur_ns = counters.ts_ns[following] - counters.ts_ns[here]
    nbytes = counters.value[here] * dur_ns / 1e9
    some = nbytes > 0
    return _Counted(counters.track[here][some].astype(np.int64), counters.ts_ns[here][some], dur_ns[some], nbytes[some])
