"""Where the slices of each track lie, before it is known how they lie in each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from explorer_app.lod.blocks import Blocks
from explorer_app.lod.window import Window
from trace_format import Trace
from trace_format.spill import release

Array = np.ndarray

# More than a screen shows of its tracks, and few enough that going through them one by one costs little.
_MOST_CHUNKS = 2048
_LEAST_ROWS = 1024


class Outline:
    """The slices of each track in chunks of neighbours, one lane to a track; columns `(chunks,)`.

    - `offset` (tracks + 1,) int64: the chunks of track T are [offset[T], offset[T + 1]).
    - `start_ns`, `end_ns` int64: from the start of its first slice to the last end of any, at most to where the next
      chunk of the track begins.
    - `busy_ns` int64: how much of that time slices of the track cover.
    - `count` int64: how many slices it has. `row` int64: the first of those that are longest, in the trace's table.
    """

    def __init__(self, trace: Trace) -> None:
        """The outline of a trace whose slices are in order of track (see `first_rows`)."""
        slices, bounds = trace.slices, first_rows(trace)
        end_of_trace_ns = (trace.time_range_ns or (0, 0))[1]
        rows_at_a_time = max(_LEAST_ROWS, -(-len(slices) // _MOST_CHUNKS))
        found: list[tuple[int, ...]] = []
        self.offset = np.zeros(len(bounds), np.int64)
        for track, (begin, stop) in enumerate(pairwise(bounds.tolist())):
            covered_to_ns = 0
            for first in range(begin, stop, rows_at_a_time):
                last = min(first + rows_at_a_time, stop)
                start_ns, dur_ns = slices.ts_ns[first:last], slices.dur_ns[first:last]
                lasting_ns = np.where(dur_ns < 0, end_of_trace_ns - start_ns, dur_ns)
                begin_ns = int(start_ns[0])
                # up to where slices cover the track when each of these begins, and in the end
                reach_ns = np.empty(len(start_ns) + 1, np.int64)
                reach_ns[0] = begin_ns if first == begin else max(covered_to_ns, begin_ns)
                np.add(start_ns, lasting_ns, out=reach_ns[1:])
                np.maximum.accumulate(reach_ns, out=reach_ns)
                covered_to_ns = int(reach_ns[-1])
                end_ns = covered_to_ns if last == stop else min(covered_to_ns, int(slices.ts_ns[last]))
                idle_ns = int(np.maximum(start_ns - reach_ns[:-1], 0).sum())
                longest = first + int(np.argmax(lasting_ns))
                found.append((begin_ns, end_ns, end_ns - begin_ns - idle_ns, last - first, longest))
            self.offset[track + 1] = len(found)
        release([slices.ts_ns, slices.dur_ns])
        self.start_ns, self.end_ns, self.busy_ns, self.count, self.row = np.array(found, np.int64).reshape(-1, 5).T

    def blocks(self, window: Window, tracks: Sequence[int]) -> Blocks:
        """The chunks of these tracks that share a moment with the window; `lane` is the index into `tracks`."""
        parts = [np.zeros(0, np.int64)]
        for track in tracks:
            low, high = int(self.offset[track]), int(self.offset[track + 1])
            first = low + int(np.searchsorted(self.end_ns[low:high], window.start_ns, "left"))
            stop = low + int(np.searchsorted(self.start_ns[low:high], window.end_ns, "left"))
            parts.append(np.arange(first, max(first, stop)))
        at = np.concatenate(parts)
        return Blocks(
            lane=np.repeat(np.arange(len(tracks), dtype=np.uint16), [len(part) for part in parts[1:]]),
            start_ns=self.start_ns[at],
            end_ns=self.end_ns[at],
            busy_ns=self.busy_ns[at],
            count=self.count[at].astype(np.uint32),
            row=self.row[at].astype(np.uint32),
        )


def first_rows(trace: Trace) -> Array:
    """Where the slices of each track begin, `(tracks + 1,)` int64, closed by the number of slices.

    For a trace whose slices are in order of track.
    """
    return np.searchsorted(trace.slices.track, np.arange(len(trace.tracks) + 1, dtype=np.uint32))


def is_in_order_of_track(trace: Trace) -> bool:
    """Whether the slices are in order of track, which an outline needs."""
    track = trace.slices.track
    return bool(np.all(track[1:] >= track[:-1]))
