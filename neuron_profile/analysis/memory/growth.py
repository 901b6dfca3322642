"""Whether memory grows from step to step, and whose allocations stay."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuron_profile.analysis.arguments import top_rows
from neuron_profile.analysis.memory.allocations import MEMORY_CATEGORIES, allocations
from neuron_profile.analysis.memory.makers import makers
from neuron_profile.analysis.memory.monotone_trend import Trend, trend
from neuron_profile.analysis.memory.timeline import Allocators, allocators
from neuron_profile.analysis.steps.steps import steps
from neuron_profile.analysis.texts import same_text
from trace_format import Trace

Array = np.ndarray

# The first steps of a program allocate what stays: optimizer state, workspaces, caches.
SETTLING_STEPS = 2
# A growth this unlikely in memory that does not grow is taken for one.
_UNLIKELY = 0.05
_STEP_COLUMNS = (
    "device", "rank", "step", "name", "start_ns", "end_ns", "start_bytes", "peak_bytes", "end_bytes", "growth_bytes",
    "is_used",
)  # fmt: skip
_DEVICE_COLUMNS = (
    "device", "rank", "steps", "bytes_per_step", "low_bytes_per_step", "high_bytes_per_step", "p_value", "grows",
    "kept_bytes_per_step", "kept_ratio",
)  # fmt: skip
_HOLDER_COLUMNS = (
    "device", "rank", "op", "module", "source", "category", "is_deduced", "count", "bytes", "steps", "steps_ratio",
    "bytes_per_step",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class MemoryGrowth:
    """What each step leaves behind; a row's device and rank (-1: not known) come first.

    - `steps`: step, name, start_ns, end_ns, start_bytes (allocated when it starts), peak_bytes (the most within it),
      end_bytes, growth_bytes (end - start), is_used (not one of the program's first `SETTLING_STEPS`).
    - `devices`: steps (how many are used), bytes_per_step (the median slope between all pairs of used steps, of
      end_bytes: Theil-Sen), low_ and high_bytes_per_step (its 95 % interval; NaN where there are too few steps),
      p_value (the chance that memory which does not grow rises so steadily: Mann-Kendall, one side), grows
      (bytes_per_step > 0 and p_value < 0.05, so never with fewer than 4 used steps), kept_bytes_per_step (what
      `holders` add up to), kept_ratio (of bytes_per_step; NaN where that is not above 0). What needs two steps is NaN
      without.
    - `holders`: allocations that a used step made and that were never freed, by who made them: op, module, source (""
      where not recorded), category, is_deduced (see `peak_holders`), count, bytes, steps (in how many), steps_ratio,
      bytes_per_step (of the used steps without the last, whose allocations may yet be freed). Largest first.
    """

    steps: pd.DataFrame
    devices: pd.DataFrame
    holders: pd.DataFrame


def memory_growth(trace: Trace, top: int | None = None) -> MemoryGrowth:
    """How the allocated bytes of each device change from step to step, and who made what was not freed.

    The steps are those of `steps`; a trace without any has one window and no growth. `top` keeps so many holders of
    each device. What was allocated before the window, or has no place in memory, has no holder. A trace without memory
    events gives empty frames.
    Raises ValueError for a `top` below 0.
    """
    top = top_rows(top)
    places = allocators(trace)
    frames: tuple[list[pd.DataFrame], ...] = ([], [], [])
    for number, (device, rank, each, found) in enumerate(_trends(trace)):
        used = each[each["is_used"]]
        held = _holders(trace, places, number, used.iloc[:-1])
        kept = int(held["bytes"].sum()) / (len(used) - 1) if len(used) > 1 else math.nan
        devices = pd.DataFrame([_numbers(len(used), found, kept)], columns=list(_DEVICE_COLUMNS[2:]))
        held = held.head(len(held) if top is None else top)
        for frame, into, columns in zip(
            (each, devices, held), frames, (_STEP_COLUMNS, _DEVICE_COLUMNS, _HOLDER_COLUMNS), strict=True
        ):
            into.append(frame.assign(device=same_text(device, frame), rank=rank)[list(columns)])
    return MemoryGrowth(
        *(
            pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(columns))
            for parts, columns in zip(frames, (_STEP_COLUMNS, _DEVICE_COLUMNS, _HOLDER_COLUMNS), strict=True)
        )
    )


def any_growth(trace: Trace) -> bool:
    """Whether the memory of any device grows, as `memory_growth` has it; who made it is not looked for."""
    return any(_grows(found) for _, _, _, found in _trends(trace))


def _trends(trace: Trace) -> Iterator[tuple[str, int, pd.DataFrame, Trend]]:
    """Of each device its name and rank, its steps, and how the bytes at their ends change."""
    places, table = allocators(trace), steps(trace)
    is_step = table.attrs.get("found_by") != "window"
    for number, (device, rank) in enumerate(zip(places.devices, places.ranks, strict=True)):
        mine = table[table["rank"] == rank] if (table["rank"] == rank).any() else table[table["rank"] < 0]
        each = _each_step(trace, places, number, mine)
        each["is_used"] = is_step & (each["step"] >= SETTLING_STEPS)
        used = each[each["is_used"]]
        yield device, rank, each, trend(used["step"].to_numpy(), used["end_bytes"].to_numpy())


def _each_step(trace: Trace, places: Allocators, number: int, table: pd.DataFrame) -> pd.DataFrame:
    rows = places.rows(number)
    ts_ns, total = trace.memory.ts_ns[rows], places.total_bytes[rows]
    before = total[:1] - trace.memory.delta_bytes[rows[:1]]  # what was there when the first event came
    known = np.concatenate([before, total])  # known[i] holds when i events have happened
    first = np.searchsorted(ts_ns, table["start_ns"].to_numpy(), "left")
    stop = np.maximum(np.searchsorted(ts_ns, table["end_ns"].to_numpy(), "left"), first)
    frame = table[["step", "name", "start_ns", "end_ns"]].reset_index(drop=True)
    frame["start_bytes"], frame["end_bytes"] = known[first], known[stop]
    peaks = [int(known[low : high + 1].max()) for low, high in zip(first.tolist(), stop.tolist(), strict=True)]
    frame["peak_bytes"] = np.array(peaks, np.int64)
    frame["growth_bytes"] = frame["end_bytes"] - frame["start_bytes"]
    return frame


def _numbers(used: int, found: Trend, kept: float) -> tuple[object, ...]:
    ratio = kept / found.slope if found.slope > 0 else math.nan
    return used, found.slope, found.low, found.high, found.p_value, _grows(found), kept, ratio


def _grows(found: Trend) -> bool:
    return bool(found.slope > 0 and found.p_value < _UNLIKELY)


def _holders(trace: Trace, places: Allocators, number: int, counted: pd.DataFrame) -> pd.DataFrame:
    """Who made what the counted steps allocated on a device and nobody freed."""
    found, memory = allocations(trace), trace.memory
    stays = np.flatnonzero(found.end_row == len(memory))
    stays = stays[places.of_row[found.row[stays]] == number]
    starts, ends = counted["start_ns"].to_numpy(), counted["end_ns"].to_numpy()
    at_ns = memory.ts_ns[found.row[stays]]
    step = np.searchsorted(starts, at_ns, "right") - 1
    inside = np.flatnonzero((step >= 0) & (at_ns < ends[step])) if len(counted) else np.zeros(0, np.int64)
    stays, step = stays[inside], step[inside]
    made = makers(
        trace, found.row[stays], category=found.category[stays], is_deduced=found.is_deduced[stays].astype(np.int64)
    )  # fmt: skip
    nbytes = np.zeros(len(made.frame), np.int64)
    np.add.at(nbytes, made.of_row, memory.delta_bytes[found.row[stays]])
    pairs = np.unique(made.of_row * max(len(counted), 1) + step)
    in_steps = np.bincount(pairs // max(len(counted), 1), minlength=len(nbytes))
    frame = made.frame.assign(
        category=[MEMORY_CATEGORIES[code] for code in made.frame["category"].tolist()],
        is_deduced=made.frame["is_deduced"].astype(bool),
        count=np.bincount(made.of_row, minlength=len(nbytes)),
        bytes=nbytes,
        steps=in_steps,
        steps_ratio=in_steps / max(len(counted), 1),
        bytes_per_step=nbytes / max(len(counted), 1),
    )
    return frame.sort_values("bytes", ascending=False, kind="stable", ignore_index=True)
