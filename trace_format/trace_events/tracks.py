"""Gives trace events their tracks: a row for each process, and below it one for each thread, stream or counter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.tables import CATEGORIES, TRACK_KINDS
from trace_format.trace_events.batch import Key

Array = np.ndarray

# Kineto draws these on the row of the stream they belong to, but they are not the stream's work.
ANNOTATIONS, SYNC = "gpu_user_annotation", "cuda_sync"
MAIN_FAMILY, ANNOTATION_FAMILY, SYNC_FAMILY = range(3)
FAMILIES = {ANNOTATIONS: ANNOTATION_FAMILY, SYNC: SYNC_FAMILY}
_FAMILY_SUFFIX = {MAIN_FAMILY: "", ANNOTATION_FAMILY: " annotations", SYNC_FAMILY: " sync"}
_DEVICE_WORK = {CATEGORIES.index(c) for c in ("compute", "collective", "memcpy", "memset", "dma")}
_HOST_WORK = sum(1 << CATEGORIES.index(c) for c in ("host_op", "python"))
_COMPILES = 1 << CATEGORIES.index("compile")
_DEVICE_PROCESS = re.compile(r"\b(?:GPU|MTIA|XPU|HPU|NPU|Neuron)\b\D{0,3}(\d+)", re.IGNORECASE)
_DECIMAL = re.compile(r"(?:0|[1-9][0-9]{0,17})")
_MOST_CATEGORIES = 64  # bits of the mask that says which categories a track holds


@dataclass(slots=True)
class _Track:
    parent: int
    pid: Key
    tid: Key | None = None  # None: a process, a counter or an async track
    family: int = MAIN_FAMILY
    name: str = ""
    kind: str = ""  # "": told by what is on it
    source_tid: str = ""


class TrackRegistry:
    """Tracks in order of first use. `line` numbers stand for (pid, tid), whether it has a track or not."""

    def __init__(self) -> None:
        self._tracks: list[_Track] = []
        self._processes: dict[Key, int] = {}
        self._lines: dict[tuple[Key, Key], int] = {}
        self._line_keys: list[tuple[Key, Key]] = []
        self._threads: dict[tuple[int, int], int] = {}
        self._named: dict[tuple[str, str, Key, str, Key | None], int] = {}
        self._categories: dict[int, int] = {}
        self._labels: dict[tuple[str, Key, Key | None], str] = {}
        self._sort_index: dict[tuple[Key, Key | None], int] = {}

    def lines(self, pids: Sequence[Key], tids: Sequence[Key]) -> Array:
        """The line number of each event, `(n,) int64`."""
        known = self._lines
        ids = list(map(known.get, zip(pids, tids, strict=True)))
        if None in ids:
            for i, found in enumerate(ids):
                if found is None:
                    given = (pids[i], tids[i])
                    key = (_key(pids[i]), _key(tids[i]))
                    if key not in known:
                        known[key] = len(self._line_keys)
                        self._line_keys.append(key)
                    ids[i] = known[given] = known[key]
        return np.array(ids, np.int64)

    def threads(self, lines: Array, families: Array, categories: Array) -> Array:
        """The track of each event by its line and family, `(n,) int64`; remembers which categories a track holds."""
        families_total = len(_FAMILY_SUFFIX)
        keys = (lines * families_total + families) * _MOST_CATEGORIES + categories
        unique, place = np.unique(keys, return_inverse=True)
        rows = np.empty(len(unique), np.int64)
        for i, key in enumerate(unique.tolist()):
            line, family = divmod(key // _MOST_CATEGORIES, families_total)
            rows[i] = row = self._thread(line, family)
            self._categories[row] = self._categories.get(row, 0) | 1 << key % _MOST_CATEGORIES
        return rows[place]

    def counter(self, pid: Key, name: str, series: str, identity: Key | None) -> int:
        """The track of one series of a counter of a process."""
        shown = name if series in ("", "value", name) else f"{name} {series}" if name else series
        return self._named_track("counter", "", pid, shown, identity)

    def asynchronous(self, pid: Key, category: str, identity: Key | None, name: str) -> int:
        """The track of the async events with this process, category, id and name."""
        return self._named_track("async", category, pid, name, identity)

    def label(self, what: str, pid: Key, tid: Key | None, text: str) -> None:
        """Name a process (`tid` None; `what`: name or labels) or a thread."""
        self._labels[what, _key(pid), None if tid is None else _key(tid)] = text

    def sort(self, pid: Key, tid: Key | None, index: int) -> None:
        """Place a process (`tid` None) or a thread among the others."""
        self._sort_index[_key(pid), None if tid is None else _key(tid)] = index

    def line_tracks(self, line: int) -> list[int]:
        """The tracks of a line that hold what happened there (its annotations left out)."""
        found = (self._threads.get((line, family)) for family in (MAIN_FAMILY, SYNC_FAMILY))
        return [row for row in found if row is not None]

    def finish(self, builder: TraceBuilder, *, rank: int, host: str) -> None:
        """Add every track to the builder, row numbers as given out."""
        for pid, tid in [*((p, t) for _, p, t in self._labels), *self._sort_index]:
            self._process(pid)
            if tid is not None and not any(
                (self._lines.get((pid, tid), -1), family) in self._threads for family in _FAMILY_SUFFIX
            ):
                self._thread(int(self.lines([pid], [tid])[0]), MAIN_FAMILY)
        host_id = builder.string(host) if host else 0
        rows = [self._row(builder, row, track) for row, track in enumerate(self._tracks)]
        if rows:
            columns = {name: [row[name] for row in rows] for name in rows[0]}
            builder["tracks"].append(len(rows), rank=rank, host=host_id, **columns)

    def _process(self, pid: Key) -> int:
        found = self._processes.get(pid)
        if found is None:
            found = self._processes[pid] = self._add(_Track(-1, pid))
        return found

    def _thread(self, line: int, family: int) -> int:
        found = self._threads.get((line, family))
        if found is None:
            pid, tid = self._line_keys[line]
            found = self._threads[line, family] = self._add(_Track(self._process(pid), pid, tid, family))
        return found

    def _named_track(self, kind: str, category: str, pid: Key, name: str, identity: Key | None) -> int:
        pid = _key(pid)
        key = (kind, category, pid, name, identity)
        found = self._named.get(key)
        if found is None:
            text = "" if identity is None else str(identity)
            track = _Track(self._process(pid), pid, name=name, kind=kind, source_tid=text)
            found = self._named[key] = self._add(track)
        return found

    def _add(self, track: _Track) -> int:
        self._tracks.append(track)
        return len(self._tracks) - 1

    def _row(self, builder: TraceBuilder, row: int, track: _Track) -> dict[str, int]:
        is_process = track.parent < 0
        on_device = _DEVICE_PROCESS.search(self._process_name(track.pid))
        kind = track.kind or ("other" if is_process else self._kind(row, track, on_device=bool(on_device)))
        pid, source_pid = _number_or_text(track.pid)
        tid, source_tid = (-1, track.source_tid) if track.tid is None else _number_or_text(track.tid)
        is_device = kind in ("stream", "device_annotation") or track.family == SYNC_FAMILY
        device = -1
        if is_device or (is_process and on_device):
            device = int(on_device[1]) if on_device else pid
        sort_key = (track.pid, None if is_process else track.tid)
        return {
            "parent": track.parent,
            "name": builder.string(self._name(track, kind)),
            "kind": TRACK_KINDS.index(kind),
            "pid": pid,
            "tid": tid,
            "device": device if device < 2**31 else -1,
            "source_pid": builder.string(source_pid),
            "source_tid": builder.string(source_tid),
            "sort_index": self._sort_index.get(sort_key, 0) if is_process or track.tid is not None else 0,
        }

    def _process_name(self, pid: Key) -> str:
        name, labels = (self._labels.get((what, pid, None), "") for what in ("name", "labels"))
        return f"{name} ({labels})" if name and labels and labels != name else name or labels

    def _name(self, track: _Track, kind: str) -> str:
        if track.parent < 0:
            return self._process_name(track.pid) or (
                f"process {track.pid}" if isinstance(track.pid, int) else track.pid
            )
        if track.tid is None:
            return track.name
        given = self._labels.get(("name", track.pid, track.tid), "")
        if not given:
            word = "stream" if kind in ("stream", "device_annotation") or track.family == SYNC_FAMILY else "thread"
            given = f"{word} {track.tid}" if isinstance(track.tid, int) else track.tid
        return given + _FAMILY_SUFFIX[track.family]

    def _kind(self, row: int, track: _Track, *, on_device: bool) -> str:
        if track.family == ANNOTATION_FAMILY:
            return "device_annotation"
        if track.family == SYNC_FAMILY:
            return "other"
        held = self._categories.get(row, 0)
        if held == _COMPILES:
            return "compile"
        if held and not held & ~_HOST_WORK:
            return "host_thread"  # some producers put the threads that feed a device under the device
        if on_device or any(held >> category & 1 for category in _DEVICE_WORK):
            return "stream"
        return "host_thread" if isinstance(track.pid, int) and isinstance(track.tid, int) else "other"


def _key(key: Key) -> Key:
    """A process or thread key; one that is a number in quotes means the number (rocprofiler writes them so)."""
    return int(key) if isinstance(key, str) and _DECIMAL.fullmatch(key) else key


def _number_or_text(key: Key) -> tuple[int, str]:
    """A process or thread key as (number, text): -1 and the text where it is not a number an int64 holds."""
    if isinstance(key, int) and 0 <= key < 2**63:
        return key, ""
    return -1, str(key)
