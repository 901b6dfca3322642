"""What the timeline asks of a trace again and again, prepared once."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from explorer_app.lod import CounterEnvelopes, Lanes, Moments, Pyramid
from explorer_app.web import names
from trace_format import Trace

Array = np.ndarray


class TimelineData:
    """The lanes, counters and instants of a trace. Get it with `numbers.once(TimelineData, trace)`."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        tracks = len(trace.tracks)
        self.lanes = Lanes(trace)
        self.moments = Moments(trace.instants, tracks)
        self.counters = CounterEnvelopes(trace.counters, tracks)
        self.pyramid = Pyramid(self.lanes)
        trace.release()

    @property
    def start_ns(self) -> int:
        """The first moment of the trace; times in the browser count from here, where doubles are exact."""
        return self.lanes.start_of_trace_ns

    @cached_property
    def slices_by_name(self) -> Array:
        """How many slices have each name, `(strings,)`."""
        return np.bincount(self.trace.slices.name, minlength=len(self.trace.pool.strings))

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
