"""The profile that is being read: what the records of all kinds need, and where their rows go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.importers.neuron_device.tracks import DeviceTracks
from trace_format.importers.ntff.container import Clock, Container, CoreTrace
from trace_format.importers.ntff.records import RECORD_BYTES, Segments, record_pieces
from trace_format.importers.ntff.runs import RunTime
from trace_format.importers.ntff.times import FURTHEST_PS, DeviceTime
from trace_format.importers.source import Source

Array = np.ndarray

_FIRST_WITH_END = 6  # the first version whose runs keep no rows that end after them; worked out from AWS's JSON


@dataclass
class Profile:
    """An NTFF file on its way to a trace. `segments`: those that are read; `family`: trn1, trn2, ..., "" if unknown."""

    source: Source
    container: Container
    segments: Segments
    builder: TraceBuilder
    tracks: DeviceTracks
    time: DeviceTime
    runs: list[RunTime]
    family: str

    @property
    def end_ps(self) -> int:
        """When the last run ended, in the time of rows: picoseconds since the first one began."""
        return max((run.end_ps - self.time.zero_ps for run in self.runs), default=0)

    def run_of(self, start: Array, end: Array) -> Array:
        """`(n,) int64` which run each row belongs to, as AWS's tool has it; -1 for none.

        A row belongs to the last run that began before it, if, from version 6 on, it ends in that.
        """
        if not self.runs:
            return np.full(len(start), -1)
        began = np.array([run.start_ps - self.time.zero_ps for run in self.runs], np.int64)
        ended = began + np.array([run.total_ps for run in self.runs], np.int64)
        run = np.searchsorted(began, start, "right") - 1
        if self.container.version >= _FIRST_WITH_END:
            run[end > ended[run]] = -1
        return run

    def records(self, core: CoreTrace, kind: int) -> Iterator[Array]:
        """The records of a kind that a core has, some megabytes at a time."""
        segments = self.segments.get((core.core, kind), ())
        missing = sum(segment.size for segment in segments) // RECORD_BYTES
        for piece in record_pieces(self.source, self.container, segments):
            missing -= len(piece)
            yield piece
        self.leave_out("record that could not be read from the disk", missing)

    def timed(self, records: Array, clock: Clock) -> tuple[Array, Array]:
        """The records whose time can be, and their times in picoseconds since the first run began."""
        since = self.time.since_zero(records["ts"], clock)
        near = (since > -FURTHEST_PS) & (since < FURTHEST_PS)
        self.leave_out("record whose time lies more than a day from the run", int((~near).sum()))
        return records[near], since[near]

    def leave_out(self, cause: str, records: int) -> None:
        self.builder.report.lose(cause, records)
