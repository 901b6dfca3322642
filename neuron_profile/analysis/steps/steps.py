"""The training steps of a trace."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuron_profile.analysis.measured import measured_window_ns
from neuron_profile.analysis.sides import ANNOTATION, HOST, side_of_tracks
from neuron_profile.analysis.steps.periodicity import periods
from trace_format import Trace

Array = np.ndarray

COLUMNS = ("step", "name", "start_ns", "end_ns", "dur_ns", "rank")
WHOLE_WINDOW = "whole window"
_LONGEST_NS = (1 << 63) - 1  # what its column holds; a window of broken times may be longer

# torch.profiler.profile.step() marks each step so.
_PROFILER_STEP = re.compile(r"ProfilerStep#(\d{1,18})")
# What people call the annotation of their own step: "step", "train_step", "Step 12", "iteration#3", "iter_7".
_OWN_STEP = re.compile(r"(?:[\w.\-]+[ _.:/\-#])?(?:step|iteration|iter)[ _#:=\-]*(\d{1,18})?", re.IGNORECASE)
# torch.optim marks Optimizer.step and Optimizer.zero_grad itself; they are parts of a step.
_NOT_A_STEP = ("Optimizer.", "## ")


@dataclass(frozen=True, slots=True)
class _Marks:
    """Annotations that mark steps: their rows, and for each its number (-1: its name has none)."""

    rows: Array
    numbers: Array


def steps(trace: Trace) -> pd.DataFrame:
    """The steps of each rank, in order of rank and start.

    Steps are the annotations of torch.profiler ("ProfilerStep#3"), else the annotations of the user's own steps
    ("train_step", "iteration 3"), else what repeats (see `periodicity.periods`: only where that is sure), called
    "period 0" and so on, else the whole window as one step, called `WHOLE_WINDOW` and numbered 0. Own
    annotations without a number are numbered from 0 in order of time. Several annotations of one rank with the
    same number are one step, from the first start to the last end. A step that did not finish is left out.

    Columns: step, name, start_ns, end_ns (exclusive), dur_ns, rank (-1 where the trace knows none).
    `attrs`: found_by ("ProfilerStep", "annotation", "periodicity" or "window"), unfinished (annotations left out);
    by periodicity also marks (the names of the operations or annotations at whose times steps begin or end).
    A trace without any time gives an empty frame with the same columns.
    """
    for found_by, pattern in (("ProfilerStep", _PROFILER_STEP), ("annotation", _OWN_STEP)):
        marks = _marks(trace, pattern)
        if len(marks.rows):
            frame, unfinished = _from_marks(trace, marks)
            if len(frame):
                frame.attrs.update(found_by=found_by, unfinished=unfinished)
                return frame
    repeating = periods(trace)
    if repeating:
        frame = _frame([
            (number, f"period {number}", start, end, end - start, one.rank)
            for one in sorted(repeating, key=lambda one: (one.rank, int(one.start_ns[0])))
            for number, (start, end) in enumerate(zip(one.start_ns.tolist(), one.end_ns.tolist(), strict=True))
        ])  # fmt: skip
        frame.attrs.update(found_by="periodicity", unfinished=0, marks=sorted({one.mark for one in repeating}))
        return frame
    window = measured_window_ns(trace)
    rows = []
    if window is not None:
        rows = [(0, WHOLE_WINDOW, window[0], window[1], min(window[1] - window[0], _LONGEST_NS), -1)]
    frame = _frame(rows)
    frame.attrs.update(found_by="window", unfinished=0)
    return frame


def step_marks(trace: Trace) -> Array:
    """The rows of the annotations that `steps` takes for steps, those that did not finish included, `(k,) int64`."""
    for pattern in (_PROFILER_STEP, _OWN_STEP):
        rows = _marks(trace, pattern).rows
        if len(rows):
            return rows
    return np.zeros(0, np.int64)


def _marks(trace: Trace, pattern: re.Pattern[str]) -> _Marks:
    """The annotations on the host whose whole name fits, in row order."""
    slices, strings = trace.slices, trace.pool.strings.values
    on_host = side_of_tracks(trace.tracks) == HOST
    rows = np.flatnonzero(slices.category == ANNOTATION)
    rows = rows[on_host[slices.track[rows]]]
    number_of_name: dict[int, int] = {}
    for name in np.unique(slices.name[rows]).tolist():
        fits = pattern.fullmatch(strings[name])
        if fits and not strings[name].startswith(_NOT_A_STEP):
            number_of_name[name] = -1 if fits[1] is None else int(fits[1])
    rows = rows[np.isin(slices.name[rows], list(number_of_name))]
    return _Marks(rows, np.array([number_of_name[name] for name in slices.name[rows].tolist()], np.int64))


def _from_marks(trace: Trace, marks: _Marks) -> tuple[pd.DataFrame, int]:
    """The steps that the marks delimit, and how many marks did not finish."""
    finished = trace.slices.dur_ns[marks.rows] >= 0
    rows, numbers = marks.rows[finished], marks.numbers[finished]
    order = np.argsort(trace.slices.ts_ns[rows], kind="stable")
    rows, numbers = rows[order], numbers[order]
    names = [trace.pool.strings[name] for name in trace.slices.name[rows].tolist()]
    starts = trace.slices.ts_ns[rows]
    ends = starts + trace.slices.dur_ns[rows]
    track = trace.slices.track[rows]
    found: dict[tuple[int, int, int], tuple[str, int, int]] = {}
    unnumbered: dict[tuple[int, int], int] = {}
    numeric = np.stack([trace.tracks.rank[track], trace.tracks.pid[track], numbers, starts, ends], axis=1)
    for name, (rank, pid, number, start, end) in zip(names, numeric.tolist(), strict=True):
        if number < 0:
            number = unnumbered.get((rank, pid), 0)
            unnumbered[rank, pid] = number + 1
        first = found.setdefault((rank, pid, number), (name, start, end))
        found[rank, pid, number] = (first[0], min(first[1], start), max(first[2], end))
    steps_found = [
        (number, name, start, end, end - start, rank) for (rank, _, number), (name, start, end) in found.items()
    ]
    steps_found.sort(key=lambda step: (step[5], step[2], step[0]))
    return _frame(steps_found), int(len(finished) - finished.sum())


def _frame(rows: list[tuple[int, str, int, int, int, int]]) -> pd.DataFrame:
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    return pd.DataFrame(
        {
            name: pd.Series(list(values), dtype=object if name == "name" else np.int64)
            for name, values in zip(COLUMNS, columns, strict=True)
        }
    )
