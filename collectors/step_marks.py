"""The steps of a program, as whoever runs it sees them pass."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from collectors.base import Budget, Clock

if TYPE_CHECKING:
    from trace_format import TraceBuilder

# torch.profiler.profile.step() calls its own marks so (torch/profiler/profiler.py), and every reader knows them by it
_NAME = "ProfilerStep#{}"


class StepMarks:
    """Puts a line with the steps of the window under the process: each ends where `mark` is called.

    The steps are numbered from `first`. What comes after the last mark is no step.
    """

    name = "steps"
    budget = Budget()

    def __init__(self, first: int) -> None:
        self._first = first
        self._clock: Clock | None = None
        self._ends_ns: list[int] = []
        self._start_ns = 0
        self.found = 0

    def start(self, clock: Clock) -> None:
        self._clock, self._start_ns = clock, clock()

    def stop(self) -> None:
        """Nothing is running."""

    def mark(self) -> None:
        """A step ends now."""
        if self._clock is not None:
            self._ends_ns.append(self._clock())

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        from trace_format import CATEGORIES

        self.found = len(self._ends_ns)
        if not self.found:
            return
        track = builder.track("steps", kind="host_thread", host=host, rank=rank, pid=os.getpid(), sort_index=-1)
        ends_ns = np.array(self._ends_ns, np.int64)
        starts_ns = np.array([self._start_ns, *self._ends_ns[:-1]], np.int64)
        names = [builder.string(_NAME.format(self._first + number)) for number in range(self.found)]
        builder["slices"].append(
            self.found, track=track, ts_ns=starts_ns, dur_ns=ends_ns - starts_ns, name=np.array(names),
            category=CATEGORIES.index("annotation"), source_category=builder.string("user_annotation"),
        )  # fmt: skip
        builder.report.source_events += self.found
