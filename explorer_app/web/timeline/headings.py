"""Under which headings the tracks of the timeline stand: processes, and the groups of tracks within them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from explorer_app.web.timeline.data import TimelineData, TrackTexts
from explorer_app.web.timeline.idle_threads import is_idle_thread
from trace_format import TRACK_KINDS, Trace

Array = np.ndarray

# More tracks than anyone scrolls through; the rest is left out and the page says how many.
MOST_TRACKS: Final = 5000
# A group within another that is longer than this begins folded: its heading says how many tracks it has.
_LONGEST_OPEN: Final = 24
_STREAM: Final = TRACK_KINDS.index("stream")
_SEMAPHORE: Final = TRACK_KINDS.index("semaphore")
_HOST_THREAD: Final = TRACK_KINDS.index("host_thread")
_COMPILE: Final = TRACK_KINDS.index("compile")
_NO_RANK: Final = 1 << 31  # after all ranks
_DEVICES, _HOSTS, _OTHERS = range(3)
_OF_DEVICES: Final = ("stream", "engine", "dma_queue", "collective", "throttle", "device_annotation")
_OF_HOSTS: Final = ("host_thread", "runtime", "compile", "async")
_SIDE_OF_KIND: Final = np.array(
    [_DEVICES if kind in _OF_DEVICES else _HOSTS if kind in _OF_HOSTS else _OTHERS for kind in TRACK_KINDS]
)
_PLACE_OF_KIND: Final = np.array([{"collective": 0, "compile": 1}.get(kind, 2) for kind in TRACK_KINDS])
# A compile within others is a lane more; how long the outermost took is seen on one.
_DEEPEST_COMPILE: Final = 2


@dataclass
class Heading:
    """A process or a group within one.

    - `track`: the track that stands for it, and `tracks` those under it, in the order of their source.
    - `path`: the tracks from its outermost one to it. `within`: the heading around it, None for a process.
    - `is_loose`: tracks that belong to no other, put together by rank and process id.
    """

    track: int
    path: tuple[int, ...]
    is_loose: bool = False
    tracks: list[int] = field(default_factory=list)
    within: Heading | None = None

    @property
    def level(self) -> int:
        """How many headings lie around it."""
        return 0 if self.within is None else self.within.level + 1


def tracks_with_content(trace: Trace) -> list[int]:
    """The tracks that hold slices, instants or counters, in the order in which their source wants them shown."""
    tables = (trace.slices, trace.instants, trace.counters)
    held = sum(np.bincount(table.track, minlength=len(trace.tracks)) for table in tables)
    order = np.lexsort((np.arange(len(trace.tracks)), trace.tracks.sort_index))
    return order[np.asarray(held)[order] > 0].tolist()


def headings(data: TrackTexts, tracks: list[int], durable: Array) -> list[Heading]:
    """The headings over `tracks`, in the order in which they are shown, those of a group after its own tracks.

    Processes are in order of their rank, those of devices before those of the host, and then in the order that the
    source wants; those that hold nothing `durable` (flags of all tracks) but instants come last. Among the threads of a
    process its collectives and compiles come first.
    """
    table = data.trace.tracks
    shown = np.zeros(len(table), bool)
    shown[tracks] = True
    found: dict[int, Heading] = {}
    loose: dict[tuple[int, int], int] = {}
    for track in tracks:
        path = data.path(track)
        is_loose = len(path) == 1 and not (table.parent == track).any()
        if is_loose:
            path = (loose.setdefault((int(table.rank[track]), int(table.pid[track])), track),)
        elif len(path) > 1:
            path = path[:-1]
            while len(path) > 1 and shown[path[-1]]:  # what has slices of its own is a track and no heading
                path = path[:-1]
        found.setdefault(path[-1], Heading(path[-1], path, is_loose)).tracks.append(track)
    for heading in found.values():
        heading.within = next((found[at] for at in reversed(heading.path[:-1]) if at in found), None)
    lasting: dict[int, bool] = {}
    side: dict[int, int] = {}
    for heading in found.values():
        root, kinds = heading.path[0], table.kind[heading.tracks]
        lasting[root] = lasting.get(root, False) or bool(durable[heading.tracks].any())
        side[root] = min(side.get(root, _OTHERS), int(_SIDE_OF_KIND[kinds].min()))
        _by_number(data, heading.tracks)
        if (kinds == _HOST_THREAD).any():
            heading.tracks.sort(key=lambda track: int(_PLACE_OF_KIND[table.kind[track]]))

    def place(heading: Heading) -> tuple[bool, int, int, list[tuple[int, int]]]:
        root = heading.path[0]
        rank = int(table.rank[root])
        within = [(int(table.sort_index[at]), at) for at in heading.path]
        return not lasting[root], rank if rank >= 0 else _NO_RANK, side[root], within

    return sorted(found.values(), key=place)


def _by_number(data: TrackTexts, tracks: list[int]) -> None:
    """Put the streams among the tracks in the order of the numbers in their names, at the places that streams have."""
    table = data.trace.tracks
    places = [at for at, track in enumerate(tracks) if table.kind[track] == _STREAM]
    streams = sorted((tracks[at] for at in places), key=lambda track: _natural(data.label(int(table.name[track]))))
    for at, track in zip(places, streams, strict=True):
        tracks[at] = track


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """What sorts "stream 7" before "stream 25"."""
    parts = re.split(r"([0-9]{1,18})", name)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def begins_folded(data: TrackTexts, heading: Heading) -> bool:
    """Whether a heading hides its tracks until the reader opens it: long groups, and semaphores, within a process."""
    if heading.within is None:
        return False
    kinds = data.trace.tracks.kind[heading.tracks]
    return len(heading.tracks) > _LONGEST_OPEN or bool((kinds == _SEMAPHORE).all())


def track_begins_folded(data: TrackTexts, track: int, depths: int) -> bool:
    """Whether a track shows its outermost slices only until the reader opens it: compiles in compiles, and threads
    that do nothing but wait, as far as its lanes are laid out."""
    if data.trace.tracks.kind[track] == _COMPILE:
        return depths > _DEEPEST_COMPILE
    return isinstance(data, TimelineData) and is_idle_thread(data, track)
