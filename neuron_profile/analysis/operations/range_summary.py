"""What happened in a range of time: hotspots with every duration clipped to the range."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuron_profile.analysis.arguments import window
from neuron_profile.analysis.operations.totals import Work, totals
from neuron_profile.analysis.sides import side_of_tracks
from trace_format import Trace

Array = np.ndarray


def range_summary(trace: Trace, start_ns: int, end_ns: int) -> pd.DataFrame:
    """The work inside [start_ns, end_ns) by name, like `hotspots`, counting only the part of each slice inside.

    A slice without duration counts where its moment lies in the range; one that did not finish counts from its
    start on, without a time. The whole window of the trace gives the rows of `hotspots`. A range that meets
    nothing gives an empty frame with the same columns. Raises ValueError as `cut` does.
    """
    start_ns, end_ns = window(start_ns, end_ns)
    slices = trace.slices
    ts_ns, dur_ns = slices.ts_ns, slices.dur_ns
    stop_ns = ts_ns + np.maximum(dur_ns, 0)
    inside = (ts_ns < end_ns) & ((stop_ns > start_ns) | ((dur_ns <= 0) & (ts_ns >= start_ns)) | (dur_ns < 0))
    rows = np.flatnonzero(inside)
    starts, stops = np.maximum(ts_ns[rows], start_ns), np.minimum(stop_ns[rows], end_ns)
    unfinished = dur_ns[rows] < 0
    clipped_ns = np.where(unfinished, -1, stops - starts)
    self_ns = slices.self_ns[rows].copy()
    cut = np.flatnonzero((clipped_ns < dur_ns[rows]) & ~unfinished)
    self_ns[cut] = clipped_ns[cut] - _covered_by_children(rows, cut, slices.parent[rows], starts, stops)
    work = Work(
        slices.name[rows].astype(np.int64), trace.pool.strings.values, slices.category[rows],
        side_of_tracks(trace.tracks)[slices.track[rows]], clipped_ns, self_ns,
    )  # fmt: skip
    return totals(work, split_categories=True)


def _covered_by_children(rows: Array, cut: Array, parent: Array, starts: Array, stops: Array) -> Array:
    """How long the children of each of the few slices `cut` (positions in `rows`) cover it inside the range."""
    is_cut = np.zeros(len(rows), bool)
    is_cut[cut] = True
    at = np.searchsorted(rows, parent)
    child = np.flatnonzero((parent >= 0) & is_cut[np.minimum(at, len(rows) - 1)]) if len(rows) else cut
    child = child[np.lexsort((starts[child], at[child]))]
    bounds = np.searchsorted(at[child], cut, "left"), np.searchsorted(at[child], cut, "right")
    covered = np.zeros(len(cut), np.int64)
    for i, (first, last) in enumerate(zip(*bounds, strict=True)):
        s, e = starts[child[first:last]], stops[child[first:last]]
        if len(s):
            reached = np.maximum.accumulate(e)
            covered[i] = int(np.maximum(0, reached - np.maximum(s, np.r_[s[0], reached[:-1]])).sum())
    return covered
