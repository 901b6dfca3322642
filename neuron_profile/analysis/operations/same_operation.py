"""One slice among those of the same operation: all of its trace, and those of the other ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from neuron_profile.analysis.arguments import slice_row
from neuron_profile.analysis.sides import side_of_slices
from neuron_profile.analysis.steps.steps import steps
from trace_format import Trace

Array = np.ndarray

MOST_BINS: Final = 40
# Most slices of one kernel differ by a few percent; where they differ by much more, bins of equal ratio show more.
_WIDE: Final = 50.0


@dataclass(frozen=True, slots=True, eq=False)
class DurationDistribution:
    """How long the slices of one name and category took, those on simulated tracks apart from measured ones.

    - `dur_ns`: of the slice that was asked for, -1 where it did not finish. `bin`: its bin, -1 for none.
    - `count`: finished slices, it among them; `unfinished`: others. `shorter`, `equal`: how many took less, as long.
    - `longer_than_ratio`: `shorter` / the others that finished; NaN where there is no other or it did not finish.
    - `least_ns`, `median_ns`, `p95_ns`, `most_ns`: of them all, -1 for none.
    - `edges_ns` `(bins + 1,) float64`, `counts` `(bins,)`: their histogram, by equal ratios where `is_log`.
    - `longest`, `shortest`: rows, -1 for none.
    """

    dur_ns: int
    bin: int
    count: int
    unfinished: int
    shorter: int
    equal: int
    longer_than_ratio: float
    least_ns: int
    median_ns: float
    p95_ns: float
    most_ns: int
    edges_ns: Array
    counts: Array
    is_log: bool
    longest: int
    shortest: int


def duration_distribution(trace: Trace, row: int) -> DurationDistribution:
    """How long the slices with the name and category of a slice took, and where it stands among them.

    Raises ValueError for a row that there is not.
    """
    row = slice_row(trace, row)
    slices = trace.slices
    rows = _same(trace, row)
    dur_ns = slices.dur_ns[rows]
    rows, unfinished = rows[dur_ns >= 0], int((dur_ns < 0).sum())
    dur_ns = slices.dur_ns[rows]
    own = int(slices.dur_ns[row])
    if not len(dur_ns):
        none = np.zeros(0, np.int64)
        return DurationDistribution(
            own, -1, 0, unfinished, 0, 0, np.nan, -1, np.nan, np.nan, -1, none.astype(float), none, False, -1, -1
        )
    least, most = int(dur_ns.min()), int(dur_ns.max())
    edges, is_log = _edges(least, most, len(dur_ns))
    counts = np.histogram(dur_ns, edges)[0]
    shorter, others = int((dur_ns < own).sum()), len(dur_ns) - (own >= 0)
    at = int(np.clip(np.searchsorted(edges, own, "right") - 1, 0, len(counts) - 1)) if own >= 0 else -1
    return DurationDistribution(
        own, at, len(dur_ns), unfinished, shorter, int((dur_ns == own).sum()),
        shorter / others if others and own >= 0 else np.nan,
        least, float(np.median(dur_ns)), float(np.percentile(dur_ns, 95)), most,
        edges, counts, is_log, int(rows[np.argmax(dur_ns)]), int(rows[np.argmin(dur_ns)]),
    )  # fmt: skip


def _edges(least: int, most: int, count: int) -> tuple[Array, bool]:
    """Edges of a histogram's bins over [least, most], and whether they are equal ratios apart."""
    bins = int(min(MOST_BINS, max(1, round(2 * np.sqrt(count)))))
    if least == most:
        return np.array([least, least + 1.0]), False
    if least > 0 and most / least > _WIDE:
        edges = np.geomspace(least, most, bins + 1)
        edges[0], edges[-1] = least, most  # as they are, not as they come back from a logarithm
        return edges, True
    return np.linspace(least, most, bins + 1), False


def same_on_ranks(trace: Trace, row: int) -> pd.DataFrame:
    """The same slice on each rank of the trace that has it, in order of rank: same name, category, step and number.

    The number counts the slices of that name and category within their step and rank, in order of start; where the
    trace marks no steps, within the whole trace. Clocks of ranks are taken as they are.

    Columns: rank, slice, ts_ns, dur_ns (-1: did not finish), skew_ns (its start after that of the slice that was asked
    for), in_step (how many of the name that rank has in the step). Empty where the trace holds a single rank or the
    slice is in no step of its rank. `attrs`: step (number, -1: the whole trace), number (from 0), ranks (how many the
    trace has). Raises ValueError for a row that there is not.
    """
    row = slice_row(trace, row)
    slices, tracks = trace.slices, trace.tracks
    rows = _same(trace, row)
    rank = tracks.rank[slices.track[rows]]
    all_ranks = np.unique(tracks.rank[tracks.rank >= 0])
    own = int(tracks.rank[slices.track[row]])
    found = steps(trace)
    marked = found.attrs["found_by"] != "window"
    step = _step_at(found, own, int(slices.ts_ns[row])) if marked else -1
    out: list[tuple[int, int, int]] = []
    number = -1
    if own >= 0 and len(all_ranks) > 1 and (step >= 0 or not marked):
        number = _place(_within(trace, rows[rank == own], found, own, step), row)
        for one in np.unique(rank[rank >= 0]).tolist():
            mine = _within(trace, rows[rank == one], found, one, step)
            if len(mine) > number:
                out.append((one, int(mine[number]), len(mine)))
    frame = pd.DataFrame(out, columns=["rank", "slice", "in_step"]).astype(np.int64)
    at = frame["slice"].to_numpy()
    frame.insert(2, "ts_ns", slices.ts_ns[at])
    frame.insert(3, "dur_ns", slices.dur_ns[at])
    frame.insert(4, "skew_ns", slices.ts_ns[at] - slices.ts_ns[row])
    frame.attrs = {"step": step, "number": number, "ranks": len(all_ranks)}
    return frame


def _same(trace: Trace, row: int) -> Array:
    """The slices of the same name, category and side as a slice, measured or simulated like it; rows in order."""
    slices, simulated = trace.slices, trace.tracks.simulated
    rows = np.flatnonzero((slices.name == slices.name[row]) & (slices.category == slices.category[row]))
    side = side_of_slices(trace)
    alike = simulated[slices.track[rows]] == simulated[slices.track[row]]
    return rows[alike & (side[rows] == side[row])]


def _step_at(found: pd.DataFrame, rank: int, ts_ns: int) -> int:
    """The number of the step of a rank at a moment, -1 for none."""
    here = found[(found["rank"] == rank) & (found["start_ns"] <= ts_ns) & (ts_ns < found["end_ns"])]
    return int(here["step"].iloc[-1]) if len(here) else -1


def _within(trace: Trace, rows: Array, found: pd.DataFrame, rank: int, step: int) -> Array:
    """Those of the rows that begin in a step of a rank (-1: all), in order of start."""
    ts_ns = trace.slices.ts_ns[rows]
    if step >= 0:
        mine = found[(found["rank"] == rank) & (found["step"] == step)]
        inside = np.zeros(len(rows), bool)
        for start, end in zip(mine["start_ns"].tolist(), mine["end_ns"].tolist(), strict=True):
            inside |= (start <= ts_ns) & (ts_ns < end)
        rows, ts_ns = rows[inside], ts_ns[inside]
    return rows[np.argsort(ts_ns, kind="stable")]


def _place(rows: Array, row: int) -> int:
    """The place of a row among rows in order of start."""
    return int(np.flatnonzero(rows == row)[0])
