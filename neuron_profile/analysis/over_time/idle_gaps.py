"""The longest times in which a device does nothing between two pieces of work, and what it waits for."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuron_profile.analysis.arguments import whole_number
from neuron_profile.analysis.breakdown.host import Hosts
from neuron_profile.analysis.breakdown.idle import idle_parts
from neuron_profile.analysis.breakdown.parts import PARTS
from neuron_profile.analysis.intervals import merged
from neuron_profile.analysis.launches.launching import launching_slice
from neuron_profile.analysis.work import NONE, by_device, device_work
from trace_format import Trace

Array = np.ndarray

# What a gap can be made of; a wait for another rank lies within a collective, which is work.
CAUSES = tuple(name for name in PARTS if name.startswith("idle_") and name != "idle_peer_ns")
_COLUMNS = ("rank", "device", "start_ns", "end_ns", "dur_ns", "cause", *CAUSES, "after", "before", "launched_by")


def idle_gaps(trace: Trace, top: int = 100) -> pd.DataFrame:
    """The `top` longest gaps between the work of each measured device, longest first.

    The causes are those of `breakdown`, and add up to the gap: `cause` is the one with most of it (the first of equal
    ones, "idle_host_ns" and so on), the columns of that name say how much each has.

    Columns: rank, device, start_ns, end_ns, dur_ns, cause, the causes, and rows of slices: after (the work that ended
    last before it), before (the work that ends it), launched_by (what launched that on the host; -1: not known).
    A trace without work of a device has no rows. Raises ValueError for fewer than one.
    """
    top = whole_number("top", top, least=1)
    kind = device_work(trace)
    if not kind.any():
        return pd.DataFrame(columns=list(_COLUMNS))
    launched_by, hosts = launching_slice(trace), Hosts(trace)
    frames = [
        _of_device(trace, rank, device, rows, launched_by, hosts, top)
        for rank, device, rows in by_device(trace, np.flatnonzero(kind != NONE))
    ]
    frame = pd.concat(frames, ignore_index=True)
    return frame.sort_values("dur_ns", ascending=False, kind="stable", ignore_index=True)


def _of_device(
    trace: Trace, rank: int, device: int, rows: Array, launched_by: Array, hosts: Hosts, top: int
) -> pd.DataFrame:
    slices = trace.slices
    rows = rows[np.argsort(slices.ts_ns[rows], kind="stable")]
    start = slices.ts_ns[rows]
    end = start + slices.dur_ns[rows]
    begin, stop = merged(start, end)
    length = begin[1:] - stop[:-1]
    longest = np.sort(np.argsort(-length, kind="stable")[:top])
    gaps = (stop[:-1][longest], begin[1:][longest])
    parts = idle_parts(trace, rows, gaps, launched_by, hosts.of(rank))
    none = np.zeros(len(longest), np.int64)
    causes = np.stack([parts.get(name, none) for name in CAUSES], axis=1)
    by_end = rows[np.argsort(end, kind="stable")]
    before = rows[np.searchsorted(start, gaps[1], "left")]
    columns = {
        "rank": rank, "device": device, "start_ns": gaps[0], "end_ns": gaps[1], "dur_ns": gaps[1] - gaps[0],
        "cause": np.array(CAUSES, object)[np.argmax(causes, axis=1)],
        **dict(zip(CAUSES, causes.T, strict=True)),
        "after": by_end[np.searchsorted(np.sort(end), gaps[0], "right") - 1], "before": before,
        "launched_by": launched_by[before],
    }  # fmt: skip
    return pd.DataFrame(columns)
