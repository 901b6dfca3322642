"""What counts as an operation: the work of devices and the operators of the host, not the Python around them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuron_profile.analysis.arguments import top_rows
from neuron_profile.analysis.operations.hotspots import hotspots
from neuron_profile.analysis.sides import DEVICE, HOST
from trace_format import Trace


def operations(trace: Trace, top: int | None = None) -> pd.DataFrame:
    """The operations of a trace, by self time: `hotspots` by name without Python frames, where operators were recorded.

    A Python frame that waits or sleeps is where the time passes, not what it is spent on; where nothing else was
    recorded (VizTracer, cProfile) the frames are all there is, and stay.

    Columns and `attrs`: those of `hotspots`; share_ratio and host_self_ns are without the frames too. `top` keeps the
    first so many rows. Raises ValueError for a `top` below 0.
    """
    top = top_rows(top)
    frame = hotspots(trace, by="name")
    is_python = (frame["category"] == "python").to_numpy()
    attrs = dict(frame.attrs)
    if is_python.any() and (frame["category"] == "host_op").any():
        side = np.where(np.arange(len(frame)) < attrs["device_rows"], DEVICE, HOST)
        attrs["device_rows"] -= int((is_python & (side == DEVICE)).sum())
        frame, side = frame[~is_python].reset_index(drop=True), side[~is_python]
        attrs["host_self_ns"] = int(frame["self_ns"].to_numpy()[side == HOST].sum())
        of_host = side == HOST
        if attrs["host_self_ns"]:
            share = frame["share_ratio"].to_numpy().copy()
            share[of_host] = frame["self_ns"].to_numpy()[of_host] / attrs["host_self_ns"]
            frame["share_ratio"] = share
    if top is not None:
        frame = frame.head(top)
        attrs["device_rows"] = min(attrs["device_rows"], top)
    frame.attrs = attrs
    return frame
