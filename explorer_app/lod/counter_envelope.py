"""Counters in a window: the smallest and the largest value on each pixel."""

from __future__ import annotations

import numpy as np

from explorer_app.lod.moments import RowsByTrack
from explorer_app.lod.window import Window
from trace_format.tables import Table

Array = np.ndarray


class CounterEnvelopes:
    """The counters of a trace, ready to be asked for by window. A value holds until the next one."""

    def __init__(self, counters: Table, tracks: int) -> None:
        self.rows = RowsByTrack(counters, tracks)
        self.value = counters.value[self.rows.row]

    def in_window(self, window: Window, track: int) -> tuple[Array, Array]:
        """Smallest and largest value on each pixel, `(width_px,)` float64 each.

        NaN where the counter has no value yet, or says nothing but NaN.
        """
        here = self.rows.of(track)
        ts_ns, value = self.rows.ts_ns[here], np.append(self.value[here], np.nan)
        edges = window.edges_ns
        first = np.searchsorted(ts_ns, edges, "left")
        # the value that holds when the pixel begins counts as well, unless one begins with it
        carried = (first[:-1] > 0) & (np.append(ts_ns, window.end_ns)[first[:-1]] != edges[:-1])
        bounds = np.empty(2 * window.width_px, np.int64)
        bounds[0::2] = first[:-1] - carried
        bounds[1::2] = first[1:]
        nothing = bounds[0::2] >= bounds[1::2]
        low = np.fmin.reduceat(value, bounds)[0::2]
        high = np.fmax.reduceat(value, bounds)[0::2]
        low[nothing] = high[nothing] = np.nan
        return low, high

    def extremes(self, track: int) -> tuple[float, float] | None:
        """Smallest and largest value of a counter over the whole trace; None for one without values."""
        value = self.value[self.rows.of(track)]
        known = value[np.isfinite(value)]
        return (float(known.min()), float(known.max())) if len(known) else None
