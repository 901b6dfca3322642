"""Opens what was captured: one file, or the ranks of one job."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from trace_format import Trace, TraceFileError, UnsupportedFormatError
from trace_format.importers import load_file

TRACE_NAME = "trace.pb"
_SUFFIXES = (".pb", ".json", ".json.gz")


def load(
    path_or_paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Trace:
    """The trace in a file of any supported kind (told by its content); for a directory or a list, the ranks of one job.

    In a directory every trace below it is a rank, save a JSON export that lies beside its `trace.pb`; what is no
    trace is passed over. Several traces become one, each on its tracks, told apart by `tracks.rank`.
    `progress(done_bytes, total_bytes)` is called now and then while a file is read, in bytes of that file.

    Raises TraceFileError for a path with no trace in it or a file that cannot be read, and NeuronProfileError
    where several traces are not the ranks of one job.
    """
    if isinstance(path_or_paths, (str, os.PathLike)):
        path = Path(path_or_paths)
        found = _open(path, progress) if path.is_dir() else [(path, load_file(path, progress=progress))]
    else:
        found = []
        for path in map(Path, path_or_paths):
            found += _open(path, progress) if path.is_dir() else [(path, load_file(path, progress=progress))]
    if len(found) == 1:
        return found[0][1]
    from trace_format.merge import merge_ranks

    return merge_ranks([trace for _, trace in found], [str(path) for path, _ in found])


def _traces_below(directory: Path) -> list[Path]:
    """The files that may be traces, in order of path."""
    found = []
    for folder, subfolders, names in os.walk(directory):
        subfolders.sort()
        candidates = [TRACE_NAME] if TRACE_NAME in names else sorted(n for n in names if n.endswith(_SUFFIXES))
        found += [Path(folder, name) for name in candidates]
    return found


def _open(directory: Path, progress: Callable[[int, int], None] | None) -> list[tuple[Path, Trace]]:
    found = []
    for file in _traces_below(directory):
        try:
            found.append((file, load_file(file, progress=progress)))
        except UnsupportedFormatError:
            continue  # a directory holds other files too
    if not found:
        raise TraceFileError("no trace in this directory; name the file itself, or capture one", path=directory)
    return found
