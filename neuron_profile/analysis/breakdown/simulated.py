"""Where the time of simulated devices would go."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from neuron_profile.analysis.breakdown.parts import SIMULATED_PARTS, parts_frame
from neuron_profile.analysis.intervals import covered_before
from neuron_profile.analysis.work import COLLECTIVE, COMPUTE, NONE, Intervals, by_device, joined, kind_of_work, union_of
from trace_format import TRACK_KINDS, Trace
from trace_format.importers.neuron_device.tracks import EXECUTIONS, SIMULATED

Array = np.ndarray

WHOLE_ESTIMATE = "whole estimate"
_KINDS = [TRACK_KINDS.index(kind) for kind in ("engine", "dma_queue", "collective")]
_SETTINGS = ("generation", "lnc", "mode", "uncertainty")


def simulated_breakdown(trace: Trace) -> pd.DataFrame:
    """A row for each simulated device, in order of rank, whose parts sum to its time exactly; all of it is an estimate.

    The time is that from its first run to its last, or of its collectives. In it, by what happens first in this list:

    - compute_ns: any engine works;
    - exposed_collective_ns: it is in a collective and no engine works;
    - exposed_copy_ns: it moves data by DMA and does neither;
    - idle_run_ns: a NEFF runs, but none of its parts: what running one takes besides, and waits between engines;
    - idle_host_ns: no NEFF runs, for the host has asked for none yet.

    Columns: rank, device (-1), step (0), name, start_ns, end_ns, total_ns, then `SIMULATED_PARTS`. `attrs`: estimated
    (True), and of what: generation, lnc, mode (eager or compiled), uncertainty, as the simulation states them (None
    where it does not). No rows for a trace without simulated devices.
    """
    tracks = trace.tracks
    simulated = tracks.simulated.astype(bool)
    kind = kind_of_work(trace, simulated & np.isin(tracks.kind, _KINDS))
    called = trace.pool.strings.find(f"{EXECUTIONS} {SIMULATED}")
    is_run = simulated & (tracks.name == called)
    kept = np.flatnonzero((kind != NONE) | is_run[trace.slices.track]) if simulated.any() else np.zeros(0, np.int64)
    frames = [_device(trace, rank, device, rows, kind) for rank, device, rows in by_device(trace, kept)]
    none = np.zeros(0, np.int64)
    frame = pd.concat(frames, ignore_index=True) if frames else _frame((none, none), -1, -1, {})
    said = trace.metadata.get("simulated")
    settings = said if isinstance(said, Mapping) else {}
    frame.attrs.update(estimated=True, **{name: settings.get(name) for name in _SETTINGS})
    return frame


def _device(trace: Trace, rank: int, device: int, rows: Array, kind: Array) -> pd.DataFrame:
    """Its row; `kind` of a run is NONE."""
    work = rows[kind[rows] != NONE]
    running = union_of(trace, rows[kind[rows] == NONE])
    compute = union_of(trace, work[kind[work] == COMPUTE])
    useful = joined(compute, union_of(trace, work[kind[work] == COLLECTIVE]))
    busy = joined(useful, union_of(trace, work))
    either = joined(busy, running)
    window = (either[0][:1], either[1][-1:])
    computes, uses, works, all_of_it = (_length(window, one) for one in (compute, useful, busy, either))
    parts = {
        "compute_ns": computes, "exposed_collective_ns": uses - computes, "exposed_copy_ns": works - uses,
        "idle_run_ns": all_of_it - works, "idle_host_ns": window[1] - window[0] - all_of_it,
    }  # fmt: skip
    return _frame(window, rank, device, parts)


def _frame(window: Intervals, rank: int, device: int, parts: dict[str, Array]) -> pd.DataFrame:
    count = len(window[0])
    whole = pd.DataFrame({"step": np.zeros(count, np.int64), "name": pd.Series([WHOLE_ESTIMATE] * count, dtype=object)})
    return parts_frame(whole, window, rank, device, parts, SIMULATED_PARTS)


def _length(window: Intervals, one: Intervals) -> Array:
    return covered_before(window[1], *one) - covered_before(window[0], *one)
