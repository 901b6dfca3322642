"""Files that are being opened: each in a thread, with its progress, until it is in the library, failed or cancelled."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from explorer_app.web.library import Library
from trace_format import NeuronProfileError, Trace

_log = logging.getLogger(__name__)

MOST_AT_ONCE = 4
_MOST_KEPT = 64
Load = Callable[[Path, Callable[[int, int], None]], Trace]


class BusyError(NeuronProfileError):
    """So many files are being opened that another has to wait."""


class _CancelledError(NeuronProfileError):
    """The reader does not want the file any more."""


@dataclass(eq=False)
class Job:
    """One file on its way. `done_bytes` of `total_bytes` are read (0 of 0 while that is unknown)."""

    title: str
    done_bytes: int = 0
    total_bytes: int = 0
    key: str = ""  # of the open trace, when it is there
    error: str = ""
    cancelled: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def told(self) -> dict[str, Any]:
        """What the browser is told."""
        return {
            "title": self.title, "done_bytes": self.done_bytes, "total_bytes": self.total_bytes, "key": self.key,
            "error": self.error, "ended": self.ended.is_set(),
        }  # fmt: skip


class Jobs:
    """Opens files into a library."""

    def __init__(self, library: Library, load: Load) -> None:
        self._library, self._load = library, load
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, path: Path) -> str:
        """Begin to open a path; the id of the job. Raises BusyError."""
        job = Job(path.name)
        with self._lock:
            if sum(not other.ended.is_set() for other in self._jobs.values()) >= MOST_AT_ONCE:
                raise BusyError(f"{MOST_AT_ONCE} files are being opened; wait for one or cancel it")
            for old in [name for name, other in self._jobs.items() if other.ended.is_set()][:-_MOST_KEPT]:
                del self._jobs[old]
            name = secrets.token_urlsafe(8)
            self._jobs[name] = job
        threading.Thread(target=self._run, args=(job, path), name="open", daemon=True).start()
        return name

    def get(self, name: str) -> Job | None:
        """The job of this id, None for no such job."""
        return self._jobs.get(name)

    def _run(self, job: Job, path: Path) -> None:
        def progress(done: int, total: int) -> None:
            job.done_bytes, job.total_bytes = done, total
            if job.cancelled.is_set():
                raise _CancelledError("cancelled")

        try:
            trace = self._load(path, progress)
            progress(job.done_bytes, job.total_bytes)
            job.key = self._library.add(trace, title=path.name, source=str(path), paths=(path,)).key
        except NeuronProfileError as error:
            job.error = " ".join(str(error).split())
        except OSError as error:
            job.error = f"{path.name}: {error.strerror or error}"
        except Exception:  # noqa: BLE001 - the boundary of a web request: one file fails, the server stays
            _log.exception("%s could not be opened", path.name)
            job.error = f"{path.name} could not be opened: this is a bug; what happened is in the terminal's log"
        finally:
            job.ended.set()
