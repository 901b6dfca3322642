"""The packets of a Perfetto trace, in file order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trace_format.exporters.lanes import Lanes
from trace_format.exporters.perfetto import wire
from trace_format.exporters.perfetto.events import ArgumentFields, counter_packets, instant_packets, slice_packets
from trace_format.exporters.perfetto.interned import interned
from trace_format.exporters.perfetto.memory import memory_series
from trace_format.exporters.perfetto.packet import packet
from trace_format.exporters.perfetto.tracks import numbered
from trace_format.trace import Trace

Array = np.ndarray

# Fields of TracePacket and ClockSnapshot (perfetto/protos/perfetto/trace/).
_CLOCK_SNAPSHOT, _INTERNED_DATA, _TRACK_DESCRIPTOR = 6, 12, 60
_CLOCKS, _CLOCK_ID, _CLOCK_TIME = 1, 1, 2
_REALTIME, _BOOTTIME = 1, 6  # Perfetto's events are on the latter if they name none


def packets(trace: Trace, lanes: Lanes) -> Iterator[bytes]:
    """The bytes of the file, in parts. Times are the trace's own; before zero, they are moved to begin there."""
    first_ns = (trace.time_range_ns or (0, 0))[0]
    shift_ns = max(0, -first_ns)
    memory = memory_series(trace)
    lines = numbered(trace, lanes, memory)
    arguments = ArgumentFields(trace)
    yield packet(_clocks(trace, first_ns), first=True)
    yield b"".join(packet(wire.sized(_TRACK_DESCRIPTOR, message)) for message in lines.descriptors)
    for message in interned(trace, arguments.annotations):
        yield packet(wire.sized(_INTERNED_DATA, message))
    yield from slice_packets(trace, lines.lane[lanes.slice_lane], arguments, shift_ns)
    yield from instant_packets(trace, lines.lane[lanes.first[trace.instants.track]], arguments, shift_ns)
    counters = trace.counters
    yield from counter_packets(lines.counter[counters.track], counters.ts_ns + shift_ns, counters.value)
    for uuid, series in zip(lines.memory, memory, strict=True):
        yield from counter_packets(np.full(len(series.value), uuid), series.ts_ns + shift_ns, series.value)


def _clocks(trace: Trace, now_ns: int) -> bytes:
    """A ClockSnapshot that says the events' clock is the wall clock, where it is; nothing where it is not."""
    if {source.get("clock") for source in trace.metadata.get("sources", [])} != {"unix"} or now_ns < 0:
        return b""
    clocks = [
        wire.sized(_CLOCKS, wire.number(_CLOCK_ID, clock), wire.number(_CLOCK_TIME, now_ns))
        for clock in (_REALTIME, _BOOTTIME)
    ]
    return wire.sized(_CLOCK_SNAPSHOT, *clocks)
