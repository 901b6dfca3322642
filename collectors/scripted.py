"""A collector that records what it is told to: for tests, examples, and as a model for one of your own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from collectors.base import Budget, Clock

if TYPE_CHECKING:
    from trace_format import TraceBuilder


class Scripted:
    """Puts slices on a track: `slices` are (name, nanoseconds after the start, duration in nanoseconds)."""

    def __init__(
        self, slices: Sequence[tuple[str, int, int]], *, name: str = "scripted", budget: Budget | None = None
    ) -> None:
        self.name = name
        self.budget = budget or Budget()
        self.found = len(slices)
        self._slices = slices
        self._started_ns = 0

    def start(self, clock: Clock) -> None:
        self._started_ns = clock()

    def stop(self) -> None:
        """Nothing runs in between."""

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        track = builder.track(self.name, kind="runtime", host=host, rank=rank, pid=os.getpid())
        builder["slices"].append(
            len(self._slices),
            ts_ns=[self._started_ns + after for _, after, _ in self._slices],
            dur_ns=[duration for _, _, duration in self._slices],
            name=[builder.string(name) for name, _, _ in self._slices],
            track=track,
        )
        builder.report.source_events += len(self._slices)
