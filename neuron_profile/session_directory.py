"""Where the files of one profiler window go."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_RUNTIME_DIRECTORY = re.compile(r".+_pid_(\d+)")


@contextmanager
def session_directory(output: Path, *, prepared_ns: int, started_ns: int, stopped_ns: int) -> Iterator[Path]:
    """The directory for the window [started_ns, stopped_ns), made if it is not there.

    It is the one that the Neuron runtime made for this process and window (`<instance>_pid_<pid>/<timestamp_ns>`
    under `output`, with a timestamp between `prepared_ns` and `stopped_ns`), where there is exactly one such;
    else `<output>/<hostname>_pid_<pid>/<started_ns>`, which goes again where the body fails and leaves it empty.
    Times are unix nanoseconds. Raises OSError where it cannot be made.
    """
    made = _runtime_directories(output, prepared_ns, stopped_ns)
    if len(made) == 1:
        yield made[0]
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


def why_unusable(output: Path) -> str:
    """Why no directory can be made under `output`, which may not exist yet; "" where nothing speaks against it."""
    there = next(folder for folder in (output, *output.parents) if os.path.lexists(folder))
    if not there.is_dir():
        return f"{there} is not a folder"
    return "" if os.access(there, os.W_OK | os.X_OK) else f"{there} is not writable"


def _runtime_directories(output: Path, first_ns: int, last_ns: int) -> list[Path]:
    if not output.is_dir():
        return []
    pid = str(os.getpid())
    return [
        window
        for process in output.iterdir()
        if (match := _RUNTIME_DIRECTORY.fullmatch(process.name)) and match[1] == pid and process.is_dir()
        for window in process.iterdir()
        if window.name.isascii() and window.name.isdigit() and first_ns <= int(window.name) <= last_ns
        if window.is_dir() and not (window / "trace.pb").exists()
    ]
