"""What was compiled, how long it took, and the step that paid for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.steps.steps import steps
from trace_format import Trace

Array = np.ndarray

_NONE = -1


def compiles(trace: Trace) -> pd.DataFrame:
    """A row for each compile, in order of start; those without a time come last. What is told twice is one row.

    A compile is charged, whole, to the step of its rank in which it starts. One that runs inside another (a backend
    that calls neuronx-cc) has a row of its own; `compile_time_by_step` counts such time once.

    Columns: what, function and graph ("" where only `what` is known), direction (forward, backward or ""), backend,
    cache (hit, miss, unknown), cache_key, trigger (the frame that was compiled, or why it was compiled again),
    operators (-1: unknown), graph_breaks, exit_status (0: done, -1: unknown), failure, neff (row, -1: none), start_ns
    (-1: unknown), dur_ns (-1: did not finish or unknown), step (-1: in none), rank (-1 where the trace knows none),
    slice (row, -1: none). `attrs`: steps_found_by, as `steps` says it; repeated (how many rows told of a compile that
    another had told of in all but its slice).
    A trace without compiles gives an empty frame with the same columns.
    """
    rows, slices = trace.compiles, trace.slices
    known = rows.slice >= 0
    of = rows.slice[known]
    start_ns, dur_ns, rank = (np.full(len(rows), _NONE, np.int64) for _ in range(3))
    start_ns[known], dur_ns[known] = slices.ts_ns[of], slices.dur_ns[of]
    rank[known] = trace.tracks.rank[slices.track[of]]
    args = [trace.pool.args(int(slices.args[row])) if row >= 0 else {} for row in rows.slice.tolist()]
    found = steps(trace)
    columns: dict[str, Any] = {
        "what": _texts(rows.text("what")),
        "function": _texts([told.get("function", "") for told in args]),
        "graph": _texts([told.get("compile_id", "") for told in args]),
        "direction": _texts([told.get("direction", "") for told in args]),
        "backend": _texts(rows.text("backend")),
        "cache": _texts(rows.text("cache")),
        "cache_key": _texts([_cache_key(told) for told in args]),
        "trigger": _texts(rows.text("trigger")),
        "operators": _whole([told.get("operators") for told in args], unknown=-1),
        "graph_breaks": _whole([told.get("graph_breaks") for told in args], unknown=0),
        "exit_status": rows.exit_status.astype(np.int64),
        "failure": _texts([told.get("failure", "") for told in args]),
        "neff": rows.neff,
        "start_ns": start_ns,
        "dur_ns": dur_ns,
        "step": np.where(known, _steps_at(start_ns, rank, found), _NONE),
        "rank": rank,
        "slice": rows.slice,
    }
    order = np.lexsort((start_ns, ~known))
    frame = pd.DataFrame(columns).iloc[order]
    repeated = frame.duplicated([name for name in columns if name != "slice"]).to_numpy() & known[order]
    frame = frame[~repeated].reset_index(drop=True)
    frame.attrs["repeated"] = int(repeated.sum())
    frame.attrs["steps_found_by"] = found.attrs["found_by"]
    return frame


def compile_time_by_step(trace: Trace) -> pd.DataFrame:
    """For each step that paid for compiles, the time in which something was compiled, in order of rank and step.

    Time in which several compiles ran, or one inside another, counts once.

    Columns: step (-1: in none), rank, count, misses (compiles that no cache had), dur_ns.
    """
    frame = compiles(trace)
    frame = frame[frame.start_ns >= 0]
    charged = [
        (step, rank, len(mine), int((mine.cache == "miss").sum()), _covered_ns(mine.start_ns, mine.dur_ns))
        for (rank, step), mine in frame.groupby(["rank", "step"])
    ]
    columns = list(zip(*charged, strict=True)) or [()] * 5
    names = ("step", "rank", "count", "misses", "dur_ns")
    return pd.DataFrame({name: np.array(values, np.int64) for name, values in zip(names, columns, strict=True)})


def _steps_at(ts_ns: Array, rank: Array, found: pd.DataFrame) -> Array:
    """The step of its rank in which each moment is, -1 for none."""
    out = np.full(len(ts_ns), _NONE, np.int64)
    of_any_rank = found.attrs["found_by"] == "window"
    for of_rank, mine in found.groupby("rank"):
        start, end, number = (mine[name].to_numpy() for name in ("start_ns", "end_ns", "step"))
        at = np.searchsorted(start, ts_ns, side="right") - 1
        inside = (at >= 0) & (ts_ns < end[np.maximum(at, 0)]) & (of_any_rank | (rank == of_rank))
        out[inside] = number[at[inside]]
    return out


def _covered_ns(start_ns: pd.Series, dur_ns: pd.Series) -> int:
    """How long at least one of the intervals, in order of start, lasts; one that did not end counts nothing."""
    start = start_ns.to_numpy()
    end = np.maximum.accumulate(start + np.maximum(dur_ns.to_numpy(), 0))
    begins = np.maximum(start, np.r_[start[:1], end[:-1]])
    return int(np.maximum(end - begins, 0).sum())


def _cache_key(told: Mapping[str, Any]) -> str:
    """The key that the innermost cache was asked for: it identifies the compiled graph."""
    keys = [value for name, value in told.items() if name.endswith("_key") and isinstance(value, str)]
    return keys[-1] if keys else ""


def _texts(values: Sequence[Any]) -> pd.Series:
    return pd.Series([value if isinstance(value, str) else "" for value in values], dtype=object)


def _whole(values: Sequence[Any], *, unknown: int) -> Array:
    return np.array([value if isinstance(value, int) else unknown for value in values], np.int64)
