"""The regions of a trace that mark themselves: steps, the modules of a model, what lies between collectives."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from neuron_profile.analysis.arguments import one_of, whole_number
from neuron_profile.analysis.collectives.spans import Spans, spans
from neuron_profile.analysis.intervals import merged
from neuron_profile.analysis.measured import measured_window_ns
from neuron_profile.analysis.operations.attribution import MODULE
from neuron_profile.analysis.sides import HOST, side_of_tracks
from neuron_profile.analysis.steps.steps import steps
from trace_format import CATEGORIES, Trace

Array = np.ndarray

REGIONS: Final = ("steps", "modules", "between collectives")
_WHY: Final = {
    "steps": "no steps were marked, and nothing repeats that could be one",
    "modules": "no modules were recorded: profile with with_stack=True and with_modules=True",
    "between collectives": "no collective with a time of its own was recorded",
}
_PYTHON: Final = CATEGORIES.index("python")


def regions(trace: Trace, kind: str, *, depth: int = 0) -> pd.DataFrame:
    """The regions of one of the `REGIONS`, in order of rank and start.

    - "steps": as `steps` finds them, but not the whole window as one.
    - "modules": when the host ran an nn.Module that lies in `depth` others (0: the model itself), from the calls that
      were recorded, else from the modules in the stacks of operators: operators of one track that follow one another
      with the same modules around them are one region, from the start of the first to the end of the last.
    - "between collectives": from the end of a collective of a rank to the start of its next, what came before the first
      and after the last too; collectives that overlap or touch count as one.

    Columns: name, start_ns, end_ns (exclusive), dur_ns, rank (-1 where the trace knows none), depth (of the modules
    around it; 0 for the other kinds). `attrs`: kind, deepest (the largest depth that has regions, -1 for none),
    unfinished (calls of modules left out, as they did not end), why ("", or why there are none).
    Raises ValueError for another kind and a `depth` below 0. Simulated tracks are not looked at.
    """
    one_of("kind", kind, REGIONS)
    depth = whole_number("depth", depth, least=0)
    finders = {"steps": _steps, "modules": _modules, "between collectives": _between_collectives}
    frame = finders[kind](trace, depth)
    frame.attrs = {"deepest": 0 if len(frame) else -1, "unfinished": 0, **frame.attrs, "kind": kind}
    frame.attrs["why"] = "" if frame.attrs["deepest"] >= 0 else _WHY[kind]
    return frame


def _steps(trace: Trace, depth: int) -> pd.DataFrame:
    found = steps(trace)
    if found.attrs["found_by"] == "window" or depth:
        found = found.iloc[:0]
    return _frame(found["name"].tolist(), *(found[name].to_numpy(np.int64) for name in ("start_ns", "end_ns", "rank")))


def _modules(trace: Trace, depth: int) -> pd.DataFrame:
    is_module = np.array([text.startswith(MODULE) for text in trace.pool.strings.values], bool)
    on_host = side_of_tracks(trace.tracks) == HOST
    slices = trace.slices
    calls = np.flatnonzero((slices.category == _PYTHON) & is_module[slices.name])
    calls = calls[on_host[slices.track[calls]]] if len(calls) else calls
    if len(calls):
        return _called_modules(trace, calls, depth)
    return _modules_of_stacks(trace, is_module, on_host, depth)


def _called_modules(trace: Trace, calls: Array, depth: int) -> pd.DataFrame:
    """The calls of modules that lie in `depth` others."""
    slices = trace.slices
    finished = calls[slices.dur_ns[calls] >= 0]
    around = _depths(slices.parent, calls)[np.searchsorted(calls, finished)]
    rows = finished[around == depth]
    start = slices.ts_ns[rows]
    names = [trace.pool.strings[name].removeprefix(MODULE) for name in slices.name[rows].tolist()]
    frame = _frame(names, start, start + slices.dur_ns[rows], trace.tracks.rank[slices.track[rows]], depth=depth)
    frame.attrs = {"deepest": int(around.max()) if len(around) else -1, "unfinished": len(calls) - len(finished)}
    return frame


def _depths(parent: Array, chosen: Array) -> Array:
    """How many of the chosen slices, rows in order, lie around each of them."""
    is_chosen = np.zeros(len(parent), bool)
    is_chosen[chosen] = True
    at = parent[chosen].astype(np.int64)
    mine = np.arange(len(chosen))
    found = np.zeros(len(chosen), np.int64)
    while len(mine):  # as often as slices lie in one another
        mine, at = mine[at >= 0], at[at >= 0]
        found[mine] += is_chosen[at]
        at = parent[at].astype(np.int64)
    return found


def _modules_of_stacks(trace: Trace, is_module: Array, on_host: Array, depth: int) -> pd.DataFrame:
    """Runs of operators with the same modules around them, by the stacks that were recorded with them."""
    slices, stacks = trace.slices, trace.pool.stacks.values
    paths: dict[tuple[int, ...], int] = {}
    path_of, deepest = np.full(len(stacks), -1, np.int64), -1
    for number, stack in enumerate(stacks):
        modules = [frame for frame in stack if is_module[frame]]
        deepest = max(deepest, len(modules) - 1)
        if len(modules) > depth:
            path_of[number] = paths.setdefault(tuple(modules[: depth + 1]), len(paths))
    rows = np.flatnonzero((slices.stack > 0) & (slices.dur_ns >= 0))
    rows = rows[on_host[slices.track[rows]]]
    rows = rows[np.lexsort((rows, slices.ts_ns[rows], slices.track[rows]))]
    path, track = path_of[slices.stack[rows]], slices.track[rows]
    first = np.flatnonzero(np.r_[True, (path[1:] != path[:-1]) | (track[1:] != track[:-1])][: len(rows)])
    ends = np.maximum.reduceat(slices.ts_ns[rows] + slices.dur_ns[rows], first) if len(first) else first
    inside = path[first] >= 0
    first, ends = first[inside], ends[inside]
    names = [trace.pool.strings[modules[-1]].removeprefix(MODULE) for modules in paths]
    frame = _frame(
        [names[number] for number in path[first].tolist()],
        slices.ts_ns[rows[first]], ends, trace.tracks.rank[track[first]], depth=depth,
    )  # fmt: skip
    frame.attrs = {"deepest": deepest}
    return frame


def _between_collectives(trace: Trace, depth: int) -> pd.DataFrame:
    found, window = spans(trace), measured_window_ns(trace)
    if window is None or depth or not found.timed.any():
        return _frame([], *(np.zeros(0, np.int64) for _ in range(3)))
    parts = [_gaps(found, rank, window) for rank in np.unique(found.rank[found.timed]).tolist()]
    names = [name for part in parts for name in part[0]]
    return _frame(names, *(np.concatenate([part[at] for part in parts]) for at in (1, 2, 3)))


def _gaps(found: Spans, rank: int, window: tuple[int, int]) -> tuple[list[str], Array, Array, Array]:
    """The times of a rank in no collective: their names, starts, ends and ranks."""
    mine = np.flatnonzero(found.timed & (found.rank == rank))
    start, end, op = found.start_ns[mine], found.end_ns[mine], found.op[mine]
    begin, stop = merged(start, end)
    by_start, by_end = np.argsort(start, kind="stable"), np.argsort(end, kind="stable")
    opens = op[by_start[np.searchsorted(start[by_start], begin)]]
    closes = op[by_end[np.searchsorted(end[by_end], stop)]]
    gap_start, gap_end = np.r_[window[0], stop], np.r_[begin, window[1]]
    after = ["", *(found.ops[number] for number in closes.tolist())]
    before = [*(found.ops[number] for number in opens.tolist()), ""]
    some = np.flatnonzero(gap_end > gap_start)
    names = [_between(after[number], before[number]) for number in some.tolist()]
    return names, gap_start[some], gap_end[some], np.full(len(some), rank, np.int64)


def _between(after: str, before: str) -> str:
    if after and before:
        return f"{after} to {before}"
    return f"before {before}" if before else f"after {after}"


def _frame(names: list[str], start: Array, end: Array, rank: Array, *, depth: int = 0) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "name": pd.Series(names, dtype=object),
            "start_ns": start.astype(np.int64),
            "end_ns": end.astype(np.int64),
            "dur_ns": (end - start).astype(np.int64),
            "rank": rank.astype(np.int64),
            "depth": np.full(len(start), depth, np.int64),
        }
    )
    return frame.sort_values(["rank", "start_ns"], kind="stable", ignore_index=True)
