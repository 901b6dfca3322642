"""The lines of the user's own code by the time spent on them and under them, on the host and on the device."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import numpy as np
import pandas as pd

from neuron_profile.analysis.arguments import whole_number
from neuron_profile.analysis.launches.enclosing import Enclosing
from neuron_profile.analysis.launches.host_slices import host_slice
from neuron_profile.analysis.operations.attribution import around_own_frames, own_frame, own_frames
from neuron_profile.analysis.operations.hotspots import hotspots
from neuron_profile.analysis.operations.labels import labels
from neuron_profile.analysis.operations.outermost import Placing, slices_inside_their_like
from neuron_profile.analysis.operations.own_time import own_time_ns
from neuron_profile.analysis.sides import ANNOTATION, DEVICE, HOST, side_of_slices
from trace_format import CATEGORIES, Trace

Array = np.ndarray

COLUMNS: Final = (
    "file", "line", "function", "calls", "self_ns", "total_ns", "device_ns", "device_total_ns", "slices",
)  # fmt: skip
_FRAME: Final = re.compile(r"(?P<file>.+\.py)\((?P<line>\d{1,9})\): (?P<function>.+)", re.DOTALL)
_PYTHON, _SEMAPHORE = CATEGORIES.index("python"), CATEGORIES.index("semaphore")


def source_lines(trace: Trace) -> pd.DataFrame:
    """A row for each line of the user's own code that is seen in the trace, by self time of host and device.

    Lines are those of stack frames ("train.py(12): step"): the line that ran where a slice has a stack of its own, the
    first line of the function where Python's calls were recorded (of one that ran when recording began, where it was).

    Columns: file, line, function; calls (of the function; -1 where its calls were not recorded, but stacks); self_ns
    (host time of which this is the innermost own line), total_ns (host time under it, recursion counted once);
    device_ns (time of device work that was launched with this as the innermost own line), device_total_ns (launched
    under it); slices (of which it is the innermost own line, on host and device).
    `attrs`: host_self_ns, device_self_ns (of the whole trace), unknown_ns (of both, what belongs to no own line), and
    `why` where no lines were recorded. Annotations are not work; simulated work belongs to no line.
    A trace without lines gives an empty frame with the same columns.
    """
    work = hotspots(trace, by="source")
    on_device = np.arange(len(work)) < work.attrs["device_rows"]
    rows: dict[str, list[int]] = {}
    unknown_ns = 0
    for name, count, self_ns, is_device in zip(
        work["name"], work["count"].tolist(), work["self_ns"].tolist(), on_device.tolist(), strict=True
    ):
        if _FRAME.fullmatch(name) is None:
            unknown_ns += self_ns
            continue
        row = rows.setdefault(name, [0, 0, 0])
        row[1 if is_device else 0] += self_ns
        row[2] += count
    calls, total_ns, device_total_ns = _under(trace)
    for name in total_ns:
        rows.setdefault(name, [0, 0, 0])
    found = []
    for name, (self_ns, device_ns, slices) in rows.items():
        if (frame := _FRAME.fullmatch(name)) is not None:
            found.append(
                (frame["file"], int(frame["line"]), frame["function"], calls.get(name, -1), self_ns,
                 max(total_ns.get(name, 0), self_ns), device_ns, max(device_total_ns.get(name, 0), device_ns), slices)
            )  # fmt: skip
    found.sort(key=lambda row: (-(row[4] + row[6]), -(row[5] + row[7]), row[0], row[1]))
    frame_of = pd.DataFrame(
        {
            name: pd.Series(list(values), dtype=object if name in ("file", "function") else np.int64)
            for name, values in zip(COLUMNS, zip(*found, strict=True) if found else [()] * len(COLUMNS), strict=True)
        }
    )
    frame_of.attrs.update(
        host_self_ns=work.attrs["host_self_ns"], device_self_ns=work.attrs["device_self_ns"], unknown_ns=unknown_ns,
        **({"why": work.attrs["why"]} if "why" in work.attrs else {}),
    )  # fmt: skip
    return frame_of


def slices_of_line(trace: Trace, file: str, line: int, top: int = 50) -> pd.DataFrame:
    """The slices of which a line is the innermost own one, by their self time, largest first.

    Columns: slice (its row), name, category, side (host or device), start_ns, self_ns and dur_ns (-1: did not finish).
    Raises ValueError for a `top` below 0.
    """
    top = whole_number("top", top, least=0)
    found, slices = labels(trace, "source"), trace.slices
    texts = [number for number, text in enumerate(found.texts) if _is_line(text, file, line)]
    side = side_of_slices(trace)
    rows = np.flatnonzero(np.isin(found.of_slice, texts) & (slices.category != ANNOTATION) & (side <= HOST))
    own_ns = own_time_ns(trace)
    rows = rows[np.lexsort((-slices.dur_ns[rows], -own_ns[rows]))][:top]
    return pd.DataFrame(
        {
            "slice": rows,
            "name": pd.Series([trace.pool.strings[name] for name in slices.name[rows].tolist()], dtype=object),
            "category": pd.Series([CATEGORIES[code] for code in slices.category[rows].tolist()], dtype=object),
            "side": pd.Series(np.where(side[rows] == DEVICE, "device", "host").tolist(), dtype=object),
            "start_ns": slices.ts_ns[rows], "self_ns": own_ns[rows], "dur_ns": slices.dur_ns[rows],
        }
    )  # fmt: skip


def _is_line(text: str, file: str, line: int) -> bool:
    frame = _FRAME.fullmatch(text)
    return frame is not None and frame["file"] == file and int(frame["line"]) == line


def _under(trace: Trace) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """By frame of the user's own code: its calls, the host time under it, and the device time launched under it."""
    slices, side = trace.slices, side_of_slices(trace)
    frames, inside = own_frames(trace), around_own_frames(trace)
    innermost = inside.innermost(host_slice(trace))
    own_ns = np.maximum(own_time_ns(trace), 0)
    work = (slices.category != ANNOTATION) & (slices.category != _SEMAPHORE)
    device_ns = np.zeros(len(slices), np.int64)
    on_device = np.flatnonzero((side == DEVICE) & work & (innermost >= 0))
    np.add.at(device_ns, innermost[on_device], own_ns[on_device])
    _add_to_callers(device_ns, frames, inside, slices.depth, slices.parent)

    is_frame = np.zeros(len(slices), bool)
    is_frame[frames] = True
    has_time = is_frame & (slices.dur_ns > 0)
    outermost = is_frame.copy()
    outermost[slices_inside_their_like(
        slices.name.astype(np.int64), has_time, slices.dur_ns, Placing(slices.track, slices.ts_ns, slices.parent)
    )] = False  # fmt: skip
    names = trace.pool.strings.values
    outer = np.flatnonzero(outermost)
    calls = _by_name(slices.name[frames], np.ones(len(frames), np.int64), names.__getitem__)
    host = _by_name(slices.name[outer], np.maximum(slices.dur_ns[outer], 0), names.__getitem__)
    device = _by_name(slices.name[outer], device_ns[outer], names.__getitem__)
    # what lies in no recorded call has but its stack
    of_host = host_slice(trace)
    alone = np.flatnonzero((innermost < 0) & (of_host >= 0) & work)
    for rows, sums in ((alone[side[alone] == HOST], host), (alone[side[alone] == DEVICE], device)):
        _add_stacks(trace, slices.stack[of_host[rows]], own_ns[rows], sums)
    return calls, host, device


def _add_to_callers(values: Array, frames: Array, inside: Enclosing, depth: Array, parent: Array) -> None:
    """Add the value of each frame to the frames around it, the innermost first."""
    around = inside.innermost(parent[frames])
    for level in np.unique(depth[frames])[::-1].tolist():
        at = (depth[frames] == level) & (around >= 0)
        np.add.at(values, around[at], values[frames[at]])


def _by_name(name: Array, values: Array, text: Callable[[int], str]) -> dict[str, int]:
    used, of_row = np.unique(name, return_inverse=True)
    sums = np.zeros(len(used), np.int64)
    np.add.at(sums, of_row, values)
    return {text(number): value for number, value in zip(used.tolist(), sums.tolist(), strict=True)}


def _add_stacks(trace: Trace, stack: Array, values: Array, sums: dict[str, int]) -> None:
    """Add the values to each own frame of the stacks, once for each stack that it is in."""
    strings, stacks = trace.pool.strings.values, trace.pool.stacks
    used, of_row = np.unique(stack, return_inverse=True)
    of_stack = np.zeros(len(used), np.int64)
    np.add.at(of_stack, of_row, values)
    for number, value in zip(used.tolist(), of_stack.tolist(), strict=True):
        for frame in set(stacks[number]) if number > 0 else ():
            if own_frame(strings[frame]):
                sums[strings[frame]] = sums.get(strings[frame], 0) + value
