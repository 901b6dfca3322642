"""How the time of each side divides into categories of work."""

from __future__ import annotations

import pandas as pd

from neuron_profile.analysis.operations.hotspots import hotspots
from trace_format import Trace


def time_by_category(trace: Trace) -> pd.DataFrame:
    """The self time of each category of work, the device's first, each side by self time, largest first.

    Columns: side ("device" or "host"), category, count, self_ns, share_ratio (of the self time of its side; the
    shares of a side sum to 1). Annotations are no work and are left out. Work on several tracks at once counts
    for each of them. `attrs`: device_self_ns, host_self_ns, unfinished (see `hotspots`). A trace without
    slices gives an empty frame with the same columns.
    """
    frame = hotspots(trace, by="category")
    side = ["device"] * frame.attrs["device_rows"] + ["host"] * (len(frame) - frame.attrs["device_rows"])
    frame.insert(0, "side", pd.Series(side, dtype=object))
    work = frame[frame["category"] != "annotation"].reset_index(drop=True)
    out = work[["side", "category", "count", "self_ns", "share_ratio"]].copy()
    out.attrs = {name: frame.attrs[name] for name in ("device_self_ns", "host_self_ns", "unfinished")}
    return out
