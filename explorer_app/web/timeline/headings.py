"""Under which headings the tracks of the timeline stand: processes, and the groups of tracks within them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from explorer_app.web.timeline.data import TimelineData
from trace_format import TRACK_KINDS

Array = np.ndarray

# A group within another that is longer than this begins folded: its heading says how many tracks it has.
_LONGEST_OPEN: Final = 24
_SEMAPHORE: Final = TRACK_KINDS.index("semaphore")


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


def headings(data: TimelineData, tracks: list[int], durable: Array) -> list[Heading]:
    """The headings over `tracks`, in the order in which they are shown, those of a group after its own tracks.

    Processes are in the order that the source wants; those that hold nothing `durable` (flags of all tracks) but
    instants come last.
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
    for heading in found.values():
        root = heading.path[0]
        lasting[root] = lasting.get(root, False) or bool(durable[heading.tracks].any())

    def place(heading: Heading) -> tuple[bool, list[tuple[int, int]]]:
        return not lasting[heading.path[0]], [(int(table.sort_index[at]), at) for at in heading.path]

    return sorted(found.values(), key=place)


def begins_folded(data: TimelineData, heading: Heading) -> bool:
    """Whether a heading hides its tracks until the reader opens it: long groups, and semaphores, within a process."""
    if heading.within is None:
        return False
    kinds = data.trace.tracks.kind[heading.tracks]
    return len(heading.tracks) > _LONGEST_OPEN or bool((kinds == _SEMAPHORE).all())
