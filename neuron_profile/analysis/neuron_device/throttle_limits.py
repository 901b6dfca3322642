"""When a run was throttled, and how far."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuron_profile.analysis.neuron_device.runs import Run
from neuron_profile.analysis.neuron_device.sums import throttle_states
from trace_format import Trace

_PS_PER_NS = 1000


def throttle_limits(trace: Trace, run: Run) -> pd.DataFrame:
    """The throttle records of a run that tell their limit, in order of core and time.

    Columns: core, state (AWS's type), start_ns (since the run began), dur_ns, limit_ratio (k/n: what share of its
    rate the core may use), slice (the record's row). Empty for a run without such records.
    """
    rows = run.throttles
    state, limit = throttle_states(trace, rows)
    core = run.track_core[rows.track].astype(np.int64)
    known = np.flatnonzero(state >= 0)
    order = known[np.lexsort((rows.start_ps[known], core[known]))]
    return pd.DataFrame(
        {
            "core": core[order],
            "state": state[order],
            "start_ns": rows.start_ps[order] // _PS_PER_NS,
            "dur_ns": rows.dur_ps[order] // _PS_PER_NS,
            "limit_ratio": limit[order],
            "slice": rows.slice[order],
        }
    )
