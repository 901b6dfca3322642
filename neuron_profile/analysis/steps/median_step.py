"""The step that stands for the others."""

from __future__ import annotations

import numpy as np

from neuron_profile.analysis.steps.steps import steps
from trace_format import Trace


def median_step(trace: Trace) -> tuple[int, int] | None:
    """[start, end) in ns of the step of the lowest rank that lasts as long as the median one of that rank.

    Of an even number the shorter of the two in the middle; of several alike the first. None for a trace without time.
    """
    found = steps(trace)
    if found.empty:
        return None
    mine = found[found["rank"] == found["rank"].min()]
    dur_ns = mine["dur_ns"].to_numpy()
    middle = mine.iloc[int(np.argmax(dur_ns == np.sort(dur_ns)[(len(dur_ns) - 1) // 2]))]
    return int(middle["start_ns"]), int(middle["end_ns"])
