"""The device profiles of a session: NTFF files with their NEFFs, and the JSON and Parquet that were made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from trace_format.errors import TraceFileError
from trace_format.importers.neuron_device.execution import Execution, execution_of
from trace_format.importers.neuron_device.tracks import EXECUTIONS
from trace_format.importers.neuron_session.layout import device_json_facts, ntff_facts
from trace_format.importers.neuron_session.neff_pool import NeffPool
from trace_format.importers.source import Source
from trace_format.tables import TRACK_KINDS, Slices
from trace_format.trace import Trace

Array = np.ndarray

_HOST_KINDS = [TRACK_KINDS.index(kind) for kind in ("host_thread", "runtime", "stream")]
_SAME_RUN_PS = 2_000  # JSON has the total as seconds in a double, or in whole nanoseconds


@dataclass
class DeviceProfile:
    """The trace of one file, with the runs in it. `nc` is the logical core in its name, None where it has none."""

    path: Path
    trace: Trace
    nc: int | None = None
    runs: list[tuple[int, Execution]] = field(default_factory=list)  # row of `slices`, facts; in order of time

    def __post_init__(self) -> None:
        self.runs = executions(self.trace)

    @property
    def cores(self) -> list[int]:
        """The physical cores that ran, in order."""
        told = {core for _, execution in self.runs for core in execution.physical_cores}
        tracks = self.trace.tracks
        told = told or set(tracks.core[tracks.engine != 0].tolist())
        return sorted(core for core in told if core >= 0)

    @property
    def has_host_tracks(self) -> bool:
        """Whether it tells of the framework or the runtime too."""
        return bool(np.isin(self.trace.tracks.kind, _HOST_KINDS).any())

    def has_runs_of(self, other: DeviceProfile) -> bool:
        """Whether every run of `other`, which tells of nothing else, is one of these: program, cores and duration."""
        return (
            bool(other.runs)
            and not other.has_host_tracks
            and all(any(_is_same(mine, theirs) for _, mine in self.runs) for _, theirs in other.runs)
        )

    def with_reported(self, other: DeviceProfile) -> DeviceProfile:
        """The same with the metrics that AWS's tool wrote into `other` about these runs."""
        slices, pool = self.trace.slices, self.trace.pool
        args = slices.args.copy()
        for row, mine in self.runs:
            theirs = next((theirs for _, theirs in other.runs if _is_same(mine, theirs)), None)
            if theirs is not None and theirs.reported:
                told = msgspec.structs.replace(mine, reported={**mine.reported, **theirs.reported})
                args[row] = pool.arg_sets.id(msgspec.json.encode(told))
        tables: dict[str, Any] = self.trace.tables() | {"slices": Slices({**slices.stored(), "args": args}, pool)}
        trace = Trace.of(pool, tables, metadata=self.trace.metadata, report=self.trace.report)
        return DeviceProfile(self.path, trace, self.nc)


def executions(trace: Trace) -> list[tuple[int, Execution]]:
    """The rows of the slices that stand for runs, with their facts, in order of time."""
    tracks, slices = trace.tracks, trace.slices
    mine = np.array([name == EXECUTIONS for name in tracks.text("name")], bool)
    rows = np.flatnonzero(mine[slices.track]) if len(slices) else np.zeros(0, np.int64)
    found = []
    for row in rows[np.argsort(slices.ts_ns[rows], kind="stable")].tolist():
        try:
            found.append((row, execution_of(trace.pool.arg_sets[int(slices.args[row])])))
        except msgspec.MsgspecError:
            continue  # a track of the same name that another program wrote
    return found


def read_ntff_with_neff(path: Path, pool: NeffPool, read: Callable[[Path], Trace]) -> DeviceProfile:
    """The profile in an NTFF file, with what the NEFF of its program in `pool` tells; without where there is none.

    Raises TraceFileError where the NTFF file cannot be read.
    """
    from trace_format.importers.ntff import read_ntff_file
    from trace_format.importers.ntff.container import read_container

    with Source(path) as source:
        uuid = read_container(source).neff_uuid
    neff = pool.of_program(uuid)
    problem = None
    if neff is not None:
        try:
            return DeviceProfile(path, read_ntff_file(path, pool.read(neff)), ntff_facts(path.name).nc)
        except TraceFileError as error:
            if error.path != str(neff):
                raise
            problem = error
    profile = DeviceProfile(path, read(path), ntff_facts(path.name).nc)
    if problem is not None:
        profile.trace.report.repaired[f"file passed over: {problem}"] += 1
    return profile


def read_converted(path: Path, read: Callable[[Path], Trace]) -> DeviceProfile:
    """The profile in a file or folder that AWS's tool made of an NTFF file. Raises TraceFileError."""
    return DeviceProfile(path, read(path), device_json_facts(path.name).nc)


def _is_same(one: Execution, other: Execution) -> bool:
    if abs(one.total_time_ps - other.total_time_ps) > _SAME_RUN_PS:
        return False
    if one.neff_uuid and other.neff_uuid and one.neff_uuid.replace("-", "") != other.neff_uuid.replace("-", ""):
        return False
    cores, others = set(one.physical_cores), set(other.physical_cores)
    return not cores or not others or cores == others
