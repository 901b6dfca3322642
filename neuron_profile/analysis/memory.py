"""Allocated memory over time."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuron_profile.analysis.grouping import group
from trace_format import Trace
from trace_format.tables import Memory

Array = np.ndarray

# The one whose mapped memory torch reports beside the allocator's (aten/src/ATen/MapAllocator.cpp)
_CPU = "cpu"


def memory_timeline(trace: Trace) -> pd.DataFrame:
    """The allocated bytes of each device after each allocation and free, in order of time.

    Totals are the allocator's own where it recorded them; between two of them, and where there are none, they
    follow from the sizes. A device without any recorded total starts so that its least total is 0: what was
    allocated before the trace began is not in it. Files and shared memory that torch mapped (batches of a DataLoader's
    workers), which its allocator does not count, are added to the CPU's total in the same way.

    Columns: ts_ns, device, total_bytes, rank (-1 where the trace knows none; ranks have devices of their own).
    `attrs`: relative (the devices without any recorded total, as "device" or "rank N device").
    A trace without memory events gives an empty frame with the same columns.
    """
    memory = trace.memory
    rank = ranks_of_memory(trace)
    total_bytes = np.zeros(len(memory), np.int64)
    relative = []
    allocators = group((rank + 1, memory.device), (int(rank.max(initial=-1)) + 2, len(trace.pool.strings)))
    for number, (of_rank, device) in enumerate(zip(*(v.tolist() for v in allocators.values), strict=True)):
        rows = np.flatnonzero(allocators.of_row == number)
        name = trace.pool.strings[device]
        delta, recorded = memory.delta_bytes[rows], memory.total_bytes[rows]
        if name == _CPU:
            mapped = _is_mapped(memory, rows)
            beside = np.cumsum(np.where(mapped, delta, 0))
            total_bytes[rows] = beside - min(0, int(beside.min()))
            delta, recorded = np.where(mapped, 0, delta), np.where(mapped, -1, recorded)
        total_bytes[rows] += _totals(delta, recorded)
        if bool((memory.total_bytes[rows] < 0).all()):
            relative.append(f"rank {of_rank - 1} {name}" if of_rank else name)
    frame = pd.DataFrame(
        {
            "ts_ns": memory.ts_ns,
            "device": pd.Series(memory.text("device"), dtype=object),
            "total_bytes": total_bytes,
            "rank": rank,
        }
    )
    frame.attrs["relative"] = relative
    return frame


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
    made = silent & (delta > 0) & (memory.reserved_bytes[rows] == delta)
    order = np.argsort(address, kind="stable")
    again = address[order[1:]] == address[order[:-1]]
    before = np.full(len(rows), -1)  # the event before of the same place
    before[order[1:][again]] = order[:-1][again]
    allocated = (before >= 0) & (delta[before] > 0) & ~made[before]
    return made | (silent & (delta < 0) & ~allocated)


def _totals(delta: Array, recorded: Array) -> Array:
    """Totals of one device's events, in order of time, given their sizes and the recorded totals (-1: none)."""
    running = np.cumsum(delta)
    known = np.flatnonzero(recorded >= 0)
    if len(known) == 0:
        # the least total, that before the first event included, is 0
        return running - min(0, int(running.min()))
    # the nearest recorded total before each event, or the first of all
    anchor = known[np.maximum(np.searchsorted(known, np.arange(len(delta)), "right") - 1, 0)]
    return recorded[anchor] + running - running[anchor]
