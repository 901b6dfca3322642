"""Allocated memory over time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.derived import kept_with_the_trace
from neuron_profile.analysis.grouping import group
from trace_format import Trace
from trace_format.tables import Memory

Array = np.ndarray

# The one whose mapped memory torch reports beside the allocator's (aten/src/ATen/MapAllocator.cpp), and whose totals
# count what is allocated while a profiler is on, and nothing before (c10/core/CPUAllocator.cpp).
_CPU = "cpu"


@dataclass(frozen=True, slots=True, eq=False)
class Allocators:
    """The allocators of a trace (a device of a rank), and their totals.

    - `devices`, `ranks`: of each; -1 is a rank that is not known.
    - `of_row`: the allocator of each row of `trace.memory`; `total_bytes`: what it has allocated after that row.
    - `relative`: those whose totals lack what was allocated before the trace: a CPU's, and those never recorded.
    """

    devices: tuple[str, ...]
    ranks: tuple[int, ...]
    of_row: Array
    total_bytes: Array
    relative: tuple[int, ...]

    def rows(self, number: int) -> Array:
        """The rows of one of them, ascending."""
        return np.arange(len(self.of_row)) if len(self.devices) == 1 else np.flatnonzero(self.of_row == number)

    def name(self, number: int) -> str:
        """What one of them is called: "device" or "rank N device"."""
        rank, device = self.ranks[number], self.devices[number]
        return device if rank < 0 else f"rank {rank} {device}"


def memory_timeline(trace: Trace) -> pd.DataFrame:
    """The allocated bytes of each device after each allocation and free, in order of time.

    Totals are the allocator's own where it recorded them; between two of them, and where there are none, they
    follow from the sizes. A device without any recorded total starts so that its least total is 0: what was
    allocated before the trace began is not in it. Neither is it in the CPU's, whose allocator counts only while a
    profiler is on; others (CUDA's) tell all that they have allocated. Files and shared memory that torch mapped
    (batches of a DataLoader's workers), which its allocator does not count, are added to the CPU's total in the same
    way.

    Columns: ts_ns, device, total_bytes, rank (-1 where the trace knows none; ranks have devices of their own).
    `attrs`: relative (the devices whose totals are since the start of the trace: the CPU and those without any
    recorded total, as "device" or "rank N device").
    A trace without memory events gives an empty frame with the same columns.
    """
    found = allocators(trace)
    frame = pd.DataFrame(timeline_columns(trace), copy=False)
    frame.attrs["relative"] = [found.name(number) for number in found.relative]
    return frame


def timeline_columns(trace: Trace) -> dict[str, Any]:
    """The columns of `memory_timeline`."""
    found = allocators(trace)
    return {
        "ts_ns": trace.memory.ts_ns,
        "device": pd.Series(np.array((*found.devices, ""), dtype=object)[found.of_row], dtype=object),
        "total_bytes": found.total_bytes,
        "rank": np.array((*found.ranks, -1), np.int64)[found.of_row],
    }


@kept_with_the_trace
def allocators(trace: Trace) -> Allocators:
    """The allocators of a trace by rank and device; see `memory_timeline` for their totals."""
    memory, strings = trace.memory, trace.pool.strings
    rank = ranks_of_memory(trace)
    groups = group((rank + 1, memory.device), (int(rank.max(initial=-1)) + 2, len(strings)))
    ranks, names = (values.tolist() for values in groups.values)
    found = Allocators(
        tuple(strings[name] for name in names), tuple(number - 1 for number in ranks), groups.of_row,
        np.zeros(len(memory), np.int64), (),
    )  # fmt: skip
    relative = []
    for number, device in enumerate(found.devices):
        rows = found.rows(number)
        delta, recorded = memory.delta_bytes[rows], memory.total_bytes[rows]
        if device == _CPU or bool((recorded < 0).all()):
            relative.append(number)
        if device == _CPU:
            mapped = _is_mapped(memory, rows)
            beside = np.cumsum(np.where(mapped, delta, 0))
            found.total_bytes[rows] = beside - min(0, int(beside.min()))
            delta, recorded = np.where(mapped, 0, delta), np.where(mapped, -1, recorded)
        found.total_bytes[rows] += _totals(delta, recorded)
    return replace(found, relative=tuple(relative))


def ranks_of_memory(trace: Trace) -> Array:
    """The rank of the thread that asked for each allocation, -1 where it is not known."""
    track = trace.memory.track
    if len(trace.tracks) == 0:
        return np.full(len(track), -1, np.int64)
    return np.where(track >= 0, trace.tracks.rank[np.maximum(track, 0)], -1).astype(np.int64)


def _is_mapped(memory: Memory, rows: Array) -> Array:
    """Which events of a CPU are of memory that torch mapped.

    It reports 0 as the total of each, and the size as reserved where it maps (aten/src/ATen/MapAllocator.cpp); the
    allocator reports nothing reserved, and no free of what it did not see allocated (c10/core/CPUAllocator.cpp).
    """
    delta, address = memory.delta_bytes[rows], memory.address[rows]
    silent = (memory.total_bytes[rows] == 0) & (address != 0)
    if not silent.any():
        return silent
    made = silent & (delta > 0) & (memory.reserved_bytes[rows] == delta)
    order = np.argsort(address, kind="stable")
    again = address[order[1:]] == address[order[:-1]]
    before = np.full(len(rows), -1)  # the event before of the same place
    before[order[1:][again]] = order[:-1][again]
    allocated = (before >= 0) & (delta[before] > 0) & ~made[before]
    return made | (silent & (delta < 0) & ~allocated)


def _totals(delta: Array, recorded: Array) -> Array:
    """Totals of one device's events, in order of time, given their sizes and the recorded totals (-1: none)."""
    if bool((recorded >= 0).all()):
        return recorded
    running = np.cumsum(delta)
    known = np.flatnonzero(recorded >= 0)
    if len(known) == 0:
        # the least total, that before the first event included, is 0
        return running - min(0, int(running.min()))
    # the nearest recorded total before each event, or the first of all
    anchor = np.full(len(delta), known[0])
    anchor[known] = known
    anchor = np.maximum.accumulate(anchor)
    return recorded[anchor] + running - running[anchor]
