"""When the runs of the program began and ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trace_format.importers.ntff.container import INSTRUCTIONS, Container, CoreTrace
from trace_format.importers.ntff.programs import TAG_MASK, Program
from trace_format.importers.ntff.records import ENDS, Segments, engines_and_phases, record_pieces
from trace_format.importers.ntff.times import FURTHEST_PS, picoseconds
from trace_format.importers.source import Source

Array = np.ndarray

_TENSOR = 1  # as records number engines
_MOST_RUNS = 1 << 13  # real files have one


@dataclass(frozen=True, slots=True)
class RunTime:
    """One run: picoseconds of the device."""

    start_ps: int
    total_ps: int

    @property
    def end_ps(self) -> int:
        return self.start_ps + self.total_ps


def run_times(
    source: Source,
    container: Container,
    segments: Segments,
    programs: Mapping[int, Mapping[str, Program]],
    problems: list[str],
) -> list[RunTime]:
    """The runs in order of time. `programs`: by core and engine. Empty where the file has no instruction at all.

    From version 6 on the file names them. Before that there is one, which begins at the end of the Tensor engine's
    NOTIFY of a start; a rule fitted to AWS's JSON of version 5 on inf2. Where there is none, it begins with the first
    instruction, and `problems` says so.
    """
    told = [RunTime(start, end - start) for start, end in container.executions if 0 <= end - start < FURTHEST_PS]
    if told:
        first = min(run.start_ps for run in told)
        told = [run for run in told if run.end_ps - first < FURTHEST_PS]
    if len(told) < len(container.executions):
        problems.append("a run that ends before it starts, or more than a day later, is not shown")
    if len(told) > _MOST_RUNS:
        problems.append(f"{len(told)} runs are recorded, the first {_MOST_RUNS} are shown")
    if told:
        return sorted(told, key=lambda run: run.start_ps)[:_MOST_RUNS]
    total = next((core.duration_ps for core in container.cores if 0 < core.duration_ps < FURTHEST_PS), 0)
    started = (
        _notified_start(source, container, segments, core, programs[core.core]["Tensor"])
        for core in container.cores
        if "Tensor" in programs[core.core]
    )
    start = next((start for start in started if start is not None), None)
    if start is None or not total:
        extent = _extent(source, container, segments)
        if extent is None:
            return []
        if start is None:
            problems.append("the start of the run is not recorded; time 0 is the first instruction")
            start = extent[0]
        if not total:
            problems.append("the length of the run is not recorded; it lasts as long as instructions were recorded")
            total = max(extent[1] - start, 0)
    return [RunTime(start, total)]


def _notified_start(
    source: Source, container: Container, segments: Segments, core: CoreTrace, tensor: Program
) -> int | None:
    starts = np.append(tensor.starts, False)
    for records in record_pieces(source, container, segments.get((core.core, INSTRUCTIONS), ())):
        engines, phases = engines_and_phases(records)
        ended = records[(engines == _TENSOR) & (phases == ENDS)]
        found = ended[starts[tensor.pc(ended["head"] & np.uint32(TAG_MASK))]]
        if len(found):
            return int(picoseconds(found["ts"], core.engine_clocks["Tensor"]).min())
    return None


def _extent(source: Source, container: Container, segments: Segments) -> tuple[int, int] | None:
    """The first and the last time of instructions, without those that lie far from the rest; None if there are none."""
    first, last, middle = None, 0, np.uint64(0)
    pieces = (
        (core, records)
        for core in container.cores
        for records in record_pieces(source, container, segments.get((core.core, INSTRUCTIONS), ()))
    )
    for core, records in pieces:
        times = picoseconds(records["ts"], core.engine_clocks["Tensor"])
        if first is None:
            middle = np.uint64(np.sort(times)[len(times) // 2])
        since = (times - middle).view(np.int64)
        near = since[np.abs(since) < FURTHEST_PS]
        if len(near):
            low, high = int(middle) + int(near.min()), int(middle) + int(near.max())
            first, last = min(low, low if first is None else first), max(high, last)
    return None if first is None else (max(first, 0), last)
