"""How much of a host slice's time the device worked for it."""

from __future__ import annotations

import numpy as np

from neuron_profile.analysis.launches.host_slices import host_slice
from neuron_profile.analysis.sides import DEVICE, HOST, side_of_slices
from trace_format import Trace

Array = np.ndarray


def device_share(trace: Trace) -> Array:
    """Of each host slice the time of the device work that it and all inside of it launched, per time of its own.

    `(n,) float64`, NaN where unknown: what is not on the host, did not finish or took no time, and every slice where
    no measured device work is known to belong to any host slice. Above 1 where the device worked longer than the call
    lasted, as launches return at once, or on several streams at a time, which count each. Work that did not finish
    counts nothing.
    """
    slices, side = trace.slices, side_of_slices(trace)
    device = np.flatnonzero(side == DEVICE)
    cause = host_slice(trace)[device]
    device, cause = device[cause >= 0], cause[cause >= 0]
    if not len(device):
        return np.full(len(slices), np.nan)
    worked_ns = np.zeros(len(slices), np.int64)
    np.add.at(worked_ns, cause, np.maximum(slices.dur_ns[device], 0))
    _add_to_those_around(worked_ns, slices.parent, slices.depth)
    known = (side == HOST) & (slices.dur_ns > 0)
    return np.divide(worked_ns, slices.dur_ns, out=np.full(len(slices), np.nan), where=known)


def _add_to_those_around(values: Array, parent: Array, depth: Array) -> None:
    """Add the value of each slice to all slices around it, the innermost first."""
    # what has no value of its own yet gets one before its turn: a parent is one less deep
    deepest = int(depth.max(initial=0))
    inner = np.flatnonzero(parent >= 0)
    level_of = depth[inner]
    order = np.argsort(level_of.astype(np.uint16) if deepest < 1 << 16 else level_of, kind="stable")
    bounds = np.searchsorted(level_of[order], np.arange(deepest + 2))
    for level in range(deepest, 0, -1):
        rows = inner[order[bounds[level] : bounds[level + 1]]]
        rows = rows[values[rows] > 0]
        np.add.at(values, parent[rows], values[rows])
