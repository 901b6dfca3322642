"""Opens what was captured: one file, or the ranks of one job."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from trace_format import Trace, TraceFileError, UnsupportedFormatError
from trace_format.cache import load_cached
from trace_format.importers import load_file

TRACE_NAME = "trace.pb"
_SUFFIXES = (".pb", ".json", ".json.gz")
_MOST_FILES = 4096


def load(
    path_or_paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    progress: Callable[[int, int], None] | None = None,
    cache: bool = False,
) -> Trace:
    """The trace in a file of any supported kind (told by its content); for a directory or a list, the ranks of one job.

    In a directory every trace below it is a rank, save a JSON export that lies beside its `.pb`. A file of another
    kind is passed over; one that is empty or damaged too, but then the report says so, for it may have been a rank.
    Several traces become one, each on its tracks, told apart by `tracks.rank`.
    `progress(done_bytes, total_bytes)` is called now and then while a file is read, in bytes of that file.
    `cache` keeps what was imported in the user's cache folder, and takes it from there the next time
    (see `trace_format.cache`).

    Raises TraceFileError for a path with no trace in it or a file that cannot be read, and NeuronProfileError
    where several traces are not the ranks of one job.
    """
    read = partial(load_cached if cache else load_file, progress=progress)
    paths = [path_or_paths] if isinstance(path_or_paths, (str, os.PathLike)) else path_or_paths
    found: list[tuple[Path, Trace]] = []
    unread: list[TraceFileError] = []
    for given in paths:
        if not os.fspath(given):
            raise TraceFileError("the path is empty; name a trace file or a directory", path=given)
        path = Path(given)
        if path.is_dir():
            found += _open(path, read, unread)
        elif any(path.samefile(other) for other, _ in found if path.exists()):
            raise TraceFileError("is named twice; a rank can be in a job only once", path=path)
        else:
            found.append((path, read(path)))
    if len(found) == 1:
        trace = found[0][1]
    else:
        from trace_format.merge import merge_ranks

        trace = merge_ranks([trace for _, trace in found], [str(path) for path, _ in found])
    for error in unread:
        trace.report.repaired[f"file passed over: {error}"] += 1
    return trace


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


def _open(directory: Path, read: Callable[[Path], Trace], unread: list[TraceFileError]) -> list[tuple[Path, Trace]]:
    found = []
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
