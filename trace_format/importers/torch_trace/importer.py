"""Reads a structured compile log into a trace: compile phases as slices, compiles, everything else as instants."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.errors import DamagedFileError
from trace_format.importers.clocks import is_unix
from trace_format.importers.source import Source
from trace_format.importers.torch_trace.compiles import Compile, compiles_table
from trace_format.importers.torch_trace.entries import Entry, entries
from trace_format.importers.trace_event_json.decode import batch_of, decode_event, usual_event
from trace_format.importers.trace_event_json.repair import mended
from trace_format.trace import Trace
from trace_format.trace_events import NO_DURATION, EventBatch, TraceEventAssembler

_EVENT, _METRICS, _START, _STRING = "chromium_event", "compilation_metrics", "dynamo_start", "str"
# Keys that say what an entry is about; its one other key says what kind of entry it is.
_ABOUT = (
    "rank", "frame_id", "frame_compile_id", "attempt", "compiled_autograd_id", "has_payload", "timestamp",
    "pathname", "lineno", "thread", "process",
)  # fmt: skip
_QUARTER_HOUR_NS = 900 * 10**9  # every time zone is a multiple of it away from UTC
_LOG_TID = "compile log"


class _Log:
    """What the entries seen so far have said."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.others: list[tuple[int, str, bytes]] = []  # local time, name, arguments
        self.strings: dict[Any, str] = {}
        self.compiles: list[Compile] = []
        self.triggers: dict[str, str] = {}
        self.rank: int | None = None
        self.zone_ns: int | None = None  # from the header's time (local, without a year) to unix time
        self.payload_bytes = 0


def read_torch_trace(source: Source) -> Trace:
    """The trace in a structured log (`TORCH_TRACE`), whose report counts every entry of it.

    Compile phases (chromium events) become slices; metrics become rows of `compiles`; every other entry is an instant
    that carries its metadata, but not its payload (graphs, generated code). Raises DamagedFileError where no entry
    could be read.
    """
    builder = TraceBuilder()
    assembler = TraceEventAssembler(builder)
    log, report = _Log(), builder.report
    for entry in entries(source.pieces()):
        if entry is None:
            report.repaired["line that belongs to no entry: not read"] += 1
        elif entry.said is None:
            report.source_events += 1
            report.left_out["entry that is no valid JSON"] += 1
        elif _EVENT in entry.said:
            _take_event(entry, log, builder)
        else:
            _take(entry, entry.said, log, builder)
    if not report.source_events and not log.events and not log.others:
        raise DamagedFileError(f"holds no whole entry: {source.damage or 'it ends too early'}", path=source.path)
    if source.damage:
        report.repaired[source.damage] += 1
    if log.events:
        assembler.add(batch_of(log.events))
    if log.others:
        assembler.add(_instants(log))
    assembler.finish(rank=-1 if log.rank is None else log.rank)
    trace = builder.finish()
    tables = trace.tables() | {"compiles": compiles_table(trace, log.compiles)}
    first = trace.time_range_ns[0] if trace.time_range_ns else 0
    described = {
        "format": "torch-structured-log",
        "path": source.path.name,
        "producer": "torch.compile (TORCH_TRACE)",
        "clock": "unix" if is_unix(first) else "unknown",
        "payload_bytes_left_out": log.payload_bytes,
    }
    metadata: dict[str, Any] = {"sources": [described]}
    if log.rank is not None:
        metadata["rank"] = log.rank
    return Trace.of(trace.pool, tables, metadata=metadata, report=report)


def _take_event(entry: Entry, log: _Log, builder: TraceBuilder) -> None:
    try:
        event = decode_event(entry.payload)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        value = mended(entry.payload)
        if value is None or not isinstance(value[0], dict) or "ph" not in value[0]:
            builder.report.source_events += 1
            builder.report.left_out["chromium event whose payload is no valid JSON"] += 1
            return
        event = usual_event(value[0], None)
        for cause in value[1]:
            builder.report.repaired[cause] += 1
    _note_rank(entry, log)
    log.events.append(event)
    if log.zone_ns is None:
        ts_ns = int(batch_of([event]).ts_ns[0])
        log.zone_ns = round((ts_ns - entry.since_new_year_ns) / _QUARTER_HOUR_NS) * _QUARTER_HOUR_NS


def _take(entry: Entry, said: dict[str, Any], log: _Log, builder: TraceBuilder) -> None:
    kind = next((key for key in said if key not in _ABOUT), "entry")
    _note_rank(entry, log)
    value = said.get(kind)
    if kind == _STRING and isinstance(value, list) and len(value) == 2:
        log.strings[value[1]] = str(value[0])
    elif kind == _START and isinstance(value, Mapping):
        log.triggers[_compile_id(said)] = _innermost(value.get("stack"), log.strings)
    elif kind == _METRICS and isinstance(value, Mapping):
        log.compiles.append(Compile.of(value, _compile_id(said), log.triggers.get(_compile_id(said), "")))
    log.payload_bytes += len(entry.payload)
    name = kind
    if isinstance(value, Mapping) and isinstance(value.get("name"), str):
        name = f"{kind} {value['name']}"
    log.others.append((entry.since_new_year_ns, name, json.dumps(said).encode("ascii")))


def _note_rank(entry: Entry, log: _Log) -> None:
    rank = (entry.said or {}).get("rank")
    if log.rank is None and isinstance(rank, int) and 0 <= rank < 2**31:
        log.rank = rank


def _compile_id(said: Mapping[str, Any]) -> str:
    """The id torch prints for a compile: frame and how often it was compiled before."""
    return f"{said.get('frame_id')}/{said.get('frame_compile_id')}"


def _innermost(stack: Any, strings: Mapping[Any, str]) -> str:
    """The user's frame that made torch compile, as file:line name; "" where the entry has none."""
    frame = stack[-1] if isinstance(stack, list) and stack else None
    if not isinstance(frame, Mapping):
        return ""
    file = frame.get("filename")
    return f"{strings.get(file, file)}:{frame.get('line')} {frame.get('name')}"


def _instants(log: _Log) -> EventBatch:
    count = len(log.others)
    shift = log.zone_ns or 0
    return EventBatch(
        ph=["i"] * count,
        name=[name for _, name, _ in log.others],
        cat=["torch_trace"] * count,
        ts_ns=np.array([when + shift for when, _, _ in log.others], np.int64),
        dur_ns=np.full(count, NO_DURATION, np.int64),
        pid=[0] * count,
        tid=[_LOG_TID] * count,
        args=[args for _, _, args in log.others],
    )
