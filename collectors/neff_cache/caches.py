"""Which compiled programs a window found in the caches of NEFFs, and which it put there."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collectors import audit_events
from collectors.base import Budget, Clock, Window
from collectors.boundary import Boundary
from collectors.neff_cache.files import NeffFiles
from collectors.neff_cache.folders import SUFFIX, Snapshot, access_times, cache_folders, neffs_below, snapshot
from collectors.neff_cache.uses import HIT, MISS, UNKNOWN, NeffUse, with_uses
from trace_format.tables import CACHE_RESULTS, CATEGORIES

if TYPE_CHECKING:
    from trace_format import Trace, TraceBuilder

_COMPILE = CATEGORIES.index("compile")
_SECONDS_AT_START = 0.05  # for looking at the caches before the window
_MOST_OPENED = 10_000
_WRITES = frozenset("wax+")  # of the modes of `open`
_COARSE_NS = 10 * 10**6  # file systems take the time from the kernel's last tick, up to 10 ms ago


class NeffCaches:
    """Compares the caches before and after a window, and notes which NEFFs Python opens meanwhile.

    A NEFF that was put there is a miss; one that was there and was read or touched is a hit: read by Python, or as the
    file's times tell. Many file systems note reads only once a day (relatime) or not at all: then a hit of other code
    cannot be told, and `access_times` in the metadata says so. A NEFF that was put there but is older than the window
    came from elsewhere: unknown.
    """

    name = "neff_cache"
    budget = Budget()

    def __init__(self, window: Window) -> None:
        self.found = 0
        self._named = window.neff_cache_dir
        self._clock: Clock | None = None
        self._started_ns = self._stopped_ns = 0
        self._before: dict[Path, Snapshot] = {}
        self._opened: list[tuple[int, str]] = []
        self._boundary = Boundary()
        self._uses: list[NeffUse] = []

    def start(self, clock: Clock) -> None:
        self._clock = clock
        until_s = time.monotonic() + _SECONDS_AT_START
        self._before = {folder: snapshot(folder, until_s) for folder in cache_folders(self._named)}
        audit_events.listen(self._opening, ("open",))
        self._started_ns = clock()

    def stop(self) -> None:
        audit_events.unlisten(self._opening)
        if self._clock is not None:
            self._stopped_ns = self._clock()

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        if self._clock is None:
            return
        folders = list(dict.fromkeys((*self._before, *cache_folders(self._named))))
        if not folders:
            return
        until_s = time.monotonic() + self.budget.seconds / 2
        uses = (use for folder in folders for use in self._used(folder, until_s))
        self._uses = list({use.path: use for use in uses}.values())  # one folder may be within another
        self.found = len(self._uses)
        if time.monotonic() > until_s:
            builder.report.repaired["caches of NEFFs too large to look through: uses may be missing"] += 1
        for cause, count in self._boundary.losses.items():
            builder.report.source_events += count
            builder.report.left_out[cause] += count
        files = NeffFiles(builder, until_s)
        if self._uses:
            track = builder.track("NEFF cache", kind="compile", host=host, rank=rank, pid=os.getpid())
        for use in self._uses:
            files.add(Path(use.path))
            builder["instants"].append(
                len(use.moments),
                ts_ns=list(use.moments),
                track=track,
                name=builder.string(f"NEFF cache {CACHE_RESULTS[use.result]}"),
                category=_COMPILE,
                args=builder.pool.arg_sets.id(json.dumps({"what": use.what, "path": use.path}).encode("ascii")),
            )
        builder.metadata["sources"] = [
            {
                "format": "NEFF caches",
                "clock": "unix",
                "folders": {str(folder): {"access_times": access_times(folder)} for folder in folders},
            }
        ]

    def refine(self, trace: Trace) -> Trace:
        """The trace with a row of `compiles` for each use, see `with_uses`."""
        return with_uses(trace, self._uses)

    def _opening(self, event: str, told: tuple[Any, ...]) -> None:
        path, mode, flags = (*told, None, None, None)[:3]
        if not isinstance(path, str | bytes) or os.path.splitext(path)[1] not in (SUFFIX, SUFFIX.encode()):
            return
        with self._boundary.around("the opening of a NEFF"):
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
            writes = writes or (isinstance(mode, str) and not _WRITES.isdisjoint(mode))
            if self._clock is not None and not writes and len(self._opened) < _MOST_OPENED:
                self._opened.append((self._clock(), os.path.abspath(os.fsdecode(path))))

    def _used(self, folder: Path, until_s: float) -> Iterator[NeffUse]:
        """The NEFFs below a folder that the window had to do with."""
        before = self._before.get(folder, Snapshot())  # a folder that is new has only new files, by their times
        since_ns, until_ns = self._started_ns - _COARSE_NS, self._stopped_ns
        opened: dict[str, list[int]] = {}
        for ts_ns, path in self._opened:
            opened.setdefault(os.path.realpath(path), []).append(ts_ns)
        for entry in neffs_below(folder, until_s):
            try:
                stat = entry.stat()
            except OSError:  # removed meanwhile
                continue
            touched = [ns for ns in (stat.st_mtime_ns, stat.st_atime_ns) if since_ns <= ns <= until_ns]
            reads = tuple(opened.get(entry.path) or touched[-1:])
            if before.inodes.get(entry.path) == stat.st_ino or stat.st_ctime_ns < since_ns:  # was there before
                if reads:
                    yield NeffUse(entry.path, HIT, reads, stat.st_mtime_ns)
            elif stat.st_ctime_ns <= until_ns:
                is_new = stat.st_mtime_ns >= since_ns and (before.whole or entry.path in before.inodes)
                there_ns = max(stat.st_ctime_ns, self._started_ns)
                yield NeffUse(entry.path, MISS if is_new else UNKNOWN, (there_ns,), stat.st_mtime_ns)
