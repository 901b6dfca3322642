"""The stretch of time whose critical path is looked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.steps.steps import steps
from trace_format import NeuronProfileError, Trace

# So many take 0.6 s (measured on one core), and more segments than that tell nobody more than a part of them.
MOST_SLICES = 500_000
_LOOKED_AT = 10_000
_LONGEST_NS = 1 << 62


@dataclass(frozen=True, slots=True)
class Window:
    """The half-open time [start_ns, end_ns) of one rank (-1: of all that is in the trace).

    `step` is the number of the step it is, -1 where it is none; `name` is what it is called; `chosen_by` says why this
    one: "given step", "given window", "median step", "whole window", "middle of the whole window".
    `cut` says whether what is before and after it was recorded too, and belongs to other steps.
    """

    start_ns: int
    end_ns: int
    rank: int
    step: int
    name: str
    chosen_by: str
    cut: bool

    @property
    def total_ns(self) -> int:
        return self.end_ns - self.start_ns


def chosen_window(trace: Trace, step: int | None, rank: int | None, window_ns: tuple[int, int] | None) -> Window:
    """The given times, else the given step, else the step of median duration, else all that was measured.

    Without `rank` the steps are those of the lowest rank. Of an even number of steps the longer of the two in the
    middle is the median. Of a trace without steps and with more than `MOST_SLICES` it is the stretch in the middle that
    has about as many. A trace without any time has the window [0, 0).

    Raises NeuronProfileError for a step or a rank that the trace does not have, and for times that run backwards or
    are too far apart.
    """
    window = _chosen(trace, step, rank, window_ns)
    if window.total_ns > _LONGEST_NS:
        raise NeuronProfileError(
            f"critical path: from {window.start_ns} to {window.end_ns} ns is over a century, so times are broken: "
            "give window_ns="
        )
    return window


def _chosen(trace: Trace, step: int | None, rank: int | None, window_ns: tuple[int, int] | None) -> Window:
    if window_ns is not None:
        start, end = window_ns
        if end < start:
            raise NeuronProfileError(f"critical path: window_ns ends at {end}, before its start {start}: swap them")
        return Window(start, end, _rank(trace, rank), -1, "given window", "given window", cut=True)
    found = steps(trace)
    by_marks = found.attrs["found_by"] != "window"
    if not by_marks and step is None and len(trace.slices) > MOST_SLICES:
        start, end = _middle(trace)
        name = "middle of the whole window"
        return Window(start, end, _rank(trace, rank), -1, name, name, cut=True)
    ranks = sorted(set(found["rank"].tolist()))
    if not ranks:
        return Window(0, 0, -1, -1, "whole window", "whole window", cut=False)
    of_rank = ranks[0] if rank is None or not by_marks else rank
    mine = found[found["rank"] == of_rank].sort_values(["dur_ns", "start_ns"], kind="stable")
    if mine.empty:
        raise NeuronProfileError(f"critical path: no steps of rank {rank}; choose one of {_some(ranks)}")
    if step is None:
        row = mine.iloc[len(mine) // 2]
    elif (mine["step"] == step).any():
        row = mine[mine["step"] == step].iloc[0]
    else:
        raise NeuronProfileError(f"critical path: no step {step}; choose one of {_some(sorted(set(mine['step'])))}")
    chosen_by = "given step" if step is not None else "median step" if by_marks else "whole window"
    return Window(
        int(row["start_ns"]), int(row["end_ns"]), of_rank if by_marks else _rank(trace, rank), int(row["step"]),
        str(row["name"]), chosen_by, cut=by_marks,
    )  # fmt: skip


def _middle(trace: Trace) -> tuple[int, int]:
    """The time around the median start of a slice in which about `MOST_SLICES` start."""
    starts = trace.slices.ts_ns
    some = np.sort(starts[:: 1 + len(starts) // _LOOKED_AT])
    half = len(some) * MOST_SLICES // len(starts) // 2
    return int(some[len(some) // 2 - half]), int(some[len(some) // 2 + half])


def _rank(trace: Trace, rank: int | None) -> int:
    """The given rank, else the lowest of several; -1 (all that is there) where the trace is of one."""
    ranks = np.unique(trace.tracks.rank[trace.tracks.rank >= 0]).tolist()
    if rank is None:
        return int(ranks[0]) if len(ranks) > 1 else -1
    if ranks and rank not in ranks:
        raise NeuronProfileError(f"critical path: no rank {rank}; choose one of {_some(ranks)}")
    return rank


def _some(numbers: list[int]) -> str:
    shown = ", ".join(str(int(number)) for number in numbers[:8])
    return f"{shown}, … ({len(numbers)} in all)" if len(numbers) > 8 else shown


def tracks_of(trace: Trace, rank: int) -> np.ndarray:
    """Which tracks belong to the rank, or to none: `(tracks,) bool`. Rank -1: all."""
    return (trace.tracks.rank == rank) | (trace.tracks.rank < 0) | (rank < 0)
