"""Reads a trace-event JSON file into a trace."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.errors import DamagedFileError, UnsupportedFormatError
from trace_format.garbage import collection_paused
from trace_format.importers.source import Source
from trace_format.importers.trace_event_json.envelope import Envelope
from trace_format.importers.trace_event_json.restore import Restorer, StaleSectionError
from trace_format.trace import Trace
from trace_format.trace_events import TraceEventAssembler

_BASE_KEY = "baseTimeNanoseconds"
_UNIX_NS = (10**18, 4 * 10**18)  # 2001 to 2096: what a clock that counts from 1970 says


def read_trace_events(source: Source) -> Trace:
    """The trace in a trace-event JSON file, whose report counts every event of it.

    A file this project exported comes back as it was, unless its events were changed since: then they count, and
    the section beside them does not. Raises UnsupportedFormatError for JSON that is no trace, DamagedFileError
    where no event could be read.
    """
    with collection_paused():
        try:
            return _read(source, trust_section=True)
        except StaleSectionError:
            trace = _read(source, trust_section=False)
            trace.report.repaired["neuronProfile section that does not match the events: not used"] += 1
            return trace


def _read(source: Source, *, trust_section: bool) -> Trace:
    builder = TraceBuilder()
    assembler = TraceEventAssembler(builder)
    restorer: Restorer | None = None
    envelope = Envelope(source.pieces(), str(source.path), builder.report)
    is_trace, objects = False, 0
    for batch in envelope.batches():
        if not is_trace and envelope.section and trust_section:
            restorer = Restorer(envelope.section)
            envelope.section = b""
        is_trace = is_trace or any(batch.ph)
        objects += len(batch)
        (assembler if restorer is None else restorer).add(batch)
    if restorer is None and envelope.section and trust_section and not builder.report.source_events:
        restorer = Restorer(envelope.section)
    if restorer is not None:
        return restorer.finish(_base_ns(envelope.keys, restorer.time_range_ns))
    if not objects and (source.damage or builder.report.left_out):
        raise DamagedFileError(f"holds no whole event: {source.damage or 'it ends too early'}", path=source.path)
    if objects and not is_trace:
        raise UnsupportedFormatError("is JSON, but no trace: nothing in it is an event", path=source.path)
    if source.damage:
        builder.report.repaired[source.damage] += 1
    job = _job(envelope.keys)
    assembler.finish(rank=job.get("rank", -1), host=job.get("host", ""))
    trace = builder.finish()
    base_ns = _base_ns(envelope.keys, trace.time_range_ns)
    metadata = job | _metadata(source, envelope, assembler, trace, base_ns)
    return Trace.of(trace.pool, _later(trace, base_ns), metadata=metadata, report=trace.report)


def _base_ns(keys: dict[str, Any], time_range_ns: tuple[int, int] | None) -> int:
    """What is to be added to every time; 0 where the file names no base, or one that no int64 time can have."""
    base = keys.get(_BASE_KEY)
    if isinstance(base, str) and base.lstrip("-").isdigit():
        base = int(base)
    if isinstance(base, bool) or not isinstance(base, int):
        return 0
    first, last = time_range_ns or (0, 0)
    return base if first + base > -(2**63) and last + base < 2**63 else 0


def _later(trace: Trace, base_ns: int) -> dict[str, Any]:
    """The trace's tables with `base_ns` added to every time."""
    tables = trace.tables()
    if base_ns:
        for name, table in tables.items():
            if "ts_ns" in table.COLUMNS and len(table):
                columns = table.stored()
                columns["ts_ns"] = columns["ts_ns"] + np.int64(base_ns)
                tables[name] = type(table)(columns, trace.pool)
    return tables


def _job(keys: dict[str, Any]) -> dict[str, Any]:
    """What the file says of the job: rank, world_size, host; what it does not say is left out."""
    distributed = keys.get("distributedInfo")
    out: dict[str, Any] = {}
    if isinstance(distributed, dict):
        for name in ("rank", "world_size"):
            value = distributed.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
                out[name] = value
    if isinstance(keys.get("host_name"), str):
        out["host"] = keys["host_name"]
    return out


def _metadata(
    source: Source, envelope: Envelope, assembler: TraceEventAssembler, trace: Trace, base_ns: int
) -> dict[str, Any]:
    keys = {name: _plain(value) for name, value in envelope.keys.items()}
    first = trace.time_range_ns[0] + base_ns if trace.time_range_ns else 0
    described: dict[str, Any] = {
        "format": "trace-event-json",
        "path": source.path.name,
        "producer": _producer(keys),
        "clock": "unix" if _UNIX_NS[0] <= first < _UNIX_NS[1] else "unknown",
        "base_time_ns": base_ns,
    }
    if "schemaVersion" in keys:
        described["schema_version"] = keys["schemaVersion"]
    if envelope.dropped:
        described["keys_left_out"] = envelope.dropped
    out: dict[str, Any] = {"sources": [described]}
    if assembler.other_metadata:
        out["source_metadata_events"] = assembler.other_metadata
    if keys:
        out["source_metadata"] = keys
    return out


def _producer(keys: dict[str, Any]) -> str:
    """Who wrote the file, as far as its keys give it away; "unknown" otherwise."""
    if "schemaVersion" in keys and ("deviceProperties" in keys or "traceName" in keys):
        return "torch.profiler (Kineto)"
    if "viztracer_metadata" in keys:
        return "viztracer"
    return "unknown"


def _plain(value: Any) -> Any:
    """A decoded JSON value with every number an int or a float."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value
