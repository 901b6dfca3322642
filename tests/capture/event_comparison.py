"""Traces as countable rows, for comparing what two ways of reading say of one run."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from trace_format import Trace

DERIVED = ("depth", "self_ns", "parent")
KINETOS_FRAME = "Trace"  # the category of the span that torch's exporter adds around everything


def described(trace: Trace, table: str, *left_out: str) -> Counter[str]:
    """The rows of a table as text, with what ids stand for in their place; without Kineto's frame."""
    frame = getattr(trace, table).to_pandas().drop(columns=list(left_out))
    if "source_category" in frame:
        frame = frame[frame["source_category"] != KINETOS_FRAME]
    if "track" in frame:
        tracks = trace.tracks
        lines = zip(tracks.pid, tracks.tid, tracks.text("kind"), tracks.text("name"), strict=True)
        frame["track"] = frame["track"].map(dict(enumerate(map(str, lines))))
    if "args" in frame:
        frame["args"] = [json.dumps(json.loads(a), sort_keys=True) if a else "" for a in frame["args"].astype(str)]
    return Counter(map(str, frame.astype(str).itertuples(index=False, name=None)))


def flows(trace: Trace) -> Counter[tuple[Any, ...]]:
    ends = [
        [(trace.slices.text("name")[row], int(trace.slices.ts_ns[row])) for row in column.tolist()]
        for column in (trace.flows.from_slice, trace.flows.to_slice)
    ]
    return Counter(zip(*ends, trace.flows.text("kind"), trace.flows.flow_id.tolist(), strict=True))
