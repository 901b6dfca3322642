"""Instants in a window, merged where several fall on one pixel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer_app.lod.window import Window
from trace_format.tables import Table

Array = np.ndarray


class RowsByTrack:
    """The rows of an instants or counters table, track by track in order of time.

    `offset` (tracks + 1,) int64: the rows of track T are `row[offset[T]:offset[T + 1]]`; `ts_ns` (n,) int64 is
    in the same order.
    """

    def __init__(self, table: Table, tracks: int) -> None:
        self.row = np.lexsort((table.ts_ns, table.track))
        self.ts_ns = table.ts_ns[self.row]
        self.offset = np.zeros(tracks + 1, np.int64)
        np.cumsum(np.bincount(table.track, minlength=tracks), out=self.offset[1:])

    def of(self, track: int) -> slice:
        """Where the rows of a track are."""
        return slice(int(self.offset[track]), int(self.offset[track + 1]))

    @property
    def counts(self) -> Array:
        """How many rows each track has, `(tracks,)`."""
        return np.diff(self.offset)


@dataclass(frozen=True, slots=True)
class Ticks:
    """Ticks ordered by track, then time; columns `(n,)`.

    - `track` uint16: index into the tracks that were asked for.
    - `ts_ns` int64: the moment of the first instant of the tick.
    - `count` uint32: how many instants it stands for.
    - `row` uint32: the first of them, as a row of the trace's table.
    """

    track: Array
    ts_ns: Array
    count: Array
    row: Array

    def __len__(self) -> int:
        return len(self.track)


class Moments:
    """The instants of a trace, ready to be asked for by window."""

    def __init__(self, instants: Table, tracks: int) -> None:
        self.rows = RowsByTrack(instants, tracks)

    def in_window(self, window: Window, tracks: Sequence[int]) -> Ticks:
        """The instants in the window on these tracks, at most one tick for each cell of the window's grid."""
        rows = self.rows
        parts: list[tuple[Array, ...]] = [(np.zeros(0, np.uint16), np.zeros(0, np.int64), np.zeros(0, np.int64))]
        for index, track in enumerate(tracks):
            here = rows.of(track)
            first, stop = here.start + np.searchsorted(rows.ts_ns[here], [window.start_ns, window.end_ns], "left")
            cell = rows.ts_ns[first:stop] >> window.shift
            heads = np.flatnonzero(np.diff(cell, prepend=cell[:1] - 1))
            parts.append((np.full(len(heads), index, np.uint16), first + heads, np.diff(heads, append=len(cell))))
        track_index, at, count = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Ticks(track_index, rows.ts_ns[at], count.astype(np.uint32), rows.row[at].astype(np.uint32))
