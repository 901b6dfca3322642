"""Which engine works, which waits, which idles: per engine and core."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuron_profile.analysis.intervals import union_length
from neuron_profile.analysis.neuron_device.runs import Run
from neuron_profile.analysis.neuron_device.sums import ENGINES, engine_of
from neuron_profile.analysis.neuron_device.waits import is_wait, waits
from trace_format import Trace
from trace_format.importers.neuron_device.engines import ENGINES as NAMES

_PS_PER_NS = 1000


def engine_utilisation(trace: Trace, run: Run) -> pd.DataFrame:
    """The five engines of each physical core of a run, core by core: what their time went to.

    Columns: core, engine, instructions (all, waits too), active_ns (union of instructions that do work),
    waiting_ns (the engine did no work while an instruction waited, see `waits.Waits`), idle_ns (the rest of the
    run), each with its share of the run as active_ratio, waiting_ratio, idle_ratio (NaN for a run without time), and
    instruction_ns (sum of the durations of instructions that do work; more than active_ns where they overlap).
    A core of which nothing was recorded has no rows.
    """
    rows, waited = run.instructions, waits(trace, run)
    engine, works = engine_of(trace, rows), ~is_wait(trace, rows)
    core = run.track_core[rows.track]
    found = []
    for number in np.unique(core[engine >= 0]).tolist():
        for place, name in enumerate(NAMES):
            mine = (core == number) & (engine == ENGINES.index(name.lower()))
            busy = rows.where(mine & works)
            active = union_length(busy.start_ps, busy.end_ps)
            either = union_length(
                np.r_[busy.start_ps, waited.start_ps[mine]], np.r_[busy.end_ps, waited.end_ps[mine]]
            )  # fmt: skip
            idle = max(run.total_ps - either, 0)
            found.append((number, NAMES[place], int(mine.sum()), active, either - active, idle, int(busy.dur_ps.sum())))
    columns = ("core", "engine", "instructions", "active", "waiting", "idle", "instruction")
    frame = pd.DataFrame(found, columns=list(columns))
    for name in ("active", "waiting", "idle"):
        frame[f"{name}_ratio"] = frame[name] / run.total_ps if run.total_ps else np.nan
    for name in ("active", "waiting", "idle", "instruction"):
        frame[f"{name}_ns"] = frame.pop(name).astype(np.int64) // _PS_PER_NS
    return frame[["core", "engine", "instructions", "active_ns", "active_ratio", "waiting_ns", "waiting_ratio",
                  "idle_ns", "idle_ratio", "instruction_ns"]]  # fmt: skip
