"""Allocated memory over time, by what it is for."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.derived import kept_with_the_trace
from neuron_profile.analysis.memory.allocations import MEMORY_CATEGORIES, UNKNOWN, Allocations, allocations
from neuron_profile.analysis.memory.timeline import allocators, timeline_columns
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
    held = categories_held(trace)
    found = allocators(trace)
    columns = timeline_columns(trace)
    shown: dict[Hashable, Any] = {name: columns[name] for name in ("ts_ns", "device", "rank", "total_bytes")}
    shown.update((f"{category}_bytes", held.bytes_of[number]) for number, category in enumerate(MEMORY_CATEGORIES))
    frame = pd.DataFrame(shown, copy=False)
    frame.attrs = {"relative": [found.name(number) for number in found.relative], **held.attrs}
    return frame


@dataclass(frozen=True, slots=True, eq=False)
class CategoriesHeld:
    """The columns of `memory_by_category`: `bytes_of[category]` after each row of `trace.memory`; and its `attrs`."""

    bytes_of: tuple[Array, ...]
    attrs: dict[Hashable, Any]


@kept_with_the_trace
def categories_held(trace: Trace) -> CategoriesHeld:
    """The allocated bytes of each category; see `memory_by_category`."""
    found, memory, places = allocations(trace), trace.memory, allocators(trace)
    size = memory.delta_bytes[found.row]
    used = np.unique(found.category).tolist()
    nothing = np.zeros(len(memory), np.int64)
    nothing.flags.writeable = False
    changes = {}
    for category in used:
        mine = found.category == category
        change = changes[category] = np.zeros(len(memory) + 1, np.int64)
        # no two allocations begin in one row, and none but those that stay end in one
        change[found.row[mine]] = size[mine]
        change[found.end_row[mine]] -= size[mine]
    bytes_of = {category: np.zeros(len(memory), np.int64) for category in {*used, UNKNOWN}}
    held_before: dict[str, dict[str, int]] = {}
    contradicted = []
    several = len(set(places.ranks)) > 1
    for number, device in enumerate(places.devices):
        rows = places.rows(number)
        total = places.total_bytes[rows]
        live = {category: np.cumsum(change[rows]) for category, change in changes.items()}
        rest = total - sum(live.values())  # there before the window, or freed unseen
        if int(rest.min()) < 0:
            contradicted.append(places.name(number))
            live, rest = {}, total
        before = {} if several else _held_before(trace, device, found)
        if before and device != _COUNTED_FROM_THE_START and sum(before.values()) <= int(rest.min()):
            for name, held in before.items():
                category = MEMORY_CATEGORIES.index(name)
                live[category] = live.get(category, np.zeros_like(total)) + held
                rest = rest - held
        elif before:
            held_before[device] = before
        live[UNKNOWN] = live.get(UNKNOWN, np.zeros_like(total)) + rest
        for category, allocated in live.items():
            bytes_of.setdefault(category, np.zeros(len(memory), np.int64))[rows] = allocated
    deduced = np.unique(found.category[found.is_deduced]).tolist()
    attrs: dict[Hashable, Any] = {
        "deduced": [MEMORY_CATEGORIES[number] for number in deduced], "held_before": held_before,
        "contradicted": contradicted,
    }  # fmt: skip
    return CategoriesHeld(tuple(bytes_of.get(number, nothing) for number in range(len(MEMORY_CATEGORIES))), attrs)


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
