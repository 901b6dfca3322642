"""How long each instruction kept its engine waiting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.neuron_device.runs import Rows, Run
from trace_format import CATEGORIES, Trace

Array = np.ndarray

_PS_PER_NS = 1000
_SEMAPHORE = CATEGORIES.index("semaphore")


def is_wait(trace: Trace, rows: Rows) -> Array:
    """Whether each instruction only waits (EVENT_SEMAPHORE): AWS counts it and gives it no time."""
    return np.asarray(trace.slices.category[rows.slice] == _SEMAPHORE)


@dataclass(frozen=True, slots=True)
class Waits:
    """For each instruction of a run (its `instructions`) when it waited, as columns `(n,) int64` of picoseconds.

    An EVENT_SEMAPHORE waits while it runs. Any other waited before its start, for as long as it says, but no longer
    than its engine had nothing else to run: the hardware repeats the last wait for instructions that had none.
    """

    start_ps: Array
    end_ps: Array

    @property
    def dur_ps(self) -> Array:
        return self.end_ps - self.start_ps


def waits(trace: Trace, run: Run) -> Waits:
    """The waits of a run's instructions, none longer than the part of it in the run."""
    rows = run.instructions
    wait_ps = np.maximum(trace.slices.wait_ns[rows.slice], 0) * _PS_PER_NS
    free_since = np.zeros(len(rows), np.int64)
    for track in np.unique(rows.track).tolist():
        mine = np.flatnonzero(rows.track == track)
        free_since[mine[1:]] = np.maximum(np.maximum.accumulate(rows.end_ps[mine])[:-1], 0)
    end = np.maximum(rows.start_ps, 0)
    start = np.minimum(np.maximum(end - wait_ps, free_since), end)
    semaphore = is_wait(trace, rows)
    return Waits(np.where(semaphore, rows.start_ps, start), np.where(semaphore, rows.end_ps, end))
