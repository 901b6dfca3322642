"""Assembles trace events, handed over as columns, into the tables of a trace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.categories import Classifier
from trace_format.json_object import json_object
from trace_format.limits import LATEST_NS
from trace_format.tables import Slices
from trace_format.trace_events import memory, moments
from trace_format.trace_events.arguments import INSTANT_ARGUMENTS, Arguments, ArgumentSplitter
from trace_format.trace_events.batch import NO_DURATION, NO_TIME, OUT_OF_RANGE, EventBatch, Key
from trace_format.trace_events.c10d import add_c10d_collectives
from trace_format.trace_events.collectives import CollectiveFinder
from trace_format.trace_events.cpu_profiles import CpuProfiles
from trace_format.trace_events.flow_events import FlowCollector
from trace_format.trace_events.pairs import Pairs
from trace_format.trace_events.running import RunningEvents
from trace_format.trace_events.stack_frames import Samples, StackFrames
from trace_format.trace_events.tracks import TrackRegistry
from trace_format.trace_events.view import SCOPE_CODES, BatchView, NamedBatch, Naming

Array = np.ndarray

LONGEST_EVENT_NS = 10**15  # 11.6 days; no step lasts that long, clocks that run into each other do
_TOO_LONG = "duration of more than 11 days: shown as unfinished"
_STILL_RUNNING = "still running when the profiler stopped: shown as unfinished"
_FAR_FROM_ZERO_NS = 3600 * 10**9  # a trace that begins later than this does not begin at zero
_MOST_OTHER_METADATA = 1000
# Phases that are handled alike, by what handles them.
_COMPLETE, _INSTANT, _FLOW, _COUNTER, _PAIR, _ASYNC, _METADATA = "X", "iIR", "stf", "C", "BE", "beSFnTp", "M"
_OBJECT, _SAMPLE, _MARK = moments.OBJECTS, "P", moments.MARKS
_UNKNOWN_PHASES = {0: "event without a phase", 1: "event whose phase is no single letter"}
_BEGINS, _MOMENTS = "BbS", "nTp"
_GROUPS = (_METADATA, _COMPLETE, _PAIR, _ASYNC, _INSTANT, _COUNTER, _FLOW, _OBJECT, _SAMPLE, _MARK)


class TraceEventAssembler:
    """Puts batches of trace events into a `TraceBuilder`.

    Use: `add` every batch, then `finish` once, then `builder.finish(metadata=...)`. Batches may be of any size and
    come in any order; within a batch, rows are in source order. Every event is counted in the builder's report:
    what cannot be kept under `left_out`, by cause.

    `private_use_name` is what torch calls device type PrivateUse1 in memory records here.
    """

    def __init__(
        self,
        builder: TraceBuilder,
        *,
        classifier: Classifier | None = None,
        private_use_name: str = memory.DEVICE_TYPES[-1],
    ) -> None:
        self.builder = builder
        self.other_metadata: list[dict[str, Any]] = []  # metadata events that name no process or thread
        self._private_use_name = private_use_name
        self._naming = Naming(builder.pool, classifier or Classifier())
        self._arguments = ArgumentSplitter(builder.pool, builder.report.repaired)
        self._collectives = CollectiveFinder(builder.pool)
        self._tracks = TrackRegistry()
        self._pairs = Pairs(builder.pool)
        self._running = RunningEvents(builder.pool)
        self._async_names: dict[tuple[Key, str, Key | None], str] = {}
        self._flows = FlowCollector(builder)
        self._at_zero: list[dict[str, Array]] = []  # slices without length at time zero, see `_settle_zero`
        self._first_ns = OUT_OF_RANGE  # of the other complete events
        self._profiles = CpuProfiles(builder)
        self._samples = Samples(builder)
        self._handlers = {
            _COMPLETE: self._complete, _INSTANT: self._instants, _FLOW: self._flow_events, _COUNTER: self._counters,
            _PAIR: self._begins_and_ends, _ASYNC: self._async_events, _METADATA: self._metadata,
            _OBJECT: self._objects, _SAMPLE: self._sampled, _MARK: self._marks,
        }  # fmt: skip

    def add(self, batch: EventBatch) -> None:
        """Take in a batch of events."""
        self.builder.report.source_events += len(batch)
        phases = _phases(batch)
        handled = np.zeros(len(batch), bool)
        named = NamedBatch(batch, self._naming)
        for group in _GROUPS:
            mine = np.isin(phases, [ord(letter) for letter in group])
            if mine.any():
                handled |= mine
                rows = np.flatnonzero(mine)
                if group != _METADATA:
                    rows = self._with_a_time(batch.ts_ns, rows)
                if len(rows):
                    view = named.view(rows)
                    if batch.arrows is not None:
                        self._flows.note_arrows(view, self._lines)
                    self._handlers[group](view, phases[rows])
        for phase in np.unique(phases[~handled]).tolist():
            count = int((phases[~handled] == phase).sum())
            self._leave_out(_UNKNOWN_PHASES.get(phase, f"event of unknown phase {chr(phase)!r}"), count)

    def finish(
        self,
        *,
        rank: int = -1,
        ranks: int | None = None,
        host: str = "",
        frames: StackFrames | None = None,
        samples: Sequence[Any] = (),
    ) -> None:
        """Complete the builder's tables: pairs, samples, flows, collectives, tracks.

        `rank` and `host` go to every track. `ranks`: how many a process group has, where all have as many. `frames`
        are the stack frames events name by "sf", `samples` the decoded samples that stood beside the events.
        """
        report = self.builder.report
        self._settle_zero()
        self._profiles.finish()
        self._samples.finish(frames or StackFrames(None, self.builder.pool), samples, self._tracks)
        paired = self._pairs.join(report.repaired, report.left_out)
        if paired is not None:
            endless = paired["dur_ns"] > LONGEST_EVENT_NS
            self._repair(_TOO_LONG, int(endless.sum()))
            self._add_slices({**paired, "dur_ns": np.where(endless, NO_DURATION, paired["dur_ns"])})
        self._flows.finish(self._tracks.line_tracks)
        described = self._collectives.finish(self.builder, rank=rank)
        add_c10d_collectives(self.builder, rank=rank, ranks=ranks, others=described)
        self._tracks.finish(self.builder, rank=rank, host=host)

    def _complete(self, view: BatchView, phases: Array) -> None:
        ts, dur = view.ts_ns, view.batch.dur_ns[view.rows]
        negative = dur < NO_DURATION
        if negative.any():
            self._leave_out("negative duration", int(negative.sum()))
            view = view.where(~negative)
            ts, dur = ts[~negative], dur[~negative]
        self._repair("no duration: shown as unfinished", int((dur == NO_DURATION).sum()))
        endless = (dur > LONGEST_EVENT_NS) | (ts > OUT_OF_RANGE - np.maximum(dur, 0))
        if endless.any():
            self._repair(_TOO_LONG, int(endless.sum()))
            dur = np.where(endless, NO_DURATION, dur)
        columns = self._columns(view)
        families, category = view.families(), columns["category"]
        track = self._tracks.threads(self._lines(view), families, category)
        running = self._running.mask(columns["args"], columns["source_category"])
        if running.any():
            self._repair(_STILL_RUNNING, int(running.sum()))
            dur = np.where(running, NO_DURATION, dur)
        columns |= {"ts_ns": ts, "dur_ns": dur, "track": track}
        at_zero = (ts == 0) & (dur == 0)
        if at_zero.any():
            self._at_zero.append({name: values[at_zero] for name, values in columns.items()})
            columns = {name: values[~at_zero] for name, values in columns.items()}
        if len(columns["ts_ns"]):
            self._first_ns = min(self._first_ns, int(columns["ts_ns"].min()))
            self._add_slices(columns)

    def _settle_zero(self) -> None:
        """Add the slices without length at time zero, unless the trace is far from there: then they never happened."""
        for columns in self._at_zero:
            if _FAR_FROM_ZERO_NS < self._first_ns < OUT_OF_RANGE:
                self._leave_out(
                    "event without length at time zero, far from the others: never recorded", len(columns["ts_ns"])
                )
            else:
                self._add_slices(columns)
        self._at_zero.clear()

    def _columns(self, view: BatchView) -> dict[str, Array]:
        """What a slice has beside its time and track."""
        arguments = self._split(view)
        columns = {
            "name": view.name, "source_category": view.source_category, "category": view.categories(),
            "args": arguments.args, **arguments.columns,
        }  # fmt: skip
        for name, given in view.batch.columns.items():
            mine = given[view.rows]
            unknown = np.isnan(mine) if name == "flops" else mine == Slices.COLUMNS[name].unknown
            columns[name] = np.where(unknown, columns[name], mine) if name in columns else mine
        return columns

    def _split(self, view: BatchView) -> Arguments:
        if view.batch.args_row is None:
            return self._arguments.split(view.args())
        shared = self._arguments.split(view.batch.args)
        row = view.batch.args_row[view.rows]
        return Arguments(shared.args[row], {name: values[row] for name, values in shared.columns.items()})

    def _add_slices(self, columns: dict[str, Array]) -> None:
        first = self.builder["slices"].append(len(columns["ts_ns"]), **columns)
        rows = np.arange(first, first + len(columns["ts_ns"]))
        self._collectives.note(columns, rows)

    def _begins_and_ends(self, view: BatchView, phases: Array) -> None:
        columns = self._columns(view)
        track = self._tracks.threads(self._lines(view), view.families(), columns["category"])
        self._pairs.add(len(view), is_end=phases == ord("E"), ts_ns=view.ts_ns, track=track, **columns)

    def _async_events(self, view: BatchView, phases: Array) -> None:
        track = np.empty(len(view), np.int64)
        keys = zip(view.pick(view.batch.pid), view.pick(view.batch.cat), view.ids(), strict=True)
        for row, (key, name) in enumerate(zip(keys, view.pick(view.batch.name), strict=True)):
            name = name or self._async_names.get(key, "")
            self._async_names[key] = name
            track[row] = self._tracks.asynchronous(*key, name)
        moments = np.isin(phases, [ord(letter) for letter in _MOMENTS])
        if moments.any():
            self._add_instants(view.where(moments), track[moments])
        if not moments.all():
            pairs = view.where(~moments)
            is_end = ~np.isin(phases[~moments], [ord(letter) for letter in _BEGINS])
            self._pairs.add(len(pairs), is_end=is_end, ts_ns=pairs.ts_ns, track=track[~moments], **self._columns(pairs))

    def _instants(self, view: BatchView, phases: Array) -> None:
        lines = self._lines(view)
        record = view.name == self.builder.pool.strings.find(memory.NAME)
        if record.any():
            record[record] = self._memory(view.where(record), lines[record])
            view, lines = view.where(~record), lines[~record]
        if len(view):
            self._add_instants(view, self._tracks.threads(lines, view.families(), view.categories()))

    def _objects(self, view: BatchView, phases: Array) -> None:
        columns = (view.pick(column) for column in (view.batch.pid, view.batch.cat))
        keys = zip(*columns, view.ids(), view.pick(view.batch.name), strict=True)
        track = np.array([self._tracks.asynchronous(*key) for key in keys], np.int64)
        self._add_instants(view, track, said=moments.object_states(phases))

    def _marks(self, view: BatchView, phases: Array) -> None:
        track = self._tracks.threads(self._lines(view), view.families(), view.categories())
        self._add_instants(view, track, said=moments.marks(phases))

    def _sampled(self, view: BatchView, phases: Array) -> None:
        track = self._tracks.threads(self._lines(view), view.families(), view.categories())
        columns = (view.pick(view.batch.pid), view.args(), view.ids())
        other = np.zeros(len(view), bool)
        for row, (pid, args, identity) in enumerate(zip(*columns, strict=True)):
            other[row] = not self._profiles.take((pid, identity), args, int(view.ts_ns[row]), int(track[row]))
        rest = view.where(other)
        self._samples.add(rest.ts_ns, track[other], rest.pick(rest.batch.name), rest.args())

    def _add_instants(self, view: BatchView, track: Array, *, said: Sequence[bytes] = ()) -> None:
        """Add instants; `said` is a member for the argument object of each."""
        args = moments.with_members(view.args(), said) if said else view.args()
        arguments = self._arguments.split(args, INSTANT_ARGUMENTS)
        scope = [SCOPE_CODES.get(s, 0) for s in view.pick(view.batch.scope)] if view.batch.scope is not None else 0
        self.builder["instants"].append(
            len(view), ts_ns=view.ts_ns, track=track, name=view.name, category=view.categories(),
            source_category=view.source_category, scope=scope, args=arguments.args, **arguments.columns,
        )  # fmt: skip

    def _memory(self, view: BatchView, lines: Array) -> Array:
        """Add the memory records among these instants; says which of them were records."""
        records = memory.read_records(view.args(), private_use_name=self._private_use_name)
        known = records.understood
        self.builder["memory"].append(
            int(known.sum()),
            ts_ns=view.ts_ns[known],
            device=self.builder.pool.strings.ids(records.device),
            delta_bytes=records.delta_bytes,
            total_bytes=records.total_bytes,
            reserved_bytes=records.reserved_bytes,
            event_index=records.event_index,
            address=records.address,
            track=self._tracks.threads(lines[known], view.families()[known], view.categories()[known]),
        )
        return known

    def _counters(self, view: BatchView, phases: Array) -> None:
        tracks: list[int] = []
        values: list[float] = []
        rows: list[int] = []
        columns = (view.pick(view.batch.pid), view.pick(view.batch.name), view.args(), view.ids())
        for row, (pid, name, args, identity) in enumerate(zip(*columns, strict=True)):
            series = json_object(args)
            if not series:
                self._leave_out("counter without a value", 1)
            for label, value in series.items():
                number = _number(value)
                if number is None:
                    self.builder.report.repaired["counter value that is no number: shown as unknown"] += 1
                tracks.append(self._tracks.counter(pid, name, label, identity))
                values.append(float("nan") if number is None else number)
                rows.append(row)
        self.builder["counters"].append(len(rows), ts_ns=view.ts_ns[rows], track=tracks, value=values)

    def _flow_events(self, view: BatchView, phases: Array) -> None:
        self._flows.add(view, phases, self._lines(view), self._arguments.split(view.args(), ()).args)

    def _metadata(self, view: BatchView, phases: Array) -> None:
        columns = (view.pick(column) for column in (view.batch.name, view.batch.pid, view.batch.tid))
        for name, pid, tid, args in dict.fromkeys(zip(*columns, view.args(), strict=True)):
            inner = args.strip()
            said = json_object(args if inner[:1] == b"{" or inner in (b"", b"null") else b'{"args":%s}' % args)
            what, _, rest = name.partition("_")
            place = (pid, None if what == "process" else tid)
            if what in ("process", "thread") and rest in ("name", "labels") and isinstance(said.get(rest), str):
                self._tracks.label(rest, *place, said[rest].strip())
            elif what in ("process", "thread") and rest == "sort_index" and _sort_index(said.get(rest)) is not None:
                self._tracks.sort(*place, _sort_index(said[rest]) or 0)
            elif len(self.other_metadata) < _MOST_OTHER_METADATA:
                self.other_metadata.append({"name": name, "pid": pid, "tid": tid, "args": said})
            else:
                self._leave_out("metadata event beyond the first thousand of unknown meaning", 1)

    def _with_a_time(self, ts_ns: Array, rows: Array) -> Array:
        ts = ts_ns[rows]
        good = (ts <= LATEST_NS) & (ts >= -LATEST_NS)  # NO_TIME and OUT_OF_RANGE are beyond
        if good.all():
            return rows
        self._leave_out("event without a time", int((ts == NO_TIME).sum()))
        self._leave_out("time out of range", int((~good & (ts != NO_TIME)).sum()))
        return rows[good]

    def _repair(self, cause: str, events: int) -> None:
        if events:
            self.builder.report.repaired[cause] += events

    def _leave_out(self, cause: str, events: int) -> None:
        if events:
            self.builder.report.left_out[cause] += events

    def _lines(self, view: BatchView) -> Array:
        return self._tracks.lines(view.pick(view.batch.pid), view.pick(view.batch.tid))


def _phases(batch: EventBatch) -> Array:
    """The phase of each event as one byte; one of `_UNKNOWN_PHASES` where it is no printable letter or sign."""
    letters = "".join(batch.ph)
    one_each = len(letters) == len(batch) and (isinstance(batch.ph, str) or "" not in batch.ph)
    if not one_each or not letters.isascii() or not letters.isprintable():
        letters = "".join(_phase(phase) for phase in batch.ph)
    return np.frombuffer(letters.encode("ascii"), np.uint8)


def _phase(phase: str) -> str:
    return phase if len(phase) == 1 and phase.isascii() and phase.isprintable() else "\1" if phase else "\0"


def _number(value: Any) -> float | None:
    try:
        number = None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number is not None and math.isfinite(number) else None


def _sort_index(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and abs(number) < 2**53 else None
