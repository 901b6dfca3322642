"""Where the time goes: operations, categories, modules, tracks, source lines by their time."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from neuron_profile.analysis.arguments import top_rows
from neuron_profile.analysis.launches.launching import launching_slice
from neuron_profile.analysis.operations.labels import GROUPINGS, labels
from neuron_profile.analysis.operations.outermost import Placing
from neuron_profile.analysis.operations.own_time import own_time_ns
from neuron_profile.analysis.operations.totals import Work, totals
from neuron_profile.analysis.sides import ANNOTATION, DEVICE, side_of_slices
from trace_format import Trace

Array = np.ndarray


def hotspots(trace: Trace, by: str = "name", top: int | None = None) -> pd.DataFrame:
    """The work in the trace by `by`, one row each: first what ran on the device, then what ran on the host.

    `by` is one of `GROUPINGS`: name; category; module (the innermost nn.Module that was running); track; source
    (the innermost line of the user's own code); op (the torch operator and the shapes it was given). Work of the
    device counts for the module, line or operator that launched it (see `host_slices.host_slice`: found by correlation,
    else external id, else time); what is not known of has a row of its own. By op, the host's rows are its operators
    alone. `top` keeps the first so many rows.

    Columns: name; category (by module, track, source: the one that takes most of the self time); count; total_ns (by
    name and category the sum of the durations: a recursive call counts once for each level; by module, source, track
    and op time counts once: a slice inside another of the same row and track adds nothing); self_ns (the durations
    less the time inside other slices of the same track; whole durations for instructions and DMA packets, which
    overlap in a pipeline and do not call one another); mean_ns, p50_ns, p95_ns and max_ns of the duration of one slice
    (pNN_ns: the shortest duration that NN % of them do not exceed, one that occurred); share_ratio (share of the self
    time of its side, device or host). Each side is ordered by self_ns, largest first. A slice that did not finish
    counts in `count` and adds nothing to any time; where none finished mean_ns is NaN, p50_ns, p95_ns and max_ns -1.
    Annotations are not work and are left out; by category they have a row whose share_ratio is NaN. Neither is what an
    engine waits for (category semaphore), which is left out.

    `attrs`: device_rows (how many rows are device work), device_self_ns and host_self_ns (what share_ratio is a
    share of), unfinished (slices counted without a time), and `why` where the trace cannot be grouped this way. By
    module, source and op also unattributed_ns (self time of the device that belongs to nothing known),
    unattributed_ratio (its share of device_self_ns), by_time_ns (what was attributed by time alone).
    A trace without slices gives an empty frame with the same columns.

    Raises ValueError for an unknown `by` and a `top` below 0.
    """
    top = top_rows(top)
    if by not in GROUPINGS:
        raise ValueError(f"cannot group by {by!r}: choose one of {', '.join(GROUPINGS)}")
    found = labels(trace, by)
    slices, own_ns = trace.slices, own_time_ns(trace)
    frame = totals(
        Work(found.of_slice, found.texts, slices.category, side_of_slices(trace), slices.dur_ns, own_ns),
        split_categories=by in ("name", "op"),
        annotations=by == "category",
        top=top,
        outermost_of=None if by in ("name", "category") else Placing(slices.track, slices.ts_ns, slices.parent),
    )
    if found.why:
        frame.attrs["why"] = found.why
    if found.unattributed is not None:
        frame.attrs.update(_attribution(trace, found.of_slice == found.unattributed, own_ns))
    return frame


def _attribution(trace: Trace, unattributed: Array, own_ns: Array) -> dict[str, float]:
    """How much device time belongs to nothing known, and how much of the rest does by time alone."""
    work = np.flatnonzero((side_of_slices(trace) == DEVICE) & (trace.slices.category != ANNOTATION))
    time_ns, unknown = np.maximum(own_ns[work], 0), unattributed[work]
    all_ns, unknown_ns = int(time_ns.sum()), int(time_ns[unknown].sum())
    return {
        "unattributed_ns": unknown_ns,
        "unattributed_ratio": unknown_ns / all_ns if all_ns else math.nan,
        "by_time_ns": int(time_ns[~unknown & (launching_slice(trace)[work] < 0)].sum()),
    }
