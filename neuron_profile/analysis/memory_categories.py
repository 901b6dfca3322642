"""Allocated memory over time, by what it is for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.allocations import MEMORY_CATEGORIES, UNKNOWN, Allocations, allocations
from neuron_profile.analysis.memory import memory_timeline
from trace_format import Trace

Array = np.ndarray

# torch counts a CPU's memory only while it profiles (c10/core/CPUAllocator.cpp, ProfiledCPUMemoryReporter)
_COUNTED_FROM_THE_START = "cpu"


def memory_by_category(trace: Trace) -> pd.DataFrame:
    """The allocated bytes of each device by category after each allocation and free, in order of time.

    Columns: ts_ns, device, rank, total_bytes (as `memory_timeline` gives them), and for each of `MEMORY_CATEGORIES` its
    bytes, which add up to the total; see `allocations` for how they are told.
    `attrs`: relative (see `memory_timeline`); deduced (the categories of which some bytes are deduced); held_before
    ({device: {category: bytes}}: what the program held at the end of the window from before it, where totals do not
    count it); contradicted (the devices, as in relative, whose recorded totals are below what is known to be
    allocated: all of theirs is unknown).
    A trace without memory events gives an empty frame with the same columns.
    """
    timeline = memory_timeline(trace)
    found = allocations(trace)
    size = trace.memory.delta_bytes[found.row]
    changes = np.zeros((len(timeline) + 1, len(MEMORY_CATEGORIES)), np.int64)
    np.add.at(changes, (found.row, found.category), size)
    np.subtract.at(changes, (found.end_row, found.category), size)
    bytes_of = np.zeros((len(timeline), len(MEMORY_CATEGORIES)), np.int64)
    held_before: dict[str, dict[str, int]] = {}
    contradicted = []
    several = timeline["rank"].nunique() > 1
    total = timeline["total_bytes"].to_numpy()
    places: dict[Any, Any] = dict(timeline.groupby(["rank", "device"], sort=True).indices)
    for (rank, device), rows in places.items():
        live = np.cumsum(changes[rows], axis=0)
        rest = total[rows] - live.sum(axis=1)  # there before the window, or freed unseen
        if int(rest.min()) < 0:
            contradicted.append(device if rank < 0 else f"rank {rank} {device}")
            live, rest = np.zeros_like(live), total[rows]
        before = {} if several else _held_before(trace, device, found)
        if before and device != _COUNTED_FROM_THE_START and sum(before.values()) <= int(rest.min()):
            for category, held in before.items():
                live[:, MEMORY_CATEGORIES.index(category)] += held
                rest = rest - held
        elif before:
            held_before[device] = before
        live[:, UNKNOWN] += rest
        bytes_of[rows] = live
    frame = timeline[["ts_ns", "device", "rank", "total_bytes"]].copy()
    for number, category in enumerate(MEMORY_CATEGORIES):
        frame[f"{category}_bytes"] = bytes_of[:, number]
    deduced = np.unique(found.category[found.is_deduced]).tolist()
    frame.attrs = {
        **timeline.attrs, "deduced": [MEMORY_CATEGORIES[number] for number in deduced], "held_before": held_before,
        "contradicted": contradicted,
    }  # fmt: skip
    return frame


def _held_before(trace: Trace, device: str, found: Allocations) -> dict[str, int]:
    """What the program held at the end of the window, by category, without what it allocated in the window."""
    held = trace.metadata.get("memory_held", {})
    held = held.get(device, {}) if isinstance(held, dict) else {}
    here = np.array([name == device for name in trace.pool.strings.values], bool)
    memory = trace.memory
    stays = (found.end_row == len(memory)) & ~found.is_deduced & here[memory.device[found.row]]
    before = {}
    for category, size in held.items() if isinstance(held, dict) else ():
        if category in MEMORY_CATEGORIES and isinstance(size, int):
            rows = found.row[stays & (found.category == MEMORY_CATEGORIES.index(category))]
            before[category] = size - int(memory.delta_bytes[rows].sum())
    return {category: size for category, size in before.items() if size > 0}
