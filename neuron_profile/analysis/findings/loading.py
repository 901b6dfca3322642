"""Steps that wait for their data."""

from __future__ import annotations

import numpy as np

from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.rule import Evidence, Rule
from neuron_profile.analysis.sides import HOST
from trace_format import number_text as text

LEAST_SHARE = 0.05
LEAST_SEEN = 0.2


def slow_loading(context: Context) -> Evidence | None:
    cost = context.average(context.part("data_loading_ns", "idle_data_loading_ns"))
    if cost.share_ratio < LEAST_SHARE or cost.seen < LEAST_SEEN * cost.steps:
        return None
    loads = context.named(r"enumerate\(DataLoader\)", np.flatnonzero(context.side == HOST))
    where = "while the device had nothing to do" if context.on_device else "and nothing else was computed"
    lines = [f"{context.told(cost)} in DataLoader's __next__ {where}"]
    if len(loads):
        per_step = context.median_count(loads)
        mean = float(np.maximum(context.trace.slices.dur_ns[loads], 0).mean())
        batches = "1 batch" if per_step == 1 else f"{text.count(per_step)} batches"
        lines.append(f"{batches} {context.per_step}, {text.duration(mean)} each ({context.name(int(loads[0]))})")
    title = f"Loading data holds up the {context.step} for {cost.text}"
    return Evidence(title, cost, tuple(lines), context.longest(loads))


RULES = (
    Rule(
        "slow-data-loading",
        "data_loading_ns and idle_data_loading_ns of the breakdown: torch.utils.data's __next__ and nothing else",
        f"{LEAST_SHARE:.0%} of the average step, in {LEAST_SEEN:.0%} of the steps; the first is not counted",
        "a loader that reads ahead is late now and then, and its workers start in the first step",
        slow_loading,
        "all of the time in which only the loader ran: a loader that reads ahead hides it",
        "Read ahead: DataLoader(num_workers=4, prefetch_factor=2, persistent_workers=True); decode once and cache; "
        "with a device also pin_memory=True.",
    ),
)
