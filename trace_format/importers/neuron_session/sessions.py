"""The sessions below a folder, or the files of one that were named one by one, as traces: one for each process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from trace_format.errors import TraceFileError
from trace_format.importers import load_file
from trace_format.importers.format import Format
from trace_format.importers.neuron_session.assembly import Read, SessionReader, passed_over
from trace_format.importers.neuron_session.discovery import MOST_FILES, Session, find_sessions
from trace_format.importers.neuron_session.layout import NEFF_SUFFIX
from trace_format.importers.neuron_session.neff_pool import NeffPool
from trace_format.trace import Trace

Named = tuple[Path, Trace]


@dataclass(frozen=True, slots=True)
class LiveLimits:
    """What is read at the end of a window at most, in bytes: of NEFFs, and of all other files."""

    most_bytes: int
    most_neff_bytes: int


def read_session_folder(directory: Path, read: Read) -> list[Named]:
    """The sessions below a directory, each as (its folder, its trace) in order of path.

    [] where no file in it is of AWS's tools. Raises TraceFileError where there are some and none can be read.
    """
    sessions = _with_loose_ones_joined(find_sessions(directory), read)
    return _read_all(sessions, read, NeffPool.of, below=directory) if sessions else []


def read_named_files(ntffs: Sequence[Path], neffs: Sequence[Path], read: Read) -> list[Named]:
    """The profiles in NTFF files, each as (its file, its trace), with what the NEFFs of their programs tell.

    The report of the first names a NEFF that belongs to none of them. Raises TraceFileError where one of the files
    that were named cannot be read.
    """
    pool = NeffPool.of(neffs)
    if pool.lost:
        raise pool.lost[0]
    found = _read_all([Session(path, ntffs=[path]) for path in ntffs], read, lambda _: pool, strict=True)
    for path in neffs:
        if path not in pool.used:
            what = "these NTFF files" if len(ntffs) > 1 else ntffs[0].name
            found[0][1].report.repaired[f"{path.name} is not the NEFF of {what} (another UUID): not used"] += 1
    return found


def join_live_session(trace: Trace, directory: Path, *, limits: LiveLimits, neff_folder: Path | None = None) -> Trace:
    """`trace`, recorded in this process, with what the runtime left in the folder of the same window.

    Its metadata then names the files that it holds, so that they do not count twice where the folder is opened.
    `neff_folder`: where else there may be the NEFFs of the programs that ran. Beyond the limits nothing is read, and
    the report says so. Raises TraceFileError for more files than a job can have, OSError for one that is gone.
    """
    sessions = find_sessions(directory)
    if not sessions:
        return trace
    session = sessions[0]
    for other in sessions[1:]:
        session.join(other)
    neffs = [*session.neffs, *session.cached_neffs]
    size_bytes, neff_bytes = session.size_bytes, sum(path.stat().st_size for path in neffs)
    if size_bytes > limits.most_bytes or neff_bytes > limits.most_neff_bytes:
        said = f"{(size_bytes + neff_bytes) >> 20:,} MiB"
        trace.report.repaired[
            f"{said} of the device's files are too many to read at the end of a window: open the folder {directory}"
        ] += 1
        return trace
    found = [] if neff_folder is None else islice(sorted(neff_folder.rglob(f"*{NEFF_SUFFIX}")), MOST_FILES)
    pool = NeffPool.of([*neffs, *found])
    session.lost += [error for error in pool.lost if error.path in {str(path) for path in neffs}]
    reader = SessionReader(session, pool, load_file, directory, live=trace)
    reader.read_profiles()
    joined = reader.trace()
    return trace if joined is None else joined


def _read_all(
    sessions: Sequence[Session], read: Read, pool_of: Callable[[list[Path]], NeffPool], *,
    below: Path | None = None, strict: bool = False,
) -> list[Named]:  # fmt: skip
    pool = pool_of([path for s in sessions for path in (*s.neffs, *s.cached_neffs)])
    readers = [SessionReader(session, pool, read, below) for session in sessions]
    for reader in readers:
        reader.read_profiles()
    found: list[Named] = []
    lost: list[TraceFileError] = []
    begin_ns: int | None = None
    for reader in sorted(readers, key=lambda reader: not reader.session.hosts):  # those with a clock first
        trace = reader.trace(begin_ns=begin_ns)
        if strict and reader.lost:
            raise reader.lost[0]
        if trace is None:
            lost += reader.lost
            continue
        span = trace.time_range_ns
        if begin_ns is None and span is not None:
            zero_ns = trace.metadata.get("device_time_zero_ns")
            begin_ns = span[0] if reader.session.hosts or not isinstance(zero_ns, int) else zero_ns
        found.append((reader.session.folder, trace))
    lost += pool.lost
    if not found and lost:
        raise lost[0]
    for error in lost:
        found[0][1].report.repaired[passed_over(error, "" if below is None else f"{below}{os.sep}")] += 1
    return sorted(found, key=lambda named: str(named[0]))


def _with_loose_ones_joined(sessions: list[Session], read: Read) -> list[Session]:
    """The sessions that can stand alone, with what lies beside them: NEFFs, logs, profiles of the whole system."""
    alone = [session for session in sessions if session.is_of_a_process]
    loose = [session for session in sessions if not session.is_of_a_process]
    if not alone:
        for session in loose[1:]:
            loose[0].join(session)
        return loose[:1]
    for session in loose:
        if len(alone) > 1:
            for path in session.json.pop(Format.NEURON_SYSTEM_JSON, []):
                _give_to_its_process(path, alone, read)
        alone[0].join(session)
    return alone


def _give_to_its_process(path: Path, sessions: Sequence[Session], read: Read) -> None:
    try:
        pid = read(path).metadata.get("pid")
    except TraceFileError as error:
        sessions[0].lost.append(error)
        return
    mine = [session for session in sessions if pid is not None and session.pid == pid]
    if len(mine) == 1:
        mine[0].json.setdefault(Format.NEURON_SYSTEM_JSON, []).append(path)
    else:
        message = "tells of several processes and is not shown with the ranks; open it alone"
        sessions[0].lost.append(TraceFileError(message, path=path))
