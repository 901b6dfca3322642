"""Bytes moved over time."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pandas as pd

from neuron_profile.analysis.bandwidth.bytes_moved import coverage
from neuron_profile.analysis.bandwidth.channel_loads import bin_edges, bounded, channel_loads
from neuron_profile.analysis.bandwidth.channels import Channel
from neuron_profile.analysis.bandwidth.movement import movement
from neuron_profile.analysis.bandwidth.spreading import spread
from neuron_profile.analysis.sides import DEVICE, HOST, SIDES, side_of_slices
from trace_format import Trace

Array = np.ndarray

_CHANNEL_COLUMNS = tuple(field.name for field in fields(Channel))
_BY = ("side", "channel")


def bandwidth(trace: Trace, bins: int = 500, by: str = "side") -> pd.DataFrame:
    """Bytes per second over time, in `bins` equal parts of the time in which bytes moved, in order of time.

    The bytes of a slice (see `bytes_moved`) are spread evenly over its duration, so that the bins sum to them. What
    moved none has no rows. There are fewer bins where the window has fewer nanoseconds.

    `by`: "side" has the device and the host; "channel" has the channels of `bandwidth_summary` in their order: a copy
    within a memory counts as read and as written, "memory" is both together, and HBM counters count too.

    Columns: start_ns, end_ns (exclusive), side ("device" or "host"), bytes_per_s, estimated_ratio (share of the
    bin's bytes worked out from shapes; NaN where nothing moved); by channel also rank, device, core (-1: not told),
    direction, queue.
    `attrs`: those of `bytes_moved`; bytes that slices without an end moved are among unplaced_bytes.
    A trace that tells of no bytes gives an empty frame with the same columns.

    Raises ValueError for fewer than one bin, and for another `by`.
    """
    if bins < 1:
        raise ValueError(f"bandwidth needs at least one bin, not {bins}")
    if by not in _BY:
        raise ValueError(f"bandwidth by {by!r} is unknown: use one of {', '.join(_BY)}")
    moved = movement(trace)
    frame = _by_side(trace, bins) if by == "side" else _by_channel(trace, bins)
    frame.attrs.update(coverage(moved))
    unfinished = trace.slices.dur_ns[moved.slice] < 0
    frame.attrs["unplaced_bytes"] += int(moved.bytes[unfinished].sum())
    return frame


def _by_side(trace: Trace, bins: int) -> pd.DataFrame:
    moved = movement(trace)
    finished = np.flatnonzero(trace.slices.dur_ns[moved.slice] >= 0)
    rows, nbytes, estimated = moved.slice[finished], moved.bytes[finished], moved.estimated[finished]
    side = side_of_slices(trace)[rows]
    start, dur_ns = bounded(trace.slices.ts_ns[rows], trace.slices.dur_ns[rows])
    edges = bin_edges(start, start + dur_ns, bins)
    parts = []
    for which in (DEVICE, HOST):
        mine = np.flatnonzero(side == which)
        if len(mine):
            whole = spread(edges, start[mine], dur_ns[mine], nbytes[mine])
            known = mine[estimated[mine]]
            parts.append(_frame(edges, SIDES[which], whole, spread(edges, start[known], dur_ns[known], nbytes[known])))
    return pd.concat(parts, ignore_index=True) if parts else _frame(edges, "", np.zeros(0), np.zeros(0))


def _by_channel(trace: Trace, bins: int) -> pd.DataFrame:
    loads = channel_loads(trace, bins)
    parts = [
        _frame(loads.edges, channel.side, load.binned, load.estimated_binned).assign(
            **{name: _filled(getattr(channel, name), len(loads.edges) - 1) for name in _CHANNEL_COLUMNS}
        )
        for channel, load in loads.of.items()
    ]
    frame = pd.concat(parts, ignore_index=True) if parts else _frame(loads.edges, "", np.zeros(0), np.zeros(0))
    return frame.reindex(columns=[*_CHANNEL_COLUMNS, "start_ns", "end_ns", "bytes_per_s", "estimated_ratio"])


def _filled(value: int | str, count: int) -> pd.Series:
    return pd.Series([value] * count, dtype=object if isinstance(value, str) else np.int64)


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
