"""Small trace-event files for tests."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from trace_format import Trace
from trace_format.importers import load_file


def load_text(folder: Path, text: str | bytes, name: str = "trace.json") -> Trace:
    """The trace in a file with this text; gzipped if its name ends in .gz."""
    data = text if isinstance(text, bytes) else text.encode()
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    trace = load_file(path)
    report = trace.report.to_dict()
    assert report["kept"] + sum(report["left_out"].values()) == report["source_events"]
    return trace


def load_events(folder: Path, events: list[dict[str, Any]], **keys: Any) -> Trace:
    """The trace in a file with these events, and these keys beside them."""
    return load_text(folder, json.dumps({**keys, "traceEvents": events}))


def complete(name: str, ts: float, dur: float, **fields: Any) -> dict[str, Any]:
    """An X event on pid 1, tid 1 unless `fields` say otherwise."""
    return {"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, **fields}


def event(ph: str, name: str, ts: float, **fields: Any) -> dict[str, Any]:
    return {"ph": ph, "name": name, "pid": 1, "tid": 1, "ts": ts, **fields}
