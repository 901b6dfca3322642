"""Where on the host's clock a device profile belongs: the runtime says when an execution ran on a core.

A device counts from a zero of its own. Where the events of the runtime have the same executions of the same core, the
profile is moved so that its first begins where theirs does; else to where the trace begins, which says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from trace_format.importers.neuron_session.device_profiles import DeviceProfile
from trace_format.importers.neuron_system.event_types import EXECUTION
from trace_format.tables import TRACK_KINDS
from trace_format.trace import Trace

_STREAM = TRACK_KINDS.index("stream")
_ALIKE_NS, _ALIKE_RATIO = 1_000, 0.01  # durations of one execution as the runtime and the device time it


@dataclass(frozen=True, slots=True)
class Alignment:
    """How far a device profile is moved.

    `host_rows`: the rows of `slices` in trace number `host_trace` that show its runs, in order; empty where the move
    says nothing. `residual_ns`: how far the other runs then are from where the host saw them, at most.
    `covered_tracks`:
    those tracks of it all whose executions the profile shows.
    """

    moved_by_ns: int
    host_trace: int = -1
    host_rows: tuple[int, ...] = ()
    residual_ns: int = 0
    covered_tracks: tuple[int, ...] = ()


def align(profile: DeviceProfile, host_traces: Sequence[Trace]) -> Alignment | None:
    """The alignment of a profile with the executions in these traces; None where they do not tell it."""
    runs = [row for row, _ in profile.runs]
    if not runs or not profile.cores:
        return None
    starts = profile.trace.slices.ts_ns[runs]
    totals = np.array([execution.total_time_ps // 1000 for _, execution in profile.runs])
    for number, trace in enumerate(host_traces):
        rows = _executions_on(trace, profile)
        every = len(rows)
        rows = _of_program(trace, rows, profile)
        if len(rows) != len(runs):
            rows = _alike(trace, rows, totals)
        if len(rows) == len(runs):
            seen = trace.slices.ts_ns[rows]
            moved = int(seen[0] - starts[0])
            residual = int(np.abs(seen - starts - moved).max())
            covered = _tracks_of(trace, int(trace.slices.track[rows[0]]), profile) if every == len(rows) else ()
            return Alignment(moved, number, tuple(rows.tolist()), residual, covered)
    return None


def _executions_on(trace: Trace, profile: DeviceProfile) -> np.ndarray:
    """The executions on the first core of a profile, in order of time; none where two logical cores are meant."""
    tracks, slices = trace.tracks, trace.slices
    core = profile.cores[0]
    mine = np.flatnonzero((tracks.kind == _STREAM) & (tracks.core == core))
    if len(mine) > 1 and profile.nc is not None:
        names = tracks.text("name")
        mine = np.array([row for row in mine.tolist() if names[row] == f"NC {profile.nc}:{core}"], np.int64)
    if len(mine) != 1:
        return np.zeros(0, np.int64)
    kind = trace.pool.strings.find(EXECUTION)
    rows = np.flatnonzero((slices.track == mine[0]) & (slices.source_category == kind))
    return rows[np.argsort(slices.ts_ns[rows], kind="stable")]


def _tracks_of(trace: Trace, track: int, profile: DeviceProfile) -> tuple[int, ...]:
    """The tracks of all cores of a profile, of which `track` is that of one."""
    tracks = trace.tracks
    mine = (tracks.kind == _STREAM) & np.isin(tracks.core, profile.cores) & (tracks.parent == tracks.parent[track])
    names = tracks.text("name")
    logical = names[track].split(":")[0]
    return tuple(row for row in np.flatnonzero(mine).tolist() if names[row].split(":")[0] == logical)


def _of_program(trace: Trace, rows: np.ndarray, profile: DeviceProfile) -> np.ndarray:
    """Those that are named like the profile's program; all where none is."""
    programs = {PurePath(execution.neff).name for _, execution in profile.runs if execution.neff}
    names = {number: PurePath(trace.pool.strings[number]).name for number in set(trace.slices.name[rows].tolist())}
    named = np.array([names[number] in programs for number in trace.slices.name[rows].tolist()], bool)
    return rows[named] if named.any() else rows


def _alike(trace: Trace, rows: np.ndarray, totals_ns: np.ndarray) -> np.ndarray:
    """The one execution that took as long as the one run of a profile; none where several did."""
    if len(totals_ns) != 1:
        return rows[:0]
    apart = np.abs(trace.slices.dur_ns[rows] - totals_ns[0])
    alike = rows[apart <= max(_ALIKE_NS, int(totals_ns[0] * _ALIKE_RATIO))]
    return alike if len(alike) == 1 else rows[:0]
