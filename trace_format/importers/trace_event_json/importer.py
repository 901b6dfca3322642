"""Reads a trace-event JSON file into a trace."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.errors import DamagedFileError, UnsupportedFormatError
from trace_format.garbage import collection_paused
from trace_format.importers.clocks import is_unix, split_clocks
from trace_format.importers.recognition import BOM
from trace_format.importers.source import Source
from trace_format.importers.trace_event_json.envelope import BASE_KEY, SAMPLES_KEY, Envelope
from trace_format.importers.trace_event_json.events import EVENT_START, LONGEST_EVENT_START, NO_OBJECT
from trace_format.importers.trace_event_json.repair import as_float
from trace_format.importers.trace_event_json.restore import Restorer, StaleSectionError
from trace_format.importers.trace_event_json.text import Window
from trace_format.merge import append_trace
from trace_format.metadata import device_model
from trace_format.trace import Trace
from trace_format.trace_events import TraceEventAssembler
from trace_format.trace_events.c10d import group_size
from trace_format.trace_events.launches import launch_coverage, note_serial_overlaps
from trace_format.trace_events.stack_frames import StackFrames

_DEVICES_KEY = "deviceProperties"
_INTEGER = re.compile(r"-?[0-9]{1,19}")
_MOST_DOCUMENTS = 1000
_LEFT_OVER = re.compile(rb"[\s\]},]*")  # the ends of documents written into each other
_RANK_IN_NAME = re.compile(r"(?<![a-z])rank[-_.]?(\d{1,6})(?!\d)", re.IGNORECASE)


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
    """The trace of all documents in the file; each has a base of its own for its times, and may be another rank."""
    window = Window(source.pieces())
    window.skip(BOM)
    repaired: Counter[str] = Counter()
    if window.peek() == b'"':  # cut out of the middle of a file
        window.insert(b"[{")
        repaired["the file begins inside its list of events"] += 1
    documents = [_read_document(window, source, trust_section=trust_section)]
    first_base_ns = next(
        (s["base_time_ns"] for s in documents[0].metadata.get("sources", []) if "base_time_ns" in s), 0
    )
    while window.peek() != b"":
        window.skip(BOM)
        at = window.offset
        if len(documents) > 1 and window.ended and _LEFT_OVER.fullmatch(window.data, window.at):
            break
        further = _further(window, source, first_base_ns) if len(documents) < _MOST_DOCUMENTS else None
        if further is None:
            repaired[f"more text after the end of the trace: not read (byte {at})"] += 1
            break
        documents.append(further)
        repaired[f"a further document in the same file (byte {at})"] += 1
    trace = documents[0] if len(documents) == 1 else _joined(documents)
    trace.report.repaired.update(repaired)
    source.note_in(trace.report)
    return trace


def _further(window: Window, source: Source, base_ns: int) -> Trace | None:
    """The next document; where the rest is not the beginning of one, the events in it; None if there are none.

    `base_ns` is added to the times of events whose own document cannot be told.
    """
    try:
        if window.peek() in (b"{", b"["):
            return _read_document(window, source, trust_section=False)
        at = window.offset
        if not window.seek(EVENT_START, LONGEST_EVENT_START):
            return None
        trace = _read_document(window, source, trust_section=False, inside_base_ns=base_ns)
    except (UnsupportedFormatError, DamagedFileError):
        return None
    trace.report.repaired[f"documents written into each other: events from byte {at} on read as one list"] += 1
    return trace


def _joined(documents: Sequence[Trace]) -> Trace:
    """One trace with the tables of all documents; lines of different documents stay apart."""
    builder = TraceBuilder()
    for document in documents:
        append_trace(builder, document, {})
    sources = [
        {**described, "document": number}
        for number, document in enumerate(documents)
        for described in document.metadata.get("sources", [])
    ]
    ranks = {document.metadata.get("rank") for document in documents}
    first = {name: value for name, value in documents[0].metadata.items() if name != "rank" or len(ranks) == 1}
    models = [{"name": document.metadata.get("device_model")} for document in documents]
    model = device_model(models)
    return builder.finish(metadata={**first, **({"device_model": model} if model else {}), "sources": sources})


def _read_document(window: Window, source: Source, *, trust_section: bool, inside_base_ns: int | None = None) -> Trace:
    """One document. `inside_base_ns`: the window stands inside a list of events, whose base this is."""
    builder = TraceBuilder()
    assembler = TraceEventAssembler(builder)
    restorer: Restorer | None = None
    envelope = Envelope(window, str(source.path), builder.report)
    is_trace, objects = False, 0
    for batch in envelope.batches() if inside_base_ns is None else envelope.stray_events():
        if not is_trace and envelope.section and trust_section:
            restorer = Restorer(envelope.section)
            envelope.section = b""
        is_trace = is_trace or any(batch.ph)
        objects += len(batch)
        (assembler if restorer is None else restorer).add(batch)
    if restorer is None and envelope.section and trust_section and not builder.report.source_events:
        restorer = Restorer(envelope.section)
    if restorer is not None:
        if builder.report.left_out:
            raise StaleSectionError("some of the events cannot be read")
        restored = restorer.finish(_base_ns(envelope.keys, restorer.time_range_ns))
        restored.report.repaired.update(builder.report.repaired)
        return restored
    lost = builder.report.left_out
    if not is_trace and (objects or set(lost) == {NO_OBJECT}):
        raise UnsupportedFormatError("is JSON, but no trace: nothing in it is an event", path=source.path)
    if not objects and (source.damage or lost):
        cause = source.damage or lost.most_common(1)[0][0]
        raise DamagedFileError(f"holds no event that can be read: {cause}; get it anew", path=source.path)
    samples = envelope.keys.pop(SAMPLES_KEY, None)
    job = _job(envelope.keys, source.path.name)
    assembler.finish(
        rank=job.get("rank", -1),
        ranks=group_size(envelope.keys.get("distributedInfo")),
        host=job.get("host", ""),
        frames=StackFrames(envelope.keys.get("stackFrames"), builder.pool),
        samples=samples if isinstance(samples, list) else (),
    )
    trace = builder.finish()
    keys = envelope.keys if inside_base_ns is None else {BASE_KEY: inside_base_ns}
    base_ns = _base_ns(keys, trace.time_range_ns)
    if BASE_KEY in keys and not base_ns and keys[BASE_KEY] != 0:
        trace.report.repaired[f"{BASE_KEY} that no time can have: not used"] += 1
    note_serial_overlaps(trace)
    rank_from = job.pop("rank_from", None)
    metadata = job | _metadata(source, envelope, assembler, trace, base_ns)
    if rank_from is not None:
        metadata["sources"][0]["rank_from"] = rank_from
    return split_clocks(Trace.of(trace.pool, _later(trace, base_ns), metadata=metadata, report=trace.report))


def _base_ns(keys: dict[str, Any], time_range_ns: tuple[int, int] | None) -> int:
    """What is to be added to every time; 0 where the file names no base, or one that no int64 time can have."""
    base = keys.get(BASE_KEY)
    if (isinstance(base, str) and _INTEGER.fullmatch(base)) or (isinstance(base, Decimal) and abs(base) < 2**63):
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


def _job(keys: dict[str, Any], file_name: str) -> dict[str, Any]:
    """What the file says of the job: rank, world_size, host; what it does not say is left out.

    A file that does not state its rank may have it in its name.
    """
    distributed = keys.get("distributedInfo")
    out: dict[str, Any] = {}
    if isinstance(distributed, dict):
        for name in ("rank", "world_size"):
            value = distributed.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
                out[name] = value
    named = _RANK_IN_NAME.search(file_name)
    if "rank" not in out and named:
        out |= {"rank": int(named[1]), "rank_from": "file name"}
    if isinstance(keys.get("host_name"), str):
        out["host"] = keys["host_name"]
    return out


def _metadata(
    source: Source, envelope: Envelope, assembler: TraceEventAssembler, trace: Trace, base_ns: int
) -> dict[str, Any]:
    keys = {name: as_float(value) if isinstance(value, Decimal) else value for name, value in envelope.keys.items()}
    first = trace.time_range_ns[0] + base_ns if trace.time_range_ns else 0
    described: dict[str, Any] = {
        "format": "trace-event-json",
        "path": source.path.name,
        "producer": _producer(keys),
        "clock": "unix" if is_unix(first) else "unknown",
        "base_time_ns": base_ns,
    }
    if "schemaVersion" in keys:
        described["schema_version"] = keys["schemaVersion"]
    launches = launch_coverage(trace)
    if launches:
        described["launches"] = launches
    if envelope.dropped:
        described["keys_left_out"] = envelope.dropped
    out: dict[str, Any] = {"sources": [described]}
    if assembler.other_metadata:
        out["source_metadata_events"] = assembler.other_metadata
    if keys:
        out["source_metadata"] = keys
    model = device_model(keys.get(_DEVICES_KEY))
    if model is not None:
        out["device_model"] = model
    return out


def _producer(keys: dict[str, Any]) -> str:
    """Who wrote the file, as far as its keys give it away; "unknown" otherwise."""
    if "schemaVersion" in keys and (_DEVICES_KEY in keys or "traceName" in keys):
        return "torch.profiler (Kineto)"
    if "viztracer_metadata" in keys:
        return "viztracer"
    return "unknown"
