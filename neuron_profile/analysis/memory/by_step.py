"""How much memory each step had allocated at most."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.memory.timeline import allocators
from neuron_profile.analysis.steps.steps import steps
from trace_format import Trace

Array = np.ndarray

_UNKNOWN = -1


def memory_by_step(trace: Trace) -> pd.DataFrame:
    """The highest total of each device in each step of its rank, in order of rank, device and start.

    Totals are those of `memory_timeline`; what was allocated when a step began counts in it. Steps of no known rank are
    those of every device, and a device of no known rank has the steps of every rank.

    Columns: rank (of the step, -1 where the trace knows none), device, step, start_ns, end_ns, peak_bytes (-1: nothing
    was known before the step's end). `attrs`: found_by (as in `steps`), relative (as in `memory_timeline`).
    A trace without memory events or without any time gives an empty frame with the same columns.
    """
    found, memory = steps(trace), allocators(trace)
    parts = []
    for number in range(len(memory.devices)):
        rank = memory.ranks[number]
        mine = found[(found["rank"] == rank) | (found["rank"] < 0)] if rank >= 0 else found
        rows = memory.rows(number)
        start, end = mine["start_ns"].to_numpy(np.int64), mine["end_ns"].to_numpy(np.int64)
        peak = _peaks(trace.memory.ts_ns[rows], memory.total_bytes[rows], start, end)
        of_rank = mine["rank"].to_numpy(np.int64)
        parts.append((of_rank if rank < 0 else np.full(len(mine), rank), memory.devices[number], mine, peak))
    frame = _frame(parts)
    frame.attrs.update(found_by=found.attrs["found_by"], relative=[memory.name(number) for number in memory.relative])
    return frame


def _peaks(ts_ns: Array, total_bytes: Array, start: Array, end: Array) -> Array:
    """The highest of the totals in each [start, end), that before it included; `_UNKNOWN` where there is none yet."""
    first, last = np.searchsorted(ts_ns, start), np.searchsorted(ts_ns, end)
    held = np.r_[_UNKNOWN, total_bytes][first]
    edges = np.stack([first, np.maximum(last, first)], axis=1).ravel()
    highest = np.maximum.reduceat(np.r_[total_bytes, _UNKNOWN], edges)[::2] if len(edges) else held
    return np.where(last > first, np.maximum(held, highest), held)


def _frame(parts: list[tuple[Array, str, pd.DataFrame, Array]]) -> pd.DataFrame:
    def joined(columns: list[Array]) -> Array:
        return np.concatenate([np.zeros(0, np.int64), *columns])

    devices = [device for _, device, mine, _ in parts for _ in range(len(mine))]
    columns: dict[str, Any] = {
        "rank": joined([rank for rank, _, _, _ in parts]),
        "device": pd.Series(devices, dtype=object),
        **{name: joined([mine[name].to_numpy(np.int64) for _, _, mine, _ in parts]) for name in
           ("step", "start_ns", "end_ns")},
        "peak_bytes": joined([peak for _, _, _, peak in parts]),
    }  # fmt: skip
    return pd.DataFrame(columns)
