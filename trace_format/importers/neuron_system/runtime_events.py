"""Reads the events of the Neuron runtime as JSON (`nrt_sys_trace_fetch_events`).

Documented (AWS's public header, and programs that read these events): `{"events": [...], "data_version": 2}`; of an
event `event_type`, `phase` (start, stop, instant, unknown), `id`, `tracking_id` by which a start has its stop,
`thread_id`, `nc_idx`, `nc_local_id`, `worker_gid` (-1: unknown), `timestamp_ns`, `nrta_seq_id`, and `data`, whose
`nc_timestamp_ns` stands in place of `timestamp_ns`; of `nc_exec_running` one start and stop for each physical core.

Tolerated, for no sample of such a file is public: types that nobody documented, any fields in `data` (kept as
arguments), numbers written as text, phases by number, a list cut off, events without a partner.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.errors import DamagedFileError
from trace_format.garbage import collection_paused
from trace_format.importers.clocks import is_unix
from trace_format.importers.neuron_system.activity import Activity, add_activities
from trace_format.importers.neuron_system.document import objects, read_document
from trace_format.importers.neuron_system.event_types import (
    BYTES_KEYS,
    COLLECTIVE,
    EXECUTION,
    HARDWARE,
    collective_op,
    event_type,
)
from trace_format.importers.neuron_system.executions import CoreRun, merged
from trace_format.importers.neuron_system.tracks import HostTracks
from trace_format.importers.neuron_system.values import integer, text
from trace_format.importers.source import Source
from trace_format.trace import Trace

# AWS Neuron docs, NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC: the size of a ring unless it is set
_RING_EVENTS = 1_000_000
_PHASES = {0: "start", 1: "stop", 2: "instant"}  # nrt_sys_trace.h, where a writer has numbers in place of words
_SYNC_POINT = "timestamp_sync_point"
_ONE_CLOCK_NS = 3600 * 10**9
_NO_START = "stop without its start (the ring had overwritten it)"
_NO_STOP = "start without its stop: shown as not finished"
_STOP_FIRST = "stop before its start: shown without a duration"
_NO_TIME = "event without a time"
_IN_COLUMNS = ("nc_timestamp_ns", "device_core_idx", "nrta_seq_id", *BYTES_KEYS)


@dataclass(slots=True)
class _Event:
    kind: str
    name: str
    phase: str
    time_ns: int
    nc_time_ns: int | None
    tracking_id: int
    id: int
    nc: int
    worker: int
    tid: int
    sequence: int
    data: dict[str, Any]


@dataclass
class _Events:
    """The events of a file, and what was found while they were read."""

    rows: list[_Event] = field(default_factory=list)
    by_nc: Counter[int] = field(default_factory=Counter)


def read_runtime_json(source: Source) -> Trace:
    """The trace in a file of runtime events: calls, transfers, executions and collectives by logical core.

    The times of the hardware's events are the cores'. Raises DamagedFileError where no event can be read.
    """
    with collection_paused():
        return _read(source)


def _read(source: Source) -> Trace:
    document = read_document(source)
    if "events" not in document.lists:
        raise DamagedFileError('has no list of "events"', path=source.path)
    builder = TraceBuilder()
    report = builder.report
    report.source_events = len(document.lists["events"]) + document.lost.total()
    report.left_out.update(document.lost)
    report.repaired.update(document.repaired)
    source.note_in(report)
    found = _Events()
    for item in objects(document.lists["events"]):
        event = _event(item)
        if event is None:
            report.left_out[_NO_TIME if "event_type" in item else "item that is no event"] += 1
        else:
            found.rows.append(event)
            found.by_nc[event.nc] += 1
    if report.source_events and not found.rows:
        raise DamagedFileError("holds no event that can be read", path=source.path)
    for nc, count in sorted(found.by_nc.items()):
        if count >= _RING_EVENTS:
            report.repaired[f"the ring of NC {nc} is full ({count:,} events): older ones were overwritten"] += 1
    offset_ns = _clock_offset_ns(found.rows, builder)
    lnc_executions = _add(builder, found.rows, offset_ns)
    described: dict[str, Any] = {
        "format": "neuron-runtime-json",
        "path": source.path.name,
        "producer": "Neuron runtime",
        "events_by_nc": {str(nc): count for nc, count in sorted(found.by_nc.items())},
        "executions_of_several_cores": lnc_executions,
    }
    version = integer(document.values.get("data_version"))
    if version is not None:
        described["data_version"] = version
    if offset_ns:
        described["nc_clock_moved_by_ns"] = offset_ns
    trace = builder.finish()
    span = trace.time_range_ns
    described["clock"] = "unix" if span and is_unix(span[0]) else "unknown"
    return Trace.of(trace.pool, trace.tables(), metadata={"sources": [described]}, report=trace.report)


def _event(item: dict[str, Any]) -> _Event | None:
    """An event; None for what is none, or has no time."""
    data = item.get("data")
    data = data if isinstance(data, dict) else {}
    nc_time_ns = integer(data.get("nc_timestamp_ns"))
    time_ns = integer(item.get("timestamp_ns"))
    if time_ns is None:
        time_ns = nc_time_ns
    name = text(item.get("event_type"))
    if time_ns is None or not name:
        return None
    phase = item.get("phase")
    sequence = integer(item.get("nrta_seq_id"))
    if sequence is None:
        sequence = integer(data.get("nrta_seq_id"))
    return _Event(
        kind=event_type(name),
        name=name,
        phase=phase.lower() if isinstance(phase, str) else _PHASES.get(phase, "") if isinstance(phase, int) else "",
        time_ns=time_ns,
        nc_time_ns=nc_time_ns,
        tracking_id=_number(item, "tracking_id"),
        id=_number(item, "id"),
        nc=_number(item, "nc_idx"),
        worker=_number(item, "worker_gid"),
        tid=_number(item, "thread_id"),
        sequence=-1 if sequence is None else sequence,
        data=data,
    )


def _number(item: dict[str, Any], key: str) -> int:
    value = integer(item.get(key))
    return -1 if value is None or value < 0 else value


def _clock_offset_ns(events: list[_Event], builder: TraceBuilder) -> int | None:
    """What to add to the cores' times to have the host's; None where they cannot be related and are not used.

    0 where they are on one clock, as the runtime gives them. Else the median of what its sync points say.
    """
    both = [(e.time_ns, e.nc_time_ns) for e in events if e.nc_time_ns is not None]
    if not both:
        return 0
    apart = np.array([float(host - core) for host, core in both])
    if abs(float(np.median(apart))) <= _ONE_CLOCK_NS:
        return 0
    told = [
        host - e.nc_time_ns
        for e in events
        if e.kind == _SYNC_POINT and e.nc_time_ns is not None
        and (host := integer(e.data.get("cpu_timestamp_ns"))) is not None
    ]  # fmt: skip
    if told:
        return sorted(told)[len(told) // 2]
    builder.report.repaired["time of a core that cannot be related to the host's: the host's is shown"] += len(both)
    return None


def _add(builder: TraceBuilder, events: list[_Event], offset_ns: int | None) -> int:
    """Add all events; returns how many executions ran on several cores."""
    tracks = HostTracks(builder)
    activities: list[Activity] = []
    runs: list[tuple[CoreRun, Activity]] = []
    for start, stop in _paired(events, builder):
        activity = _activity(tracks, start, stop, offset_ns)
        if stop is not None and activity.dur_ns is not None and activity.dur_ns < 0:
            builder.report.repaired[_STOP_FIRST] += 1
            activity.dur_ns = 0
        problem = activity.problem
        if problem:
            builder.report.left_out[problem] += 1 if stop is None else 2
            continue
        activities.append(activity)
        if activity.kind == EXECUTION and activity.dur_ns is not None:
            end_ns = activity.start_ns + activity.dur_ns if activity.dur_ns >= 0 else None
            core, exec_id = (integer(start.data.get(key)) for key in ("device_core_idx", "exec_id"))
            run = CoreRun(activity.process, start.nc, -1 if core is None else core,
                          -1 if exec_id is None else exec_id, activity.start_ns, end_ns)  # fmt: skip
            runs.append((run, activity))
    of_run = {id(run): activity for run, activity in runs}
    together = merged(run for run, _ in runs)
    for logical in together:
        first = of_run[id(logical.parts[0])]
        end_ns = logical.end_ns
        activities.append(
            Activity(
                name=first.name, kind=first.kind, track=tracks.execution(first.process, logical.parts[0].nc),
                process=first.process, level=first.level, start_ns=logical.start_ns,
                dur_ns=-1 if end_ns is None else end_ns - logical.start_ns, source_category=first.source_category,
                category="annotation", sequence=first.sequence,
                args={**first.args, "cores": sorted(part.core for part in logical.parts)},
            )
        )  # fmt: skip
    add_activities(builder, activities)
    return len(together)


def _paired(events: list[_Event], builder: TraceBuilder) -> list[tuple[_Event, _Event | None]]:
    """Starts with their stops, and moments; what has no partner is counted."""
    waiting: dict[tuple[str, int, int], deque[int]] = {}
    found: list[tuple[_Event, _Event | None]] = []
    for event in events:
        key = (event.kind, event.worker, event.tracking_id)
        if event.phase == "start" and event.tracking_id >= 0:
            waiting.setdefault(key, deque()).append(len(found))
            found.append((event, None))
        elif event.phase == "stop":
            starts = waiting.get(key)
            if starts:
                place = starts.popleft()
                found[place] = (found[place][0], event)
            else:
                builder.report.left_out[_NO_START] += 1
        else:
            found.append((event, None))
    unfinished = sum(len(starts) for starts in waiting.values())
    unfinished += sum(event.phase == "start" and event.tracking_id < 0 for event in events)
    if unfinished:
        builder.report.repaired[_NO_STOP] += unfinished
    return found


def _activity(tracks: HostTracks, start: _Event, stop: _Event | None, offset_ns: int | None) -> Activity:
    data = {**start.data, **(stop.data if stop else {})}
    process = tracks.process("", -1, f"worker {start.worker}" if start.worker >= 0 else "Neuron runtime")
    begin_ns = _time_ns(start, offset_ns)
    dur_ns = None
    if stop is not None:
        dur_ns = _time_ns(stop, offset_ns) - begin_ns
    elif start.phase == "start":
        dur_ns = -1
    hardware = start.kind in HARDWARE
    size = next((size for key in BYTES_KEYS if (size := integer(data.get(key))) is not None and size >= 0), -1)
    args = {key: value for key, value in data.items() if key not in _IN_COLUMNS}
    return Activity(
        name=_name(start.name, start.kind, data),
        kind=start.kind,
        track=_track(tracks, process, start),
        process=process,
        level=2 if hardware else 1,
        start_ns=begin_ns,
        dur_ns=dur_ns,
        source_category=start.kind,
        id=start.id,
        sequence=(start.sequence,) if start.sequence >= 0 else (),
        bytes=size,
        args=args,
    )


def _time_ns(event: _Event, offset_ns: int | None) -> int:
    return event.time_ns if event.nc_time_ns is None or offset_ns is None else event.nc_time_ns + offset_ns


def _name(name: str, kind: str, data: dict[str, Any]) -> str:
    """What to call it: an execution by its model, a collective by its operation, else by its type."""
    model = data.get("model_name")
    if kind == EXECUTION and isinstance(model, str) and model:
        return model
    if kind == COLLECTIVE:
        return next((op for key in ("cc_op", "op", "operation") if (op := collective_op(data.get(key)))), name)
    return name


def _track(tracks: HostTracks, process: int, event: _Event) -> int:
    if event.kind == EXECUTION:
        core = integer(event.data.get("device_core_idx"))
        return tracks.core(process, event.nc, -1 if core is None or not 0 <= core < 2**31 else core)
    if event.kind == COLLECTIVE:
        return tracks.collectives(process, event.nc)
    return tracks.notes(process, event.nc) if event.kind in HARDWARE else tracks.runtime(process, event.nc, event.tid)
