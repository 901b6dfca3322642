"""Reads a system profile as JSON (`neuron-explorer view --output-format json`, `neuron-profile view`).

Documented (AWS Neuron docs): the lists `trace_event` (older: `trace_events`), `cpu_util`, `mem_usage`,
`device_mem_usage`, `device_profile_list`, `warnings`, the object `system_profile_metadata`; the fields of their rows
as read below; AWS's viewer groups events by instance, process and framework thread or core.

Tolerated, for no such file is public: fields that are not listed (kept as arguments), numbers written as text, one
row in place of a list, other units of time that `timestamp_unit` names, a file cut off. Not told is whether `util`
and `percent_usage` are fractions: where any value of a list is above 1 they are taken for percent, else for fractions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from trace_format.builder import TraceBuilder
from trace_format.errors import DamagedFileError
from trace_format.garbage import collection_paused
from trace_format.importers.clocks import is_unix
from trace_format.importers.neuron_system.activity import Activity, add_activities
from trace_format.importers.neuron_system.document import Document, Text, objects, read_document
from trace_format.importers.neuron_system.event_types import COLLECTIVE, EXECUTION, HARDWARE, event_type
from trace_format.importers.neuron_system.tracks import HostTracks
from trace_format.importers.neuron_system.usage import COUNTER_LISTS, add_usage
from trace_format.importers.neuron_system.values import integer, text
from trace_format.importers.source import Source
from trace_format.trace import Trace

_EVENT_LISTS = ("trace_event", "trace_events")
_FRAMEWORK_TYPE = 99999  # AWS Neuron docs, system profile: the type of what a framework recorded
_UNIT_NS = {"": 1, "ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_GROUP_CORE = re.compile(r"nrt-nc-(\d{1,6})")
_SEQUENCE_KEYS = ("nrta_seq_id", "nrt_sequence_id", "flow_id")
_IN_COLUMNS = frozenset(
    {
        "name", "timestamp", "duration", "timestamp_unit", "instance_id", "process_id", "thread_id", "stream_id",
        "nc_idx", "device_core_idx", "size", "id", "parent_id", "group", "type", "nc_start_timestamp_ns",
        "nc_stop_timestamp_ns", *_SEQUENCE_KEYS,
    }
)  # fmt: skip
_WARNING_LENGTH, _MOST_WARNINGS = 300, 100


def read_system_json(source: Source) -> Trace:
    """The trace in a system profile: framework, runtime and hardware by process, counters of CPU and memory.

    Its warnings stand in the report. Raises DamagedFileError where nothing of it can be read.
    """
    with collection_paused():
        return _read(source)


def _read(source: Source) -> Trace:
    document = read_document(source)
    lists = {key: _rows(document, key) for key in (*_EVENT_LISTS, *COUNTER_LISTS)}
    builder = TraceBuilder()
    report = builder.report
    report.source_events = sum(map(len, lists.values())) + document.lost.total()
    report.left_out.update(document.lost)
    report.repaired.update(document.repaired)
    source.note_in(report)
    tracks = HostTracks(builder)
    instances: set[str] = set()
    events = [item for key in _EVENT_LISTS for item in lists[key]]
    add_events(builder, tracks, events, instances)
    for key in COUNTER_LISTS:
        add_usage(builder, tracks, key, list(objects(lists[key])))
    told = document.values.get("system_profile_metadata")
    if isinstance(told, list) and told:
        told = told[0]
    if not report.kept and not isinstance(told, dict):
        raise DamagedFileError("is a system profile of which no row can be read", path=source.path)
    for warning in list(objects(_rows(document, "warnings")))[:_MOST_WARNINGS]:
        report.repaired[f"the profiler warns: {text(warning.get('message'))[:_WARNING_LENGTH]}".replace("\n", " ")] += 1
    trace = builder.finish()
    span = trace.time_range_ns
    described: dict[str, Any] = {
        "format": "neuron-system-json",
        "path": source.path.name,
        "producer": "neuron-explorer",
        "clock": "unix" if span and is_unix(span[0]) else "unknown",
        "instances": len(instances),
        "device_profiles": len(_rows(document, "device_profile_list")),
    }
    if isinstance(told, dict):
        described |= {key: value for key in ("ntff_version", "hbm_capacity_bytes")
                      if (value := integer(told.get(key))) is not None}  # fmt: skip
    metadata: dict[str, Any] = {"sources": [described]}
    pids = {pid for pid in trace.tracks.pid.tolist() if pid >= 0}
    if len(pids) == 1:
        metadata["pid"] = pids.pop()
    return Trace.of(trace.pool, trace.tables(), metadata=metadata, report=trace.report)


def _rows(document: Document, key: str) -> Sequence[Text]:
    """The rows of a list; that of one written without its list is one row."""
    if key in document.lists:
        return document.lists[key]
    alone = document.values.get(key)
    return [msgspec.json.encode(alone)] if isinstance(alone, dict) and alone else []


def add_events(builder: TraceBuilder, tracks: HostTracks, items: Sequence[Text], instances: set[str]) -> None:
    activities = []
    for item in objects(items):
        unit = text(item.get("timestamp_unit")).lower()
        if unit not in _UNIT_NS:
            builder.report.repaired["timestamp_unit that is not known: taken for ns"] += 1
        scale = _UNIT_NS.get(unit, 1)
        start = integer(item.get("timestamp"))
        name = text(item.get("name"))
        if start is None or not name:
            cause = "event without a time" if name else "event without a name" if item else "item that is no event"
            builder.report.left_out[cause] += 1
            continue
        instance = text(item.get("instance_id"))
        instances.add(instance)
        activity = _activity(tracks, item, name, start * scale, scale)
        if activity.dur_ns is not None and activity.dur_ns < 0:
            builder.report.repaired["duration below zero: shown as not finished"] += 1
            activity.dur_ns = -1
        if activity.problem:
            builder.report.left_out[activity.problem] += 1
        else:
            activities.append(activity)
    add_activities(builder, activities)


def _activity(tracks: HostTracks, item: dict[str, Any], name: str, start_ns: int, scale: int) -> Activity:
    group = text(item.get("group"))
    kind = event_type(name)
    framework = integer(item.get("type")) == _FRAMEWORK_TYPE or group.startswith("framework")
    hardware = not framework and (kind in HARDWARE or item.get("nc_start_timestamp_ns") is not None)
    duration = integer(item.get("duration"))
    pid = integer(item.get("process_id"))
    process = tracks.process(text(item.get("instance_id")), -1 if pid is None or pid < 0 else pid)
    size = integer(item.get("size"))
    row_id, parent_id = integer(item.get("id")), integer(item.get("parent_id"))
    if hardware and kind not in HARDWARE:
        kind = EXECUTION  # only an execution has times of a core
    if framework:
        kind = "framework"
    return Activity(
        name=_name(name, kind, item),
        kind=kind,
        track=_track(tracks, process, item, kind, group),
        process=process,
        level=0 if framework else 2 if hardware else 1,
        start_ns=start_ns,
        dur_ns=None if duration is None else duration * scale,
        source_category=kind,
        category="host_op" if framework else "",
        id=-1 if row_id is None or row_id < 0 else row_id,
        parent_id=-1 if parent_id is None or parent_id < 0 else parent_id,
        sequence=_sequence(item),
        bytes=-1 if size is None or size < 0 else size,
        args={key: value for key, value in item.items() if key not in _IN_COLUMNS and value not in (None, "")},
    )


def _track(tracks: HostTracks, process: int, item: dict[str, Any], kind: str, group: str) -> int:
    tid, nc, core, stream = (
        -1 if (value := integer(item.get(key))) is None or value < 0 else value
        for key in ("thread_id", "nc_idx", "device_core_idx", "stream_id")
    )
    if kind == "framework":
        return tracks.stream(process, stream) if stream >= 0 else tracks.thread(process, tid)
    told = _GROUP_CORE.fullmatch(group)
    if nc < 0 and told:
        nc = int(told[1])
    if kind == EXECUTION:
        return tracks.core(process, nc, core if core < 2**31 else -1)
    if kind == COLLECTIVE:
        return tracks.collectives(process, nc)
    return tracks.notes(process, nc) if kind in HARDWARE else tracks.runtime(process, nc, tid)


def _name(name: str, kind: str, item: dict[str, Any]) -> str:
    model = item.get("model_name")
    return model if kind == EXECUTION and event_type(name) == EXECUTION and isinstance(model, str) and model else name


def _sequence(item: dict[str, Any]) -> tuple[int, ...]:
    for key in _SEQUENCE_KEYS:
        given = item.get(key)
        numbers = [integer(value) for value in (given if isinstance(given, list) else [given])]
        found = tuple(number for number in numbers if number is not None and number >= 0)
        if found:
            return found
    return ()
