"""The part of a trace that was measured, where another was simulated."""

from __future__ import annotations

import numpy as np

from trace_format import Trace

WINDOW = "window_ns"  # in the metadata of a part of a trace: the window [start, end) that it was cut to


def measured_window_ns(trace: Trace) -> tuple[int, int] | None:
    """First start and last end of anything that was measured; of a part of a trace (see `cut`) its window.

    None for a trace in which nothing has a time.
    """
    window = trace.metadata.get(WINDOW)
    if window is not None:
        return int(window[0]), int(window[1])
    simulated = trace.tracks.simulated
    if not simulated.any():
        return trace.time_range_ns
    starts, ends = [], []
    for table in (trace.slices, trace.instants, trace.counters, trace.samples):
        rows = np.flatnonzero(~simulated[table.track])
        if len(rows):
            ts_ns = table.ts_ns[rows]
            dur_ns = np.maximum(table.dur_ns[rows], 0) if table is trace.slices else 0
            starts.append(int(ts_ns.min()))
            ends.append(int((ts_ns + dur_ns).max()))
    if len(trace.memory):
        starts.append(int(trace.memory.ts_ns.min()))
        ends.append(int(trace.memory.ts_ns.max()))
    return (min(starts), max(ends)) if starts else None
