"""Where the files of one profiler window go."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# AWS Neuron docs, NeuronConfig: <instance>_pid_<pid>/<timestamp_ns>
_PROCESS_DIRECTORY = re.compile(r".+_pid_(\d+)")
_TIMESTAMP = re.compile(r"\d{1,20}", re.ASCII)


@contextmanager
def session_directory(output: Path, *, made: Path | None, started_ns: int) -> Iterator[Path]:
    """The directory for the window that began at `started_ns`, made if it is not there.

    It is the one that the Neuron runtime made for it, if any (see `runtime_directory`); else
    `<output>/<hostname>_pid_<pid>/<started_ns>`, which goes again where the body fails and leaves it empty.
    Raises OSError where it cannot be made.
    """
    if made is not None:
        yield made
        return
    own = output / f"{socket.gethostname()}_pid_{os.getpid()}" / str(started_ns)
    try:
        own.mkdir(parents=True, exist_ok=True)
        yield own
    except BaseException:
        for folder in (own, own.parent):
            with suppress(OSError):  # there is something in it
                folder.rmdir()
        raise


def runtime_directory(
    outputs: Iterable[Path], *, prepared_ns: int, stopped_ns: int, named: Path | None = None
) -> Path | None:
    """The directory that the Neuron runtime made for this process and window; None where none can be told to be it.

    It is `named`, if that is a directory of this window; else `<instance>_pid_<pid>/<timestamp_ns>` under one of
    `outputs` with a timestamp between `prepared_ns` and `stopped_ns` (unix), where there is exactly one such. One that
    we may not write to, or that has a trace of ours already, is none. Raises OSError where a folder cannot be listed.
    """
    if named is not None and _is_free(named) and _is_of_window(named, prepared_ns, stopped_ns):
        return named
    found = {folder for output in outputs for folder in _runtime_directories(output, prepared_ns, stopped_ns)}
    return found.pop() if len(found) == 1 else None


def why_unusable(output: Path) -> str:
    """Why no directory can be made under `output`, which may not exist yet; "" where nothing speaks against it."""
    there = next(folder for folder in (output, *output.parents) if os.path.lexists(folder))
    if not there.is_dir():
        return f"{there} is not a folder"
    return "" if os.access(there, os.W_OK | os.X_OK) else f"{there} is not writable"


def _runtime_directories(output: Path, first_ns: int, last_ns: int) -> list[Path]:
    if not output.is_dir():
        return []
    return [
        window
        for process in output.iterdir()
        if _is_of_this_process(process) and process.is_dir()
        for window in process.iterdir()
        if _TIMESTAMP.fullmatch(window.name) and first_ns <= int(window.name) <= last_ns and _is_free(window)
    ]


def _is_of_this_process(folder: Path) -> bool:
    match = _PROCESS_DIRECTORY.fullmatch(folder.name)
    return match is not None and match[1] == str(os.getpid())


def _is_of_window(folder: Path, first_ns: int, last_ns: int) -> bool:
    """Whether a folder is of this window, by its name; where that tells nothing, by when something was put into it."""
    if _PROCESS_DIRECTORY.fullmatch(folder.parent.name) and _TIMESTAMP.fullmatch(folder.name):
        return _is_of_this_process(folder.parent) and first_ns <= int(folder.name) <= last_ns
    return folder.stat().st_mtime_ns >= first_ns


def _is_free(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK) and not (folder / "trace.pb").exists()
