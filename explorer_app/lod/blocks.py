"""What is drawn on the lanes in a window: blocks, each a slice or a run of slices too short to tell apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from explorer_app.lod.lanes import Lanes
from explorer_app.lod.pyramid import Level, Pyramid, runs_in
from explorer_app.lod.runs import heads, merge
from explorer_app.lod.window import Window

Array = np.ndarray
_ROWS_AT_A_TIME = 1 << 20


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks ordered by lane, then start; columns `(n,)`.

    - `lane` uint16: index into the lanes that were asked for.
    - `start_ns`, `end_ns` int64: from the start of its first slice to the end of its last.
    - `busy_ns` int64: sum of the durations of its slices.
    - `count` uint32: how many slices it stands for.
    - `row` uint32: the longest of them, as a row of the trace's table.
    """

    lane: Array
    start_ns: Array
    end_ns: Array
    busy_ns: Array
    count: Array
    row: Array

    def __len__(self) -> int:
        return len(self.lane)

    @property
    def busy_ratio(self) -> Array:
        """Busy share of each block; 1 for a block without extent."""
        extent = self.end_ns - self.start_ns
        return np.divide(self.busy_ns, extent, out=np.ones(len(self)), where=extent > 0)


def blocks_in_window(pyramid: Pyramid, window: Window, lanes: Sequence[int]) -> Blocks:
    """The blocks that share a moment with the window, on these lanes.

    They are those of the whole trace on the window's grid, whichever levels are built. A run that the window cuts is
    given whole: over a part of a trace, counts and busy times exceed the window's by what the blocks at its
    edges hold outside it; over the whole trace they are exact.
    """
    store, level = pyramid.lanes, pyramid.level_for(window.shift)
    parts = [_blocks(store, level, window.shift, batch) for batch in _batches(store, window, lanes)]
    if len(parts) == 1:
        return parts[0]
    return Blocks(*(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(Blocks)))


def _batches(store: Lanes, window: Window, lanes: Sequence[int]) -> Iterator[list[tuple[int, int, int]]]:
    """(index into `lanes`, first, stop): the positions of the window's runs on each lane, about a million at a time."""
    batch: list[tuple[int, int, int]] = []
    size = 0
    for index, lane in enumerate(lanes):
        first, stop = store.positions(lane, window.start_ns, window.end_ns, window.shift)
        for begin, end in store.pieces(first, stop, window.shift):
            if batch and size + end - begin > _ROWS_AT_A_TIME:
                yield batch
                batch, size = [], 0
            batch.append((index, begin, end))
            size += end - begin
    yield batch


def _blocks(store: Lanes, level: Level | None, shift: int, batch: list[tuple[int, int, int]]) -> Blocks:
    """The blocks of one batch; what its ranges hold comes from a level (None: from the slices)."""
    ranges = [(first, stop) for _, first, stop in batch]
    runs, sizes = runs_in(level, ranges)
    begins = np.zeros(len(runs), bool)
    begins[np.cumsum(sizes) - sizes] = True
    at = heads(store, runs, begins, shift)
    merged = merge(store, runs, at)
    index = np.array([index for index, _, _ in batch], np.uint16)
    last = merged.stop - 1
    found = Blocks(
        lane=index[np.cumsum(begins[at]) - 1],
        start_ns=store.start_ns[merged.first],
        end_ns=store.start_ns[last] + store.duration_ns(last),
        busy_ns=store.busy_before_ns[merged.stop] - store.busy_before_ns[merged.first],
        count=(merged.stop - merged.first).astype(np.uint32),
        row=store.row[merged.longest],
    )
    store.release()
    return found
