"""Where the files of one profiler window go."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

_RUNTIME_DIRECTORY = re.compile(r".+_pid_(\d+)")


def session_directory(output: Path, *, prepared_ns: int, started_ns: int, stopped_ns: int) -> Path:
    """The directory for the window [started_ns, stopped_ns), made if it is not there.

    It is the one that the Neuron runtime made for this process and window (`<instance>_pid_<pid>/<timestamp_ns>`
    under `output`, with a timestamp between `prepared_ns` and `stopped_ns`), where there is exactly one such;
    else `<output>/<hostname>_pid_<pid>/<started_ns>`. Times are unix nanoseconds.
    Raises OSError where it cannot be made.
    """
    made = _runtime_directories(output, prepared_ns, stopped_ns)
    if len(made) == 1:
        return made[0]
    own = output / f"{socket.gethostname()}_pid_{os.getpid()}" / str(started_ns)
    own.mkdir(parents=True, exist_ok=True)
    return own


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
