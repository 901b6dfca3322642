"""What the timeline asks of a trace again and again, prepared once."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from explorer_app.lod import CounterEnvelopes, Lanes, Moments, Pyramid
from trace_format import Trace

Array = np.ndarray

# A name is cut to this many characters wherever it only labels something; its slice's details have it whole.
LONGEST_LABEL = 400


class TimelineData:
    """The lanes, counters and instants of a trace. Get it with `numbers.once(TimelineData, trace)`."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        tracks = len(trace.tracks)
        self.lanes = Lanes(trace)
        self.moments = Moments(trace.instants, tracks)
        self.counters = CounterEnvelopes(trace.counters, tracks)
        self.pyramid = Pyramid(self.lanes)

    @property
    def start_ns(self) -> int:
        """The first moment of the trace; times in the browser count from here, where doubles are exact."""
        return self.lanes.start_of_trace_ns

    @cached_property
    def slices_by_name(self) -> Array:
        """How many slices have each name, `(strings,)`."""
        return np.bincount(self.trace.slices.name, minlength=len(self.trace.pool.strings))

    def label(self, string: int) -> str:
        """A string of the trace, cut to what a label can show."""
        return shortened(self.trace.pool.strings[string])

    def root(self, track: int) -> int:
        """The outermost track that a track belongs to: its process, where the trace has processes."""
        seen = {track}
        while (parent := int(self.trace.tracks.parent[track])) >= 0 and parent not in seen:
            seen.add(parent)
            track = parent
        return track


def shortened(text: str) -> str:
    """`text`, or its beginning and an ellipsis where it is longer than a label can show."""
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
