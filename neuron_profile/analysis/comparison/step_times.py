"""The self time of one operation in each step."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuron_profile.analysis.operations.own_time import own_time_ns
from neuron_profile.analysis.sides import ANNOTATION, NEITHER, side_of_slices
from trace_format import Trace

Array = np.ndarray


def self_time_by_step(trace: Trace, found: pd.DataFrame, operation: str) -> Array:
    """The self time of the slices of this name in each of the steps `found` (see `steps`): `(numbers of steps,)` ns.

    A slice belongs to the step of its rank in which it starts; steps of one number are one, whatever their ranks. What
    starts in no step is left out. Annotations and simulated work are none of an operation's.
    """
    slices, strings = trace.slices, trace.pool.strings
    rows = np.flatnonzero((slices.name == strings.find(operation)) & (slices.category != ANNOTATION))
    rows = rows[side_of_slices(trace)[rows] != NEITHER]
    time_ns, ts_ns = np.maximum(own_time_ns(trace)[rows], 0), slices.ts_ns[rows]
    rank = trace.tracks.rank[slices.track[rows]] if len(rows) else rows
    numbers, number_of = np.unique(found["step"].to_numpy(np.int64), return_inverse=True)
    start, end, rank_of = (found[name].to_numpy(np.int64) for name in ("start_ns", "end_ns", "rank"))
    sums = np.zeros(len(numbers), np.int64)
    ranks = np.unique(rank_of)
    for one in ranks.tolist():
        mine = np.flatnonzero(rank_of == one)
        mine = mine[np.argsort(start[mine], kind="stable")]
        own = np.flatnonzero(rank == one) if len(ranks) > 1 else np.arange(len(rows))
        at = np.searchsorted(start[mine], ts_ns[own], "right") - 1
        inside = (at >= 0) & (ts_ns[own] < end[mine][at])
        np.add.at(sums, number_of[mine[at[inside]]], time_ns[own[inside]])
    return sums.astype(np.float64)
