"""Traces written down slice by slice, for tests that work their numbers out by hand."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import settings

from trace_format import CATEGORIES, Trace, TraceBuilder

# An example may take any time: the cores are shared, and the first one imports pandas.
untimed = settings(deadline=None)


class Script:
    """Collects slices; `trace()` is what they make. Times in nanoseconds."""

    def __init__(self) -> None:
        self.builder = TraceBuilder()

    def track(self, name: str = "thread 1", *, kind: str = "host_thread", **columns: int) -> int:
        return self.builder.track(name, kind=kind, **columns)

    def stream(self, name: str = "stream 7", **columns: int) -> int:
        return self.builder.track(name, kind="stream", **columns)

    def add(self, track: int, name: str, category: str, start: int, dur: int, **columns: Any) -> int:
        """Add a slice and return its number; `stack` is a list of frames, `args` a dict."""
        pool = self.builder.pool
        if "stack" in columns:
            columns["stack"] = pool.stack_id(columns["stack"])
        if "args" in columns:
            columns["args"] = pool.arg_sets.id(json.dumps(columns["args"]).encode())
        return self.builder["slices"].append(
            1, track=track, name=pool.strings.id(name), category=CATEGORIES.index(category), ts_ns=start, dur_ns=dur,
            **columns,
        )  # fmt: skip

    def op(self, track: int, name: str, start: int, dur: int, *shapes: Any, types: Any = None, values: Any = (),
           **columns: Any) -> int:  # fmt: skip
        """Add a host operator with recorded input shapes, float32 where `types` says nothing else."""
        types = types or ["float"] * len(shapes)
        args = {"Input Dims": list(shapes), "Input type": types, "Concrete Inputs": list(values)}
        return self.add(track, name, "host_op", start, dur, args=args, **columns)

    def memory(self, device: str, *events: tuple[int, int, int], **columns: int) -> None:
        """Allocations and frees as (time, delta, total)."""
        ts, delta, total = zip(*events, strict=True)
        self.builder["memory"].append(
            ts_ns=ts, device=self.builder.string(device), delta_bytes=delta, total_bytes=total, **columns
        )

    def trace(self, **metadata: Any) -> Trace:
        return self.builder.finish(metadata=metadata)
