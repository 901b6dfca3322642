"""Opens what was captured: one file, or the ranks of one job."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from trace_format import Trace, TraceFileError, UnsupportedFormatError
from trace_format.cache import load_cached
from trace_format.importers import load_file
from trace_format.importers.format import Format
from trace_format.importers.pipe import saved_to_disk
from trace_format.importers.recognition import recognise
from trace_format.importers.source import Source

TRACE_NAME = "trace.pb"
_SUFFIXES = (".pb", ".json", ".json.gz")
_MOST_FILES = 4096
_Named = list[tuple[Path, Trace]]


def load(
    path_or_paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    progress: Callable[[int, int], None] | None = None,
    cache: bool = False,
) -> Trace:
    """The trace in a file of any supported kind (told by its content); for a directory or a list, the ranks of one job.

    A pipe (`/dev/stdin`) is read to its end first.
    In a directory every trace below it is a rank, save a JSON export that lies beside its `.pb`. A file of another
    kind is passed over; one that is empty or damaged too, but then the report says so, for it may have been a rank.
    Where AWS's tools left files in it, all files of one process become one trace: framework, runtime, devices, NEFFs
    (see `trace_format.importers.neuron_session`). An NTFF file named together with its NEFF is one trace too.
    Several traces become one, each on its tracks, told apart by `tracks.rank`.
    `progress(done_bytes, total_bytes)` is called now and then while a file is read, in bytes of that file.
    `cache` keeps what was imported in the user's cache folder, and takes it from there the next time
    (see `trace_format.cache`).

    Raises TraceFileError for a path with no trace in it or a file that cannot be read, and NeuronProfileError
    where several traces are not the ranks of one job.
    """
    read = partial(load_cached if cache else load_file, progress=progress)
    paths = _checked([path_or_paths] if isinstance(path_or_paths, (str, os.PathLike)) else path_or_paths)
    found: _Named = []
    unread: list[TraceFileError] = []
    kinds = {path: _format_of(path) for path in paths} if len(paths) > 1 else {}
    ntffs = [path for path in paths if kinds.get(path) is Format.NTFF]
    neffs = [path for path in paths if kinds.get(path) is Format.NEFF]
    if ntffs:  # NEFFs belong to them, and their clocks have to be related
        from trace_format.importers.neuron_session import read_named_files

        found += read_named_files(ntffs, neffs, read)
        paths = [path for path in paths if path not in (*ntffs, *neffs)]
    for path in paths:
        if path.is_dir():
            found += _open(path, read, unread)
        else:
            with saved_to_disk(path) as file:
                found.append((path, read(file)))
    if len(found) == 1:
        trace = found[0][1]
    else:
        from trace_format.merge import merge_ranks

        trace = merge_ranks([trace for _, trace in found], [str(path) for path, _ in found])
    for error in unread:
        trace.report.repaired[f"file passed over: {error}"] += 1
    return trace


def _checked(given: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """The paths. Raises TraceFileError for an empty one, and for a file that is named twice."""
    paths: list[Path] = []
    for name in given:
        if not os.fspath(name):
            raise TraceFileError("the path is empty; name a trace file or a directory", path=name)
        path = Path(name)
        if path.is_file() and any(path.samefile(other) for other in paths if other.exists()):
            raise TraceFileError("is named twice; a rank can be in a job only once", path=path)
        paths.append(path)
    return paths


def _format_of(path: Path) -> Format | None:
    """What a file is; None where that cannot be told, which reading it then says."""
    try:
        with Source(path) as source:
            return recognise(source.head(), path)
    except TraceFileError:
        return None


def _traces_below(directory: Path) -> list[Path]:
    """The files that may be traces, in order of path. Raises TraceFileError for more than a job can have."""
    found: list[Path] = []
    for folder, subfolders, names in os.walk(directory):
        subfolders.sort()
        candidates = [TRACE_NAME] if TRACE_NAME in names else sorted(n for n in names if n.endswith(_SUFFIXES))
        saved = {name.removesuffix(".pb") for name in candidates if name.endswith(".pb")}
        found += [Path(folder, n) for n in candidates if n.endswith(".pb") or n.split(".json")[0] not in saved]
        if len(found) > _MOST_FILES:
            message = f"has more than {_MOST_FILES:,} files that may be traces; name the ones to open"
            raise TraceFileError(message, path=directory)
    return found


def _open(directory: Path, read: Callable[[Path], Trace], unread: list[TraceFileError]) -> _Named:
    """The traces below a directory, by process where AWS's tools wrote there. Raises TraceFileError for none."""
    from trace_format.importers.neuron_session import read_session_folder

    return read_session_folder(directory, read) or _open_traces(directory, read, unread)


def _open_traces(directory: Path, read: Callable[[Path], Trace], unread: list[TraceFileError]) -> _Named:
    found: _Named = []
    lost: list[TraceFileError] = []
    for file in _traces_below(directory):
        try:
            found.append((file, read(file)))
        except TraceFileError as error:
            # a directory holds files of other kinds too
            if not isinstance(error, UnsupportedFormatError) or not file.stat().st_size:
                lost.append(error)
    if not found:
        raise lost[0] if lost else TraceFileError("no trace in this directory; name the file itself", path=directory)
    unread += lost
    return found
