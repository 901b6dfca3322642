"""What a run of neuronx-cc left on disk: its NEFF, its log and its measurements."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from collectors.compiles.watch import CompilerProcess
from collectors.neff_cache.files import NeffFiles
from trace_format import Trace
from trace_format.errors import TraceFileError
from trace_format.importers.neuronx_cc import read_compiler_log, read_metric_store
from trace_format.importers.neuronx_cc.compile_log import LoggedCompile
from trace_format.importers.source import Source
from trace_format.merge import append_trace

if TYPE_CHECKING:
    from trace_format import TraceBuilder

_METRICS = "global_metric_store.json"  # where the compiler runs
_LARGEST_BYTES = 32 << 20  # of a log or a file of measurements
_SLACK_NS = 2 * 10**9  # a log tells the time to a second
_COARSE_NS = 20 * 10**6  # file systems take the time from the kernel's last tick, and so does the start of a process
_LOG_AND_METRICS = (read_compiler_log, read_metric_store)


@dataclass(slots=True)
class CompilerOutput:
    """Reads what lies where a compiler's command line says, as long as there is time (`until_s`, monotonic)."""

    builder: TraceBuilder
    until_s: float

    def neff(self, process: CompilerProcess) -> int:
        """The row of the NEFF it made; -1 where there is none, or one that is older than the run."""
        path = process.call.output
        if path is None or not _is_new(path, process):
            return -1
        return NeffFiles(self.builder, self.until_s).add(path)

    def logged(self, process: CompilerProcess, track: int) -> LoggedCompile:
        """What its log, else its file of measurements tells; passes come on tracks below `track`."""
        for path, read in (
            (process.call.log, read_compiler_log),
            (process.call.directory / _METRICS, read_metric_store),
        ):
            trace = self._read(path, read, process)
            if trace is None:
                continue
            row = _row_of(trace, process)
            if row >= 0:
                if read is read_compiler_log:
                    self._add_passes(trace, process, track)
                phases = trace.pool.args(int(trace.compiles.phases[row]))
                return LoggedCompile(what="", exit_status=int(trace.compiles.exit_status[row]), phases_ns=phases)
        return LoggedCompile(what="")

    def _read(self, path: Path, read: Any, process: CompilerProcess) -> Trace | None:
        if not _is_new(path, process) or path.stat().st_size > _LARGEST_BYTES or time.monotonic() > self.until_s:
            return None
        try:
            with Source(path) as source:
                trace: Trace = read(source)
        except TraceFileError as error:
            why = str(error).removeprefix(f"{error.path}: ")
            self.builder.report.repaired[f"file of the compiler that cannot be read: {why}"] += 1
            return None
        return trace

    def _add_passes(self, trace: Trace, process: CompilerProcess, track: int) -> None:
        """The part of a log that is about this run: several may write into one."""
        of_run = {"slices": _within(trace.slices.ts_ns, process), "instants": _within(trace.instants.ts_ns, process)}
        tables = {name: getattr(trace, name).take(rows) for name, rows in of_run.items()}
        if any(len(table) for table in tables.values()):
            part = Trace.of(trace.pool, {"tracks": trace.tracks, **tables})
            append_trace(self.builder, part, {"tracks": {"parent": track}})


def _within(ts_ns: np.ndarray, process: CompilerProcess) -> np.ndarray:
    end_ns = process.end_ns if process.end_ns >= 0 else np.iinfo(np.int64).max - _SLACK_NS
    return (ts_ns >= process.start_ns - _SLACK_NS) & (ts_ns <= end_ns + _SLACK_NS)


def _row_of(trace: Trace, process: CompilerProcess) -> int:
    """The compile of a log that is this run; -1 for none."""
    compiles = trace.compiles
    for row in reversed(range(len(compiles))):
        of = int(compiles.slice[row])
        if compiles.text("what")[row] not in ("", process.call.what):
            continue
        if of < 0 or _within(trace.slices.ts_ns[of : of + 1], process)[0]:
            return row
    return -1


def _is_new(path: Path, process: CompilerProcess) -> bool:
    """Whether a file was written since the run began."""
    try:
        return path.is_file() and path.stat().st_mtime_ns >= process.start_ns - _COARSE_NS
    except OSError:
        return False
