"""What a breakdown and its parts are called, on the console and in the browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd

from explorer_app import format as fmt
from neuron_profile.analysis.breakdown import busiest_steps

# The category whose colour each part has.
PART_CATEGORIES: Final[dict[str, str]] = {
    "compute_ns": "compute", "exposed_collective_ns": "collective", "exposed_copy_ns": "memcpy",
    "data_loading_ns": "python", "idle_peer_ns": "semaphore", "idle_compile_ns": "compile",
    "idle_data_loading_ns": "python", "idle_sync_ns": "sync", "idle_host_ns": "host_op",
    "idle_launch_ns": "runtime", "idle_run_ns": "overhead", "idle_other_ns": "other",
}  # fmt: skip
# In the order in which they are shown.
PART_NAMES: Final[dict[str, str]] = {
    "compute_ns": "compute",
    "exposed_collective_ns": "collectives, nothing computed",
    "exposed_copy_ns": "copies, nothing else done",
    "data_loading_ns": "loading data",
    "idle_peer_ns": "idle: waiting in a collective for the last rank",
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
    "idle_peer_ns": "waiting in a collective for the last rank",
    "idle_compile_ns": "compiling",
    "idle_host_ns": "no operator running (Python and the like)",
    "idle_other_ns": "unknown: no operator was recorded",
}

SIMULATED_PART_NAMES: Final[dict[str, str]] = {
    "compute_ns": "an engine works",
    "exposed_collective_ns": "collectives, no engine working",
    "exposed_copy_ns": "DMA, no engine working",
    "idle_run_ns": "in a NEFF, nothing of it working",
    "idle_host_ns": "idle: the host had asked for nothing",
}


def names_of(breakdown: pd.DataFrame) -> Mapping[str, str]:
    """The names of the parts of `analysis.breakdown`: those of a device, or of a host alone."""
    on_host = len(breakdown) > 0 and bool((breakdown["device"] < 0).all())
    return HOST_PART_NAMES if on_host else PART_NAMES


def is_told(parts: Mapping[str, int]) -> bool:
    """Whether the parts of `analysis.breakdown.busiest` tell of anything: work, or waiting whose cause is known."""
    return parts.get("total_ns", 0) > parts.get("idle_other_ns", 0)


def whose(breakdown: pd.DataFrame) -> str:
    """The rank or device whose parts `analysis.breakdown.busiest` has: "rank 3"; "" where there is no other."""
    shown = busiest_steps(breakdown)
    if not len(shown):
        return ""
    rank, device = int(shown["rank"].iloc[0]), int(shown["device"].iloc[0])
    of_rank = breakdown.loc[breakdown["rank"] == rank, "device"]
    named = [f"rank {rank}"] if rank >= 0 and breakdown["rank"].nunique() > 1 else []
    named += [f"device {device}"] if device >= 0 and of_rank.nunique() > 1 else []
    return ", ".join(named)


def largest(parts: Mapping[str, int], names: Mapping[str, str]) -> str:
    """The largest of the parts of `analysis.breakdown.busiest`, which is not empty."""
    return max(names, key=lambda name: parts.get(name, 0))


def in_sentence(name: str) -> str:
    """What a part is called within a sentence: "idle (launched, but not begun)"."""
    what, colon, why = name.partition(": ")
    return f"{what} ({why})" if colon else name


def extent(breakdown: pd.DataFrame) -> str:
    """What the parts are parts of: "5 steps", or "the whole window" where none are marked."""
    if breakdown.attrs["found_by"] == "window":
        return "the whole window"
    return fmt.counted(int(breakdown.groupby("rank")["step"].nunique().max()), "step")
