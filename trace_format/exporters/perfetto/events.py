"""Slices, instants and counter values as track events, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from trace_format.exporters.event_text import INTEGERS
from trace_format.exporters.perfetto import wire
from trace_format.exporters.perfetto.annotations import Annotations
from trace_format.exporters.perfetto.flows import FlowEnds
from trace_format.exporters.perfetto.order import runs
from trace_format.exporters.perfetto.packet import ANNOTATIONS, Event, packed
from trace_format.tables import Instants, Slices
from trace_format.trace import Trace
from trace_format.trace_events.arguments import FLOPS_ARGUMENT, STACK_ARGUMENT

Array = np.ndarray

_CHUNK_ROWS = 65_536
# Fields of TrackEvent and DebugAnnotation (perfetto/protos/perfetto/trace/track_event/).
_CATEGORY_IID, _NAME_IID, _DOUBLE_COUNTER = 3, 10, 44
_ANNOTATION_NAME_IID, _INT_VALUE, _DOUBLE_VALUE, _STRING_VALUE_IID = 1, 4, 5, 17
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4


@dataclass(frozen=True, slots=True)
class _Optional:
    """A field that some rows have: which `(n,)`, and how those of given numbers `(m,)` are put into a batch."""

    present: Array
    put: Callable[[wire.Batch, Array], None]


def slice_packets(trace: Trace, lane_uuid: Array, arguments: ArgumentFields, shift_ns: int) -> Iterator[bytes]:
    """The begins and ends of all slices. `lane_uuid`: of each slice's lane, `(slices,) int64`."""
    slices = trace.slices
    flows = FlowEnds(trace)
    for run in runs(lane_uuid, slices.ts_ns, slices.dur_ns):
        tails = arguments.sets(slices.args[run.begins])
        flows.append_to(tails, run.begins)
        uuid, ts_ns = lane_uuid[run.begins], slices.ts_ns[run.begins] + shift_ns
        begins = _named(slices, run.begins, Event(_BEGIN, uuid, ts_ns), arguments, tails)
        ts_ns = slices.ts_ns[run.ends] + slices.dur_ns[run.ends] + shift_ns
        ends = packed(Event(_END, lane_uuid[run.ends], ts_ns), wire.Batch(len(run.ends)))
        ordered = np.full((len(begins) + len(ends), 2), b"", object)
        ordered[run.begin_places, 0] = begins
        ordered[run.begin_places, 1] = tails
        ordered[run.end_places, 0] = ends
        yield b"".join(ordered.ravel().tolist())


def instant_packets(trace: Trace, lane_uuid: Array, arguments: ArgumentFields, shift_ns: int) -> Iterator[bytes]:
    """All instants. `lane_uuid`: of each instant's lane, `(instants,) int64`."""
    instants = trace.instants
    for rows in _chunks(len(instants)):
        event = Event(_INSTANT, lane_uuid[rows], instants.ts_ns[rows] + shift_ns)
        tails = arguments.sets(instants.args[rows])
        packets = _named(instants, rows, event, arguments, tails)
        yield b"".join(chain.from_iterable(zip(packets, tails, strict=True)))


def counter_packets(uuid: Array, ts_ns: Array, value: Array) -> Iterator[bytes]:
    """Counter values, those that are finite."""
    finite = np.flatnonzero(np.isfinite(value))
    for chunk in _chunks(len(finite)):
        rows = finite[chunk]
        fields = wire.Batch(len(rows))
        fields.put(wire.tag(_DOUBLE_COUNTER, wire.FIXED64))
        fields.words(value[rows])
        yield b"".join(packed(Event(_COUNTER, uuid[rows], ts_ns[rows]), fields))


class ArgumentFields:
    """The arguments of events as fields of TrackEvent."""

    def __init__(self, trace: Trace) -> None:
        self.annotations = Annotations()
        used = set(np.unique(trace.slices.args).tolist()) | set(np.unique(trace.instants.args).tolist())
        self._sets = {i: self.annotations.encoded(trace.pool.arg_sets[i]) for i in used}
        for key in (*(key for _, key in INTEGERS), FLOPS_ARGUMENT, STACK_ARGUMENT):
            self.annotations.name_id(key)  # now, because names are written before the events that use them

    def sets(self, ids: Array) -> list[bytes]:
        """The encoded argument sets with these ids."""
        return list(map(self._sets.__getitem__, ids.tolist()))

    def optional(self, table: Slices | Instants, rows: Array) -> list[_Optional]:
        """The arguments that columns hold, of these rows."""
        out = [
            self._annotation(key, _INT_VALUE, values, values >= 0)
            for name, key in INTEGERS
            if name in table.COLUMNS
            for values in (getattr(table, name)[rows],)
        ]
        if isinstance(table, Slices):
            flops, stack = table.flops[rows], table.stack[rows]
            out.append(self._annotation(FLOPS_ARGUMENT, _DOUBLE_VALUE, flops, np.isfinite(flops)))
            out.append(self._annotation(STACK_ARGUMENT, _STRING_VALUE_IID, stack, stack > 0))
        return [one for one in out if one.present.any()]

    def _annotation(self, key: str, field: int, values: Array, present: Array) -> _Optional:
        name = wire.number(_ANNOTATION_NAME_IID, self.annotations.name_id(key))

        def put(batch: wire.Batch, which: Array) -> None:
            inner = wire.Batch(len(which))
            inner.put(name)
            if field == _DOUBLE_VALUE:
                inner.put(wire.tag(field, wire.FIXED64))
                inner.words(values[which])
            else:
                inner.put(wire.tag(field, wire.VARINT))
                inner.varints(values[which])
            batch.message(ANNOTATIONS, inner)

        return _Optional(present, put)


def _named(
    table: Slices | Instants, rows: Array, event: Event, arguments: ArgumentFields, tails: list[bytes]
) -> Sequence[bytes]:
    """The packets of events with name, category and arguments, up to where `tails` go on.

    Rows that have the same fields are made together.
    """
    category, name = table.source_category[rows], table.name[rows]

    def put_category(batch: wire.Batch, which: Array) -> None:
        batch.put(wire.tag(_CATEGORY_IID, wire.VARINT))
        batch.varints(category[which].astype(np.int64) + 1)

    optional = [_Optional(category > 0, put_category), *arguments.optional(table, rows)]
    shape = sum(one.present.astype(np.int64) << bit for bit, one in enumerate(optional))
    out = np.empty(len(rows), object)
    for found in np.unique(shape).tolist():
        which = np.flatnonzero(shape == found)
        fields = wire.Batch(len(which))
        fields.put(wire.tag(_NAME_IID, wire.VARINT))
        fields.varints(name[which].astype(np.int64) + 1)
        for bit, one in enumerate(optional):
            if found >> bit & 1:
                one.put(fields, which)
        out[which] = packed(event.take(which), fields, [tails[i] for i in which.tolist()])
    return out.tolist()


def _chunks(rows: int) -> Iterator[Array]:
    for first in range(0, rows, _CHUNK_ROWS):
        yield np.arange(first, min(first + _CHUNK_ROWS, rows))
