"""What the parts of a breakdown are called, on the console and in the browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd

# In the order in which they are shown.
PART_NAMES: Final[dict[str, str]] = {
    "compute_ns": "compute",
    "exposed_collective_ns": "collectives, nothing computed",
    "exposed_copy_ns": "copies, nothing else done",
    "data_loading_ns": "loading data",
    "idle_compile_ns": "idle: the host compiled",
    "idle_data_loading_ns": "idle: the host loaded data",
    "idle_sync_ns": "idle: the host had waited for the device",
    "idle_host_ns": "idle: the host had launched nothing",
    "idle_launch_ns": "idle: launched, but not begun",
    "idle_other_ns": "idle: cause unknown",
}
# A host that is itself what is looked at launches nothing.
HOST_PART_NAMES: Final[dict[str, str]] = {
    **PART_NAMES,
    "compute_ns": "operators",
    "exposed_collective_ns": "collectives, no operator running",
    "idle_compile_ns": "compiling",
    "idle_host_ns": "no operator running (Python and the like)",
}


def names_of(breakdown: pd.DataFrame) -> Mapping[str, str]:
    """The names of the parts of `analysis.breakdown`: those of a device, or of a host alone."""
    on_host = len(breakdown) > 0 and bool((breakdown["device"] < 0).all())
    return HOST_PART_NAMES if on_host else PART_NAMES
