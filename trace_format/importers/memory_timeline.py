"""Reads the raw memory timeline of torch.profiler (`export_memory_timeline("….raw.json.gz")`)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.errors import DamagedFileError, LimitExceededError
from trace_format.importers.clocks import is_unix
from trace_format.importers.source import Source
from trace_format.trace import Trace

# torch/profiler/_memory_profiler.py: Action, and _CATEGORY_TO_INDEX in the order of _CATEGORY_TO_COLORS
_PREEXISTING = 1
_CATEGORIES = (
    "parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd_detail", "",
)  # fmt: skip
_LARGEST_BYTES = 1 << 30  # some 40 million rows
_ROWS = msgspec.json.Decoder(list[tuple[int, int, int, int]])
_VALUES = msgspec.json.Decoder(list[msgspec.Raw])
_ONE = msgspec.json.Decoder(tuple[int, int, int, int])


def read_memory_timeline(source: Source) -> Trace:
    """The trace in a raw memory timeline: a row of the memory table for each entry, `total_bytes` their running sum.

    What existed before recording began stands at the time of the first entry that has one. The file does not say
    which device it is about. Raises DamagedFileError where the text is no JSON array.
    """
    text = bytearray()
    for piece in source.pieces():
        text += piece
        if len(text) > _LARGEST_BYTES:
            raise LimitExceededError(f"is a memory timeline of more than {_LARGEST_BYTES} bytes", path=source.path)
    builder = TraceBuilder()
    rows = _rows(bytes(text), source, builder)
    if source.damage:
        builder.report.repaired[source.damage] += 1
    builder.report.source_events += len(rows)
    ts, action, delta, category = np.array(rows, np.int64).reshape(-1, 4).T
    timed = ts[ts >= 0]
    began = int(timed.min()) if len(timed) else 0
    before = (ts < 0) | (action == _PREEXISTING)
    when = np.where(before, began, ts)
    order = np.argsort(when, kind="stable")
    names = [builder.string(name) for name in _CATEGORIES]
    builder["memory"].append(
        len(rows),
        ts_ns=when[order],
        delta_bytes=delta[order],
        total_bytes=np.cumsum(delta[order]),
        category=np.array(names, np.int64)[np.clip(category, 0, len(names) - 1)][order],
    )
    described = {
        "format": "torch-memory-timeline",
        "path": source.path.name,
        "producer": "torch.profiler",
        "clock": "unix" if is_unix(began) else "unknown",
        "present_before": int(before.sum()),
    }
    return builder.finish(metadata={"sources": [described]})


def _rows(text: bytes, source: Source, builder: TraceBuilder) -> list[tuple[int, int, int, int]]:
    values = _values(text)
    if values is None:  # cut off, most likely: up to the last entry that is whole
        values = _values(text[: text.rfind(b"]") + 1] + b"]")
        if values is None:
            raise DamagedFileError("is a memory timeline that is no valid JSON", path=source.path)
        builder.report.repaired[f"the file ends before its list of entries does (byte {len(text)})"] += 1
    rows = []
    for value in values:
        try:
            row = _ONE.decode(value) if isinstance(value, msgspec.Raw) else value
        except msgspec.ValidationError:
            row = None
        if row is not None and all(-(2**62) < number < 2**62 for number in row):
            rows.append(row)
        else:
            builder.report.source_events += 1
            builder.report.left_out["entry that is not [time, action, bytes, category]"] += 1
    return rows


def _values(text: bytes) -> Sequence[tuple[int, int, int, int] | msgspec.Raw] | None:
    """The entries; each as text where not all of them are entries; None where the text is no JSON array."""
    try:
        return _ROWS.decode(text)
    except msgspec.ValidationError:
        pass
    except msgspec.DecodeError:
        return None
    try:
        return _VALUES.decode(text)
    except msgspec.DecodeError:
        return None
