"""What the timeline asks of a trace again and again, prepared once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from explorer_app.lod import Blocks, CounterEnvelopes, Lanes, Moments, Pyramid, Window, blocks_in_window, kept
from explorer_app.web import names
from explorer_app.web.numbers import once
from trace_format import Trace

Array = np.ndarray

# Fewer are laid out in less time than a file takes to be opened and checked.
_LEAST_SLICES_KEPT: Final = 1 << 18
_places: WeakKeyDictionary[Trace, Path] = WeakKeyDictionary()


class TrackTexts:
    """How the strings and the tracks of a trace are called."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def label(self, string: int) -> str:
        """A string of the trace as a label shows it (see `names.label`); "" for an empty one."""
        return names.label(self.trace.pool.strings[string])

    def name(self, string: int) -> str:
        """The name of a slice or an instant as a label shows it (see `names.named`); its details have it whole."""
        return names.named(self.trace.pool.strings[string])

    def path(self, track: int) -> tuple[int, ...]:
        """The tracks from the outermost one, its process where the trace has processes, to the track itself."""
        path = [track]
        while (parent := int(self.trace.tracks.parent[path[-1]])) >= 0 and parent not in path:
            path.append(parent)
        return tuple(reversed(path))


class TimelineData(TrackTexts):
    """The lanes, counters and instants of a trace. Get it with `numbers.once(TimelineData, trace)`."""

    is_whole = True

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self.pyramid = once(pyramid_of_before, trace) or Pyramid(Lanes(trace))
        self.lanes = self.pyramid.lanes
        self.moments = once(moments_of, trace)
        self.counters = once(counters_of, trace)
        trace.release()

    @property
    def start_ns(self) -> int:
        """The first moment of the trace; times in the browser count from here, where doubles are exact."""
        return self.lanes.start_of_trace_ns

    @cached_property
    def slices_by_name(self) -> Array:
        """How many slices have each name, `(strings,)`."""
        return np.bincount(self.trace.slices.name, minlength=len(self.trace.pool.strings))

    def blocks(self, window: Window, lanes: Sequence[int]) -> Blocks:
        """What is drawn on these lanes in a window."""
        return blocks_in_window(self.pyramid, window, lanes)

    def build_levels_in_background(self) -> None:
        """Make what coarse windows are drawn from, and keep it for the next time; only the first call does anything."""
        place = _places.get(self.trace)

        def keep(pyramid: Pyramid) -> None:
            if place is not None and len(pyramid.lanes) >= _LEAST_SLICES_KEPT:
                kept.keep(pyramid, self.trace, place)

        self.pyramid.build_in_background(keep)


def keep_lanes_at(trace: Trace, place: Path | None) -> None:
    """Keep the lanes of a trace at this place of the cache, and take them from there if they were kept before."""
    if place is not None:
        _places[trace] = place


def pyramid_of_before(trace: Trace) -> Pyramid | None:
    """The lanes and levels of a trace as they were kept; None where they were not. Get them with `numbers.once`."""
    place = _places.get(trace)
    return kept.kept(trace, place) if place is not None else None


def moments_of(trace: Trace) -> Moments:
    """The instants of a trace; get them with `numbers.once`."""
    return Moments(trace.instants, len(trace.tracks))


def counters_of(trace: Trace) -> CounterEnvelopes:
    """The counters of a trace; get them with `numbers.once`."""
    return CounterEnvelopes(trace.counters, len(trace.tracks))
