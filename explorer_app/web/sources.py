"""The text of the user's source files, where it may be shown: Python files that a trace names, below known folders.

The trace is not trusted: it may name any file of this machine. So only a file is read that is called `.py`, that lies,
links followed, below a folder given on the command line or the one the explorer was started in, and that is no larger
than a source file is.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import flask

from explorer_app.web.opening.folders import Folders, NotBelowError
from trace_format import Trace

_KEY: Final = "NEURON_EXPLORER_SOURCES"
_MOST_BYTES: Final = 2 << 20
_LONGEST_PATH: Final = 4096


@dataclass(frozen=True, slots=True)
class SourceText:
    """The lines of a file; none, and why, where they are not shown. `modified_ns`: when the file was last changed."""

    lines: tuple[str, ...] = ()
    why: str = ""
    modified_ns: int = -1


def allow_sources(server: flask.Flask, given: Iterable[Path], started_in: Path) -> None:
    """Let the pages of `server` show Python files below these folders; one that is a whole disk is left out."""
    roots = [path for path in (*given, started_in) if path.resolve() != Path(path.resolve().anchor)]
    server.config[_KEY] = Folders(roots)


def source_text(server: flask.Flask, trace: Trace, file: str) -> SourceText:
    """The text of a file by the name that frames of this trace give it."""
    folders: Folders | None = server.config.get(_KEY)
    if folders is None or not folders.roots:
        return SourceText(why="source text is shown only of files below the folders given on the command line")
    if not file.endswith(".py") or len(file) > _LONGEST_PATH or not _is_named(trace, file):
        return SourceText(why="this trace names no such Python file")
    # a capture notes paths as Python knows them: whole, or from a folder of sys.path on
    tried = [file] if Path(file).is_absolute() else [str(root / file) for root in folders.roots]
    for text in tried:
        try:
            path = folders.find(text)
        except NotBelowError:
            continue
        if path.suffix == ".py":
            return _read(path)
    return SourceText(
        why="the file is not below a folder given on the command line, nor below the one neuron-explorer was started in"
    )


def _is_named(trace: Trace, file: str) -> bool:
    return any(text.startswith(f"{file}(") for text in trace.pool.strings.values)


def _read(path: Path) -> SourceText:
    try:
        told = path.stat()
        if not stat.S_ISREG(told.st_mode):
            return SourceText(why="what has this name is no file")
        if told.st_size > _MOST_BYTES:
            return SourceText(why=f"the file is larger than {_MOST_BYTES >> 20} MB")
        with path.open("rb") as source:
            text = source.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError as error:
        return SourceText(why=f"the file cannot be read: {error.strerror or 'no reason is given'}")
    return SourceText(tuple(text.splitlines()), modified_ns=told.st_mtime_ns)
