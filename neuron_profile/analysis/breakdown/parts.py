"""The parts of a breakdown, the frame that holds them, and their sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.work import Intervals

Array = np.ndarray

PARTS = (
    "compute_ns", "exposed_collective_ns", "exposed_copy_ns", "data_loading_ns", "idle_peer_ns", "idle_compile_ns",
    "idle_data_loading_ns", "idle_sync_ns", "idle_host_ns", "idle_launch_ns", "idle_other_ns",
)  # fmt: skip
SIMULATED_PARTS = ("compute_ns", "exposed_collective_ns", "exposed_copy_ns", "idle_run_ns", "idle_host_ns")


def parts_frame(
    found: pd.DataFrame, windows: Intervals, rank: int, device: int, lengths: Mapping[str, Array], parts: Sequence[str]
) -> pd.DataFrame:
    """A row for each window of a device; a part that has no lengths is 0."""
    none = np.zeros(len(windows[0]), np.int64)
    columns: dict[str, Any] = {
        "rank": np.full(len(found), rank, np.int64), "device": np.full(len(found), device, np.int64),
        "step": found["step"].to_numpy(np.int64), "name": found["name"].to_numpy(object),
        "start_ns": windows[0], "end_ns": windows[1], "total_ns": windows[1] - windows[0],
        **{name: lengths.get(name, none) for name in parts},
    }  # fmt: skip
    return pd.DataFrame(columns)


def disjoint(start: Array, end: Array) -> Intervals:
    """Windows in order, each cut off where the next begins: no moment is in two."""
    return start, np.maximum(np.minimum(end, np.r_[start[1:], np.iinfo(np.int64).max]), start)


def by_device(frame: pd.DataFrame) -> list[dict[str, int]]:
    """The sums over all steps of each device, as {rank, device, total_ns, parts...}, in order of rank and device."""
    if not len(frame):
        return []
    numbers = [name for name in frame.columns if name == "total_ns" or name in (*PARTS, *SIMULATED_PARTS)]
    sums = frame.groupby(["rank", "device"], sort=True)[numbers].sum().reset_index()
    return [{str(k): int(v) for k, v in row.items()} for row in sums.to_dict("records")]


def busiest(frame: pd.DataFrame) -> dict[str, int]:
    """The sums over all steps of the device that idles least, as {total_ns, parts...}; {} for no rows."""
    sums = by_device(frame)
    if not sums:
        return {}
    best = min(sums, key=_idle_ratio)
    return {name: value for name, value in best.items() if name not in ("rank", "device")}


def busiest_steps(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the device that idles least, those that `busiest` adds up, in order of start."""
    sums = by_device(frame)
    if not sums:
        return frame
    best = min(sums, key=_idle_ratio)
    mine = frame[(frame["rank"] == best["rank"]) & (frame["device"] == best["device"])]
    return mine.sort_values("start_ns", kind="stable", ignore_index=True)


def _idle_ratio(sums: dict[str, int]) -> float:
    return sum(value for name, value in sums.items() if name.startswith("idle_")) / (sums["total_ns"] or 1)
