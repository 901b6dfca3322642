"""Traces of operators on a host thread, written down one by one. Times in microseconds."""

from __future__ import annotations

from typing import Any

from calls import arguments

from trace_format import CATEGORIES, Trace, TraceBuilder

US = 1000


class Host:
    """A host thread of one rank in the trace of a builder."""

    def __init__(self, builder: TraceBuilder | None = None, *, rank: int = -1) -> None:
        self.builder = builder or TraceBuilder()
        self.track = self.builder.track(f"thread of {rank}", kind="host_thread", rank=rank)

    def op(self, name: str, start: float, dur: float, *given: dict[str, Any], category: str = "host_op") -> int:
        """Add an operator and return its number; without arguments its shapes were not recorded."""
        args = self.builder.pool.arg_sets.id(arguments(*given)) if given else 0
        return self.builder["slices"].append(
            1, ts_ns=round(start * US), dur_ns=round(dur * US), track=self.track, name=self.builder.string(name),
            category=CATEGORIES.index(category), args=args,
        )  # fmt: skip

    def mark(self, name: str, start: float, dur: float) -> int:
        """Add a range that the profiler or the user named."""
        return self.op(name, start, dur, category="annotation")

    def trace(self, **metadata: Any) -> Trace:
        return self.builder.finish(metadata=metadata)


def simulated_slices(trace: Trace, line: str, *, rank: int = -1) -> list[tuple[str, int, int]]:
    """(name, start, duration) of the slices on the simulated track of this name, in ns, in order."""
    tracks, slices = trace.tracks, trace.slices
    names = tracks.text("name")
    (track,) = (
        i for i in range(len(tracks))
        if names[i] == f"{line} (simulated)" and tracks.simulated[i] and tracks.rank[i] == rank
    )  # fmt: skip
    texts = slices.text("name")
    return [
        (texts[i], int(slices.ts_ns[i]), int(slices.dur_ns[i])) for i in range(len(slices)) if slices.track[i] == track
    ]
