"""The envelope of every event: packet, sequence, time, track, type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trace_format.exporters.perfetto import wire

Array = np.ndarray

# Fields of Trace, TracePacket and TrackEvent (perfetto/protos/perfetto/trace/).
_PACKET = 1
_TIMESTAMP, _SEQUENCE_ID, _TRACK_EVENT, _SEQUENCE_FLAGS = 8, 10, 11, 13
_TYPE, _TRACK_UUID = 9, 11
ANNOTATIONS = 4
# Interned names hold within one sequence, so all events are on one.
_ON_SEQUENCE = wire.number(_SEQUENCE_ID, 1)
_FORGET_EARLIER, _NEEDS_EARLIER = 1, 2
_FOLLOWS = _ON_SEQUENCE + wire.number(_SEQUENCE_FLAGS, _NEEDS_EARLIER)


@dataclass(frozen=True, slots=True)
class Event:
    """What track events of one type say first: the uuid of their track, and when, `(n,)` each."""

    type: int
    uuid: Array
    ts_ns: Array

    def take(self, rows: Array) -> Event:
        return Event(self.type, self.uuid[rows], self.ts_ns[rows])


def packet(*fields: bytes, first: bool = False) -> bytes:
    """One packet with these fields; the `first` of the file begins the sequence."""
    flags = wire.number(_SEQUENCE_FLAGS, _FORGET_EARLIER | _NEEDS_EARLIER)
    return wire.sized(_PACKET, _ON_SEQUENCE + flags if first else _FOLLOWS, *fields)


def packed(event: Event, fields: wire.Batch, tails: Sequence[bytes] = ()) -> list[bytes]:
    """One packet for each event: `fields` go into its TrackEvent, and what `tails` has for it is to follow the packet's
    bytes and belongs to it."""
    rows = fields.rows
    sizes = np.fromiter(map(len, tails), np.int64, rows) if any(tails) else None
    inner = wire.Batch(rows)
    inner.put(wire.number(_TYPE, event.type) + wire.tag(_TRACK_UUID, wire.VARINT))
    inner.varints(event.uuid)
    inner.add(fields)
    middle = wire.Batch(rows)
    middle.put(_FOLLOWS + wire.tag(_TIMESTAMP, wire.VARINT))
    middle.varints(event.ts_ns)
    middle.message(_TRACK_EVENT, inner, sizes)
    outer = wire.Batch(rows)
    outer.message(_PACKET, middle, sizes)
    return outer.finish()
