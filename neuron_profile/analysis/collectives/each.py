"""Every collective on every rank, and what they cost a step."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from neuron_profile.analysis.collectives.arrivals import Arrivals, arrivals
from neuron_profile.analysis.collectives.exposure import computing, exposed_ns
from neuron_profile.analysis.derived import kept_with_the_trace
from neuron_profile.analysis.steps.steps import steps
from neuron_profile.analysis.texts import as_text, to_group_by
from trace_format import Trace

Array = np.ndarray

COLUMNS: Final = (
    "collective", "op", "dtype", "message_bytes", "group", "ranks", "seq", "rank", "device", "step", "start_ns",
    "dur_ns", "exposed_ns", "late_ns", "wait_ns", "slice",
)  # fmt: skip
EXPOSED_COLUMNS: Final = ("op", "message_bytes", "count", "total_ns", "exposed_ns", "overlap_ratio")


def collective_spans(trace: Trace) -> pd.DataFrame:
    """A row for each collective on each rank, in order of start.

    Columns: collective (its number: the same on all its ranks); op, dtype, message_bytes, group, ranks: as in
    `collectives`; seq (-1: none); rank, device (-1: unknown, or the host); step (that of its rank in which it starts,
    -1: none); start_ns (on the clock of the lowest rank), dur_ns (waiting included), exposed_ns (see `collectives`):
    -1 where only the call on the host was recorded; late_ns (how long after the first rank it came), wait_ns (how long
    it waited for the last): -1 where the trace does not hold all ranks of the collective; slice (the last of its work,
    else the call). Simulated collectives are not looked at.
    A trace without collectives gives an empty frame with the same columns.
    """
    return _frame(trace).copy()


@kept_with_the_trace
def _frame(trace: Trace) -> pd.DataFrame:
    found = arrivals(trace)
    spans, of_span = found.spans, found.matches.of_span
    size = np.full(len(found.matches), -1, np.int64)
    np.maximum.at(size, of_span, spans.nbytes)
    strings = trace.pool.strings
    frame = pd.DataFrame(
        {
            "collective": of_span, "op": _texts(spans.op, spans.ops),
            "dtype": _texts(spans.dtype, {number: strings[number] for number in np.unique(spans.dtype).tolist()}),
            "message_bytes": size[of_span], "group": _texts(spans.groups.of_row, spans.groups.names),
            "ranks": spans.ranks, "seq": spans.seq, "rank": spans.rank, "device": spans.device,
            "step": _step_of(trace, spans.rank, spans.start_ns, spans.timed),
            "start_ns": np.where(spans.timed, found.come_ns, -1),
            "dur_ns": np.where(spans.timed, spans.dur_ns, -1),
            "exposed_ns": np.where(spans.timed, exposed_ns(trace, spans, computing(trace, spans)), -1),
            "late_ns": _late_ns(found), "wait_ns": found.wait_ns, "slice": spans.slice,
        },
        columns=list(COLUMNS),
    )  # fmt: skip
    return frame.sort_values(["start_ns", "rank"], kind="stable", ignore_index=True)


def exposed_collectives(trace: Trace) -> pd.DataFrame:
    """What the collectives of each operation and message size cost a step of a rank, most exposed first.

    Columns: op, message_bytes (-1: unknown); count, total_ns, exposed_ns: the mean for each step of each rank that has
    steps and collectives; overlap_ratio: the share of total_ns under compute (NaN: no time is known). What is outside
    of all steps is left out. `attrs`: steps (how many are averaged over, those of all ranks), found_by (see `steps`:
    without steps each rank's window is one), timed (whether any time is known).
    A trace without collectives gives an empty frame with the same columns.
    """
    spans = _frame(trace)
    known = steps(trace)
    found_by = known.attrs["found_by"]
    if found_by == "window":
        averaged = spans["rank"].nunique()
    else:
        spans = spans[spans["step"] >= 0]
        averaged = len(known[known["rank"].isin(spans["rank"].unique())])
    spans = to_group_by(spans, "op")
    timed = spans[spans["dur_ns"] >= 0]
    by_kind = spans.groupby(["op", "message_bytes"], sort=False, observed=True)
    frame = by_kind.size().rename("count").to_frame()
    frame[["total_ns", "exposed_ns"]] = timed.groupby(["op", "message_bytes"], sort=False, observed=True)[
        ["dur_ns", "exposed_ns"]
    ].sum()
    frame = as_text((frame / max(averaged, 1)).reset_index(), "op")
    frame["overlap_ratio"] = 1 - frame["exposed_ns"] / frame["total_ns"].where(frame["total_ns"] > 0)
    frame = frame.sort_values(["exposed_ns", "total_ns", "count"], ascending=False, kind="stable", ignore_index=True)
    frame = frame[list(EXPOSED_COLUMNS)]
    frame.attrs.update(steps=averaged, found_by=found_by, timed=len(timed) > 0)
    return frame


def _texts(codes: Array, texts: dict[int, str] | list[str] | tuple[str, ...]) -> pd.Series:
    return pd.Series([texts[code] for code in codes.tolist()], dtype=object)


def _late_ns(found: Arrivals) -> Array:
    """How long after the first rank each came, -1 where not all ranks are there."""
    of_span, skew = found.matches.of_span, found.skew_ns
    last = found.last_span[of_span]
    first_ns = found.come_ns[last] - skew[of_span] if len(last) else found.come_ns
    return np.where(last >= 0, found.come_ns - first_ns, -1)


def _step_of(trace: Trace, rank: Array, start_ns: Array, timed: Array) -> Array:
    """The step of its rank in which each starts, -1 for none."""
    out = np.full(len(rank), -1, np.int64)
    known = steps(trace)
    if known.attrs["found_by"] == "window":
        return out
    for of_rank, mine in known.groupby("rank", sort=False):
        rows = np.flatnonzero((rank == of_rank) & timed)
        begins, ends = mine["start_ns"].to_numpy(), mine["end_ns"].to_numpy()
        at = np.searchsorted(begins, start_ns[rows], "right") - 1
        inside = (at >= 0) & (start_ns[rows] < ends[at])
        out[rows[inside]] = mine["step"].to_numpy()[at[inside]]
    return out
