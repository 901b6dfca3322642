"""Bytes moved over time."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuron_profile.analysis.bytes_moved import coverage
from neuron_profile.analysis.movement import movement
from neuron_profile.analysis.sides import DEVICE, HOST, SIDES, side_of_slices
from neuron_profile.analysis.spreading import spread
from trace_format import Trace

Array = np.ndarray


def bandwidth(trace: Trace, bins: int = 500) -> pd.DataFrame:
    """Bytes per second of each side, in `bins` equal parts of the time in which bytes moved, in order of time.

    The bytes of a slice (see `bytes_moved`) are spread evenly over its duration, so that the bins sum to them. A
    side that moved none has no rows. There are fewer bins where the window has fewer nanoseconds.

    Columns: start_ns, end_ns (exclusive), side ("device" or "host"), bytes_per_s, estimated_ratio (share of the
    bin's bytes worked out from shapes; NaN where nothing moved).
    `attrs`: those of `bytes_moved`; bytes that slices without an end moved are among unplaced_bytes.
    A trace that tells of no bytes gives an empty frame with the same columns.

    Raises ValueError for fewer than one bin.
    """
    if bins < 1:
        raise ValueError(f"bandwidth needs at least one bin, not {bins}")
    moved = movement(trace)
    finished = trace.slices.dur_ns[moved.slice] >= 0
    rows, nbytes, estimated = moved.slice[finished], moved.bytes[finished], moved.estimated[finished]
    side = side_of_slices(trace)[rows]
    start, dur_ns = trace.slices.ts_ns[rows], trace.slices.dur_ns[rows]
    edges = _edges(start, start + dur_ns, bins)
    parts = []
    for which in (DEVICE, HOST):
        mine = side == which
        if mine.any():
            whole = spread(edges, start[mine], dur_ns[mine], nbytes[mine])
            known = mine & estimated
            parts.append(_frame(edges, SIDES[which], whole, spread(edges, start[known], dur_ns[known], nbytes[known])))
    frame = pd.concat(parts, ignore_index=True) if parts else _frame(edges, "", np.zeros(0), np.zeros(0))
    frame.attrs.update(coverage(moved))
    frame.attrs["unplaced_bytes"] += int(moved.bytes[~finished].sum())
    return frame


def _edges(start: Array, end: Array, bins: int) -> Array:
    """The borders of the bins, `(bins + 1,) int64`; one border alone where there is nothing to spread."""
    if len(start) == 0:
        return np.zeros(1, np.int64)
    first, last = int(start.min()), int(end.max())
    # a slice without duration at the very end needs a bin to lie in
    span = max(last - first, 1) + int(bool((start == last).any()) and last > first)
    bins = min(bins, span)
    return np.array([first + span * i // bins for i in range(bins + 1)], np.int64)


def _frame(edges: Array, side: str, whole: Array, estimated: Array) -> pd.DataFrame:
    with np.errstate(divide="ignore", invalid="ignore"):
        estimated_ratio = np.where(whole > 0, np.minimum(estimated / whole, 1.0), np.nan)
    return pd.DataFrame(
        {
            "start_ns": edges[:-1],
            "end_ns": edges[1:],
            "side": pd.Series([side] * (len(edges) - 1), dtype=object),
            "bytes_per_s": whole / np.diff(edges) * 1e9,
            "estimated_ratio": estimated_ratio,
        }
    )
