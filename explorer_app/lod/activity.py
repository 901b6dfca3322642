"""How busy lanes are over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer_app.lod.lanes import Lanes
from explorer_app.lod.window import Window

Array = np.ndarray


def busy_ratio(lanes: Lanes, window: Window, which: Sequence[int]) -> Array:
    """Busy share of the busiest of these lanes on each pixel of the window, `(width_px,)` float64 in 0..1.

    Exact: a slice counts with the part of it that lies on the pixel. Zero for no lanes.
    """
    edges = window.edges_ns
    most_ns = np.zeros(window.width_px)
    for lane in which:
        first, stop = int(lanes.offset[lane]), int(lanes.offset[lane + 1])
        if first == stop:
            continue
        last = first + np.maximum(np.searchsorted(lanes.start_ns[first:stop], edges, "right") - 1, 0)
        into = np.clip(edges - lanes.start_ns[last], 0, lanes.duration_ns(last))
        np.maximum(most_ns, np.diff(lanes.busy_before_ns[last] + into), out=most_ns)
    return most_ns / np.maximum(np.diff(edges), 1)
