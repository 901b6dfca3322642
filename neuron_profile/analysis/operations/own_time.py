"""How much of its duration a slice has for itself."""

from __future__ import annotations

import numpy as np

from trace_format import TRACK_KINDS, Trace

Array = np.ndarray

# Instructions of an engine and packets of a queue overlap because they are under way at once, in a pipeline.
_PIPELINES = [TRACK_KINDS.index(kind) for kind in ("engine", "dma_queue")]


def own_time_ns(trace: Trace) -> Array:
    """The time of each slice outside of those it called, `(n,) int64` in nanoseconds; -1 where it did not finish.

    Its self time where slices of a track call one another; its duration where they are under way side by side.
    """
    slices = trace.slices
    pipelined = np.isin(trace.tracks.kind, _PIPELINES)
    if not pipelined.any():
        return slices.self_ns
    return np.where(pipelined[slices.track], slices.dur_ns, slices.self_ns)
