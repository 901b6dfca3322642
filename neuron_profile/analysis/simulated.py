"""What a simulated device was estimated to do: never part of what was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from trace_format import TRACK_KINDS, Trace
from trace_format.importers.neuron_device.engines import ENGINES
from trace_format.importers.neuron_device.tracks import EXECUTIONS, SIMULATED

Array = np.ndarray

_ENGINE, _QUEUE, _ANNOTATION = (TRACK_KINDS.index(kind) for kind in ("engine", "dma_queue", "device_annotation"))


@dataclass(frozen=True, slots=True)
class SimulatedDevice:
    """Estimates, all of them.

    - `lines`: columns rank, line (an engine, or a side of DMA), track, busy_ns, busy_ratio (of the time in which NEFFs
      of its rank ran), bytes (-1 for engines); engines first.
    - `operators`: columns name, count, total_ns, mean_ns, share_ratio (of the time in NEFFs, without their fixed time
      where a NEFF holds several), slice (the longest one); by total_ns, largest first.
    - `span_ns`: from the start of the first NEFF to the end of the last.
    - `running_ns`: how long a NEFF ran, all ranks together.
    """

    lines: pd.DataFrame
    operators: pd.DataFrame
    span_ns: int
    running_ns: int


def simulated_device(trace: Trace) -> SimulatedDevice | None:
    """What the simulated devices of a trace do; None for a trace without."""
    tracks, slices = trace.tracks, trace.slices
    simulated = tracks.simulated.astype(bool)
    if not simulated.any():
        return None
    called = trace.pool.strings.find(f"{EXECUTIONS} {SIMULATED}")
    is_execution = simulated & (tracks.kind == _ANNOTATION) & (tracks.name == called)
    runs = np.flatnonzero(is_execution[slices.track])
    if not len(runs):
        return None
    start, dur_ns = slices.ts_ns[runs], np.maximum(slices.dur_ns[runs], 0)
    span_ns = int((start + dur_ns).max() - start.min())
    outer = slices.depth[runs] == 0
    return SimulatedDevice(
        _lines(trace, simulated, runs[outer]), _operators(trace, runs), span_ns, int(dur_ns[outer].sum())
    )  # fmt: skip


def _lines(trace: Trace, simulated: Array, runs: Array) -> pd.DataFrame:
    tracks, slices = trace.tracks, trace.slices
    rows = np.flatnonzero(simulated & np.isin(tracks.kind, (_ENGINE, _QUEUE)))
    busy_ns = np.bincount(slices.track, np.maximum(slices.dur_ns, 0), len(tracks)).astype(np.int64)
    moved = np.bincount(slices.track, np.maximum(slices.bytes, 0), len(tracks)).astype(np.int64)
    running_ns: dict[int, int] = {}
    for rank in np.unique(tracks.rank[slices.track[runs]]).tolist():
        mine = runs[tracks.rank[slices.track[runs]] == rank]
        running_ns[rank] = int(np.maximum(slices.dur_ns[mine], 0).sum())
    whole = np.array([max(running_ns.get(rank, 0), 1) for rank in tracks.rank[rows].tolist()], np.int64)
    names, engines = tracks.text("name"), tracks.text("engine")
    is_engine = tracks.kind[rows] == _ENGINE
    lines = [engines[row] or f"DMA {names[row].removesuffix(SIMULATED).strip()}" for row in rows.tolist()]
    frame = pd.DataFrame(
        {
            "rank": tracks.rank[rows].astype(np.int64),
            "line": lines,
            "track": rows,
            "busy_ns": busy_ns[rows],
            "busy_ratio": busy_ns[rows] / whole,
            "bytes": np.where(is_engine, -1, moved[rows]),
        }
    )
    place = np.array([ENGINES.index(line) if line in ENGINES else len(ENGINES) for line in lines], np.int64)
    return frame.iloc[np.lexsort((np.array(lines), place, tracks.rank[rows]))].reset_index(drop=True)


def _operators(trace: Trace, runs: Array) -> pd.DataFrame:
    """By name, the innermost slices: the operators of a graph, else the run that is one operator."""
    slices = trace.slices
    holds = np.zeros(len(slices), bool)
    around = slices.parent[runs]
    holds[around[around >= 0]] = True
    rows = runs[~holds[runs]]
    names, of_row = np.unique(slices.name[rows], return_inverse=True)
    dur_ns = np.maximum(slices.dur_ns[rows], 0)
    count, total = np.bincount(of_row), np.bincount(of_row, dur_ns).astype(np.int64)
    longest = np.zeros(len(names), np.int64)
    ascending = np.argsort(dur_ns, kind="stable")
    longest[of_row[ascending]] = rows[ascending]
    frame = pd.DataFrame(
        {
            "name": pd.Series([trace.pool.strings[name] for name in names.tolist()], dtype=object),
            "count": count,
            "total_ns": total,
            "mean_ns": total / count,
            "share_ratio": total / max(int(total.sum()), 1),
            "slice": longest,
        }
    )
    return frame.sort_values(["total_ns", "name"], ascending=[False, True], ignore_index=True)
