"""What is shown of a large trace while its lanes are laid out: those at the top in full, the others in outline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from explorer_app.lod import Blocks, Lanes, Outline, Pyramid, Window, blocks_in_window, first_rows
from explorer_app.web.numbers import once
from explorer_app.web.timeline.data import TrackTexts, counters_of, moments_of
from explorer_app.web.timeline.headings import MOST_TRACKS, begins_folded, headings, tracks_with_content
from trace_format import Trace

Array = np.ndarray

# A screen has about 50 lanes. So many slices are laid out in a tenth of a second.
_TRACKS_AT_THE_TOP = 24
_SLICES_AT_THE_TOP = 1 << 20


class SketchLanes:
    """The lanes of a sketch: those of some tracks as they will be, and one for each other track that has slices.

    Attributes as those of `explorer_app.lod.Lanes`; `offset` counts the slices of the lanes before each.
    `is_outlined` (tracks,) says which tracks are shown in outline.
    """

    def __init__(self, trace: Trace, tracks: Sequence[int]) -> None:
        bounds = first_rows(trace)
        rows = [np.arange(bounds[track], bounds[track + 1]) for track in sorted(tracks)]
        self.drawn = Lanes(trace, np.concatenate([np.zeros(0, np.int64), *rows]))
        self.outline = Outline(trace)
        self.pyramid = Pyramid(self.drawn)
        self.start_of_trace_ns, self.end_ns = self.drawn.start_of_trace_ns, self.drawn.end_ns
        slices_of = np.diff(bounds)
        is_drawn = self.drawn.depths > 0
        self.is_outlined = ~is_drawn & (slices_of > 0)
        self.depths = np.where(is_drawn, self.drawn.depths, self.is_outlined)
        self.first_lane = np.cumsum(self.depths) - self.depths
        self.count = int(self.depths.sum())
        self._track = np.repeat(np.arange(len(self.depths)), self.depths)
        self._drawn_lane = np.arange(self.count) + (self.drawn.first_lane - self.first_lane)[self._track]
        self._drawn_lane[~is_drawn[self._track]] = -1
        drawn_sizes = np.append(np.diff(self.drawn.offset), 0)
        sizes = np.where(self._drawn_lane >= 0, drawn_sizes[self._drawn_lane], slices_of[self._track])
        self.offset = np.r_[0, np.cumsum(sizes)]

    def blocks(self, window: Window, lanes: Sequence[int]) -> Blocks:
        """What is drawn on these lanes in a window; chunks of slices on those that are not laid out yet."""
        asked = np.array(lanes, np.int64)
        drawn = self._drawn_lane[asked]
        of_drawn, of_others = np.flatnonzero(drawn >= 0), np.flatnonzero(drawn < 0)
        exact = blocks_in_window(self.pyramid, window, drawn[of_drawn].tolist())
        chunks = self.outline.blocks(window, self._track[asked[of_others]].tolist())
        columns = {
            column.name: np.concatenate([getattr(exact, column.name), getattr(chunks, column.name)])
            for column in fields(Blocks)
        }
        columns["lane"] = np.concatenate([of_drawn[exact.lane], of_others[chunks.lane]]).astype(np.uint16)
        order = np.argsort(columns["lane"], kind="stable")
        return Blocks(**{name: values[order] for name, values in columns.items()})


class Sketch(TrackTexts):
    """A trace as far as it can be shown at once; what `TimelineData` has, as far as the overview and the canvas ask."""

    is_whole = False

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self.moments = once(moments_of, trace)
        self.counters = once(counters_of, trace)
        self.lanes = SketchLanes(trace, self._at_the_top())
        trace.release()

    @property
    def start_ns(self) -> int:
        """The first moment of the trace."""
        return self.lanes.start_of_trace_ns

    def blocks(self, window: Window, lanes: Sequence[int]) -> Blocks:
        """What is drawn on these lanes in a window."""
        return self.lanes.blocks(window, lanes)

    def _at_the_top(self) -> list[int]:
        """Of the tracks that are seen first those that are quickly laid out."""
        trace = self.trace
        slices_of = np.diff(first_rows(trace))
        durable = slices_of + self.counters.rows.counts > 0
        shown = tracks_with_content(trace)[:MOST_TRACKS]
        open_headings = [h for h in headings(self, shown, durable) if not begins_folded(self, h)]
        tracks = [at for heading in open_headings for at in heading.tracks if slices_of[at]]
        chosen, room = [], _SLICES_AT_THE_TOP
        for track in tracks[:_TRACKS_AT_THE_TOP]:
            if slices_of[track] <= room:
                chosen.append(track)
                room -= int(slices_of[track])
        return chosen
