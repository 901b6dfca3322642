"""Structured compile logs and memory timelines like those torch writes."""

from __future__ import annotations

import json
from typing import Any

_HEADER = "V0728 16:17:28.{:03}000 4321 torch/_dynamo/utils.py:10] "
_TS_US = 1_753_719_448_000_000


def _entry(millis: int, rank: int, said: dict[str, Any], payload: Any = None) -> str:
    about = {**said, "rank": rank, "frame_id": 0, "frame_compile_id": 1, "attempt": 0}
    text = _HEADER.format(millis) + json.dumps(about) + "\n"
    if payload is not None:
        text += "".join(f"\t{part}\n" for part in json.dumps(payload, indent=0).split("\n"))
    return text


def _phase(millis: int, rank: int, ph: str, name: str) -> str:
    event = {"name": name, "ts": _TS_US + millis * 1000 + 0.5, "args": {"compile_id": "0/1"}, "ph": ph,
             "cat": "dynamo_timed", "tid": 0, "pid": 0}  # fmt: skip
    return _entry(millis, rank, {"chromium_event": {}, "has_payload": "x"}, event)


def log() -> bytes:
    """Two ranks that compile one frame each, their entries taking turns."""
    stack = [{"line": 7, "name": "main", "filename": 5}]
    metrics = {"co_name": "forward", "compile_id": "0/1", "fail_type": None, "inductor_compile_time_s": 0.5}
    entries = [
        part
        for rank in (0, 1)
        for part in (
            (1, _entry(1, rank, {"str": ["model.py", 5]})),
            (2, _phase(2, rank, "B", "dynamo")),
            (3, _entry(3, rank, {"dynamo_start": {"stack": stack}})),
            (4, _phase(4, rank, "i", "fx_graph_cache_miss")),
            (5, _entry(5, rank, {"artifact": {"name": "graph"}}, ["code", {"a": [1, None]}])),
            (6, _phase(6, rank, "E", "dynamo")),
            (7, _entry(7, rank, {"compilation_metrics": metrics})),
        )
    ]
    return "".join(text for _, text in sorted(entries, key=lambda entry: entry[0])).encode()


def timeline() -> bytes:
    """Allocations and frees, some from before recording began."""
    rows = [[-1, 1, 4096, 0], *([1000 + 7 * i, 2 + i % 3, (-1) ** i * 64 * i, i % 8] for i in range(40))]
    return json.dumps(rows).encode()


def documents() -> list[bytes]:
    """Whole files to begin from."""
    return [log(), timeline()]
