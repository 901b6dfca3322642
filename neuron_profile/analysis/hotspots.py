"""Where the time goes: operations, categories, modules, tracks, source lines by their time."""

from __future__ import annotations

import pandas as pd

from neuron_profile.analysis.labels import GROUPINGS, labels
from neuron_profile.analysis.outermost import Placing
from neuron_profile.analysis.own_time import own_time_ns
from neuron_profile.analysis.sides import side_of_slices
from neuron_profile.analysis.totals import Work, totals
from trace_format import Trace


def hotspots(trace: Trace, by: str = "name", top: int | None = None) -> pd.DataFrame:
    """The work in the trace by `by`, one row each: first what ran on the device, then what ran on the host.

    `by` is one of `GROUPINGS`: name; category; module (the innermost nn.Module that was running); track; source
    (the innermost line of the user's own code); op (the torch operator and the shapes it was given). Work of the
    device counts for the module, line or operator that launched it; by op, the host's rows are its operators alone.
    `top` keeps the first so many rows.

    Columns: name; category (by module, track, source: the one that takes most of the self time); count; total_ns (by
    name and category the sum of the durations: a recursive call counts once for each level; by module, source, track
    and op time counts once: a slice inside another of the same row and track adds nothing); self_ns (the durations
    less the time inside other slices of the same track; whole durations for instructions and DMA packets, which
    overlap in a pipeline and do not call one another); mean_ns and max_ns of one slice; share_ratio (share of the
    self time of its side, device or host). Each side is ordered by self_ns, largest first. A slice that did not finish
    counts in `count` and adds nothing to any time; where none finished mean_ns is NaN and max_ns -1.
    Annotations are not work and are left out; by category they have a row whose share_ratio is NaN. Neither is what an
    engine waits for (category semaphore), which is left out.

    `attrs`: device_rows (how many rows are device work), device_self_ns and host_self_ns (what share_ratio is a
    share of), unfinished (slices counted without a time), and `why` where the trace cannot be grouped this way.
    A trace without slices gives an empty frame with the same columns.

    Raises ValueError for an unknown `by`.
    """
    if by not in GROUPINGS:
        raise ValueError(f"cannot group by {by!r}: choose one of {', '.join(GROUPINGS)}")
    found = labels(trace, by)
    slices = trace.slices
    frame = totals(
        Work(found.of_slice, found.texts, slices.category, side_of_slices(trace), slices.dur_ns, own_time_ns(trace)),
        split_categories=by in ("name", "op"),
        annotations=by == "category",
        top=top,
        outermost_of=None if by in ("name", "category") else Placing(slices.track, slices.ts_ns, slices.parent),
    )
    if found.why:
        frame.attrs["why"] = found.why
    return frame
