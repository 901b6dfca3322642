"""Traces of training written down step by step, in milliseconds, for findings whose sizes are worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trace_format import CATEGORIES, Trace, TraceBuilder

MS = 1_000_000


class Training:
    """Steps of one or more ranks: a thread of the host for each, and the streams of device 0 where work is launched.

    All times are in milliseconds and may be fractions.
    """

    def __init__(self, steps: int, step_ms: float, *, ranks: Sequence[int] = (-1,)) -> None:
        self.builder = TraceBuilder()
        self.threads = {
            rank: self.builder.track("python", kind="host_thread", pid=1, tid=1, rank=rank) for rank in ranks
        }
        self._streams: dict[tuple[int, int], int] = {}
        self._correlation = 0
        self.starts = [number * step_ms for number in range(steps)]
        for rank in ranks:
            for number, start in enumerate(self.starts):
                self.host(f"ProfilerStep#{number}", start, step_ms, "annotation", rank=rank)

    def host(
        self, name: str, start: float, dur: float, category: str = "host_op", *, rank: int = -1, **columns: Any
    ) -> int:
        return self.add(self.threads[rank], name, start, dur, category, **columns)

    def work(self, start: float, dur: float, *, called: float | None = None, name: str = "kernel",
             category: str = "compute", stream: int = 7, rank: int = -1, **columns: Any) -> int:  # fmt: skip
        """Work on the device; `called` is when the host launched it, with a call of 1 µs."""
        if called is not None:
            self._correlation += 1
            columns["correlation"] = self._correlation
            self.host("cudaLaunchKernel", called, 0.001, "runtime", rank=rank, correlation=self._correlation)
        track = self._streams.get((rank, stream))
        if track is None:
            track = self.builder.track(f"stream {stream}", kind="stream", device=0, rank=rank)
            self._streams[rank, stream] = track
        return self.add(track, name, start, dur, category, **columns)

    def collective(self, slice_row: int, op: str = "all_reduce", size: int = 1000, *, rank: int = -1) -> None:
        self.builder["collectives"].append(
            1, slice=slice_row, op=self.builder.string(op), in_bytes=size, out_bytes=size, rank=rank
        )

    def add(self, track: int, name: str, start: float, dur: float, category: str, **columns: Any) -> int:
        return self.builder["slices"].append(
            1, track=track, name=self.builder.string(name), category=CATEGORIES.index(category),
            ts_ns=round(start * MS), dur_ns=round(dur * MS), **columns,
        )  # fmt: skip

    def trace(self, **metadata: Any) -> Trace:
        return self.builder.finish(metadata=metadata)
