"""What the collectives of a trace cost, by operation, type of the elements, size and group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from neuron_profile.analysis.collectives.arrivals import Arrivals, arrivals
from neuron_profile.analysis.collectives.exposure import computing, exposed_ns, work_of
from neuron_profile.analysis.collectives.message import bus_factor
from neuron_profile.analysis.collectives.rates import link_rates
from neuron_profile.analysis.intervals import within
from trace_format import Trace

Array = np.ndarray

# An outlier takes longer than the median by more than so many scaled MADs, and by what is worth a look. A MAD times
# 1.4826 is the standard deviation of normal noise.
_MADS: Final = 5 * 1.4826
_WORTH_NS: Final = 100_000
_FEWEST: Final = 5  # collectives that show what is usual
_NS_PER_S: Final = 10**9
_KEYS = ["op", "dtype", "message_bytes", "group", "ranks", "source"]
COLUMNS = (
    "op", "dtype", "message_bytes", "group", "ranks", "source", "count", "spans", "total_ns", "median_ns", "p95_ns",
    "max_ns", "latency_ns", "algbw_bytes_per_s", "busbw_bytes_per_s", "link_bytes_per_s", "link_ratio", "exposed_ns",
    "overlap_ratio", "wait_ns", "outliers", "outlier_above_ns", "slice",
)  # fmt: skip


def collectives(trace: Trace) -> pd.DataFrame:
    """A row for each operation, element type, message size and process group, by total time, longest first.

    Columns:

    - op, dtype, source (who told of it); message_bytes: S of nccl-tests, the whole array (-1: unknown), of a collective
      that is matched across ranks the largest rank's; group (its name), ranks (how many take part, -1: unknown);
    - count: collectives; spans: their parts on each rank of the trace;
    - total_ns, median_ns, p95_ns, max_ns: of the spans, waiting for other ranks included;
    - latency_ns: the median over collectives of the shortest span, which waited least; from it algbw_bytes_per_s =
      message / latency and busbw_bytes_per_s = algbw x the factor of nccl-tests; link_bytes_per_s: the slowest link's
      rate one way where it is known, link_ratio = busbw / link rate;
    - exposed_ns: how much of the spans is under no compute of the same device (on a host that computes itself: under no
      operator), overlap_ratio: the share of the rest;
    - wait_ns: how much of the spans is waiting for the last rank, of collectives that the trace holds all ranks of;
    - outliers: collectives, of at least 5, whose latency is above outlier_above_ns = median + max(5 x 1.4826 x MAD,
      0.1 ms);
    - slice: the longest span.

    What is not known is NaN, in message_bytes and ranks -1: times, where only the call on the host was recorded.
    Simulated collectives are not looked at. `attrs`: spans, timed_spans, waiting_spans (whose wait is known);
    ranks_assumed (spans whose number of ranks is taken to be that of the job); unmatched (spans without sequence
    numbers that other ranks made more or fewer of). A trace without collectives gives an empty frame with the same
    columns.
    """
    found = arrivals(trace)
    spans = found.spans
    exposed = exposed_ns(trace, spans, computing(trace, spans))
    timed, waits = spans.timed, found.wait_ns >= 0
    size = np.full(len(found.matches), -1, np.int64)
    np.maximum.at(size, found.matches.of_span, spans.nbytes)
    columns = pd.DataFrame(
        {
            "op": spans.op, "dtype": spans.dtype, "message_bytes": size[found.matches.of_span],
            "group": spans.groups.of_row, "ranks": spans.ranks, "source": spans.source,
            "instance": found.matches.of_span,
            "dur_ns": np.where(timed, spans.dur_ns, np.nan), "exposed_ns": np.where(timed, exposed, np.nan),
            "wait_ns": np.where(waits, found.wait_ns, np.nan), "slice": spans.slice,
        }
    )  # fmt: skip
    columns["row"] = columns.groupby(_KEYS, sort=False).ngroup()
    frame = _sums(columns).join(_latencies(found, columns))
    frame = _named(trace, found, frame)
    frame = _rates(trace, frame).sort_values("total_ns", ascending=False, kind="stable", ignore_index=True)
    frame = frame[list(COLUMNS)]
    frame.attrs.update(
        spans=len(spans), timed_spans=int(timed.sum()), waiting_spans=int(waits.sum()),
        ranks_assumed=spans.ranks_assumed, unmatched=found.matches.unmatched,
    )  # fmt: skip
    return frame


def collective_overlap(trace: Trace) -> pd.DataFrame:
    """A row for each device (-1: a host that computes itself) that was in a collective, in order of rank and device.

    Columns: rank, device, collective_ns (how long it was in any collective), exposed_ns (and computed nothing),
    overlap_ratio (the share of collective_ns under compute).
    """
    found = arrivals(trace).spans
    busy = computing(trace, found)
    rows = []
    for place in sorted(busy):
        work = work_of(trace, found, place)
        whole = int((work[1] - work[0]).sum())
        hidden = int(within(*work, *busy[place]).sum())
        if whole:
            rows.append((place[0], place[1], whole, whole - hidden, hidden / whole))
    names = ("rank", "device", "collective_ns", "exposed_ns", "overlap_ratio")
    values = list(zip(*rows, strict=True)) or [()] * len(names)
    return pd.DataFrame(
        {name: np.array(column, float if name.endswith("ratio") else np.int64)
         for name, column in zip(names, values, strict=True)}
    )  # fmt: skip


def _sums(columns: pd.DataFrame) -> pd.DataFrame:
    """A row for each group of spans: its keys, counts and times."""
    by_row = columns.groupby("row", sort=True)
    frame = by_row[_KEYS].first()
    frame["count"] = by_row["instance"].nunique()
    frame["spans"] = by_row.size()
    for name, column in (("total_ns", "dur_ns"), ("exposed_ns", "exposed_ns"), ("wait_ns", "wait_ns")):
        frame[name] = by_row[column].sum(min_count=1)
    frame["median_ns"] = by_row["dur_ns"].quantile(0.5)
    frame["p95_ns"] = by_row["dur_ns"].quantile(0.95)
    frame["max_ns"] = by_row["dur_ns"].max()
    frame["overlap_ratio"] = 1 - frame["exposed_ns"] / frame["total_ns"]
    longest = columns.sort_values("dur_ns", ascending=False, kind="stable", na_position="last")
    frame["slice"] = longest.groupby("row", sort=True)["slice"].first()
    return frame


def _latencies(found: Arrivals, columns: pd.DataFrame) -> pd.DataFrame:
    """Of each group of spans the median latency of its collectives, and those far above it."""
    row = np.full(len(found.matches), -1, np.int64)
    row[found.matches.of_span] = columns["row"].to_numpy()
    known = found.latency_ns >= 0
    instances = pd.DataFrame({"row": row[known], "latency_ns": found.latency_ns[known].astype(np.float64)})
    median = instances.groupby("row")["latency_ns"].median()
    apart = (instances["latency_ns"] - instances["row"].map(median)).abs()
    above = median + np.maximum(_MADS * apart.groupby(instances["row"]).median(), _WORTH_NS)
    above = above.where(instances.groupby("row").size() >= _FEWEST)
    far = instances["latency_ns"] > instances["row"].map(above)
    return pd.DataFrame(
        {"latency_ns": median, "outliers": far.groupby(instances["row"]).sum(), "outlier_above_ns": above}
    )


def _named(trace: Trace, found: Arrivals, frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with texts for codes."""
    spans, strings = found.spans, trace.pool.strings
    texts: dict[str, Sequence[str] | dict[int, str]] = {
        "op": spans.ops, "source": spans.sources, "group": spans.groups.names,
        "dtype": {number: strings[number] for number in frame["dtype"].tolist()},
    }  # fmt: skip
    for name, text in texts.items():
        frame[name] = pd.Series([text[number] for number in frame[name].tolist()], index=frame.index, dtype=object)
    frame["outliers"] = frame["outliers"].fillna(0).astype(np.int64)
    return frame


def _rates(trace: Trace, frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with bandwidths: of the median latency, NaN where it or the size is not known."""
    ops, ranks = frame["op"].tolist(), frame["ranks"].tolist()
    size = frame["message_bytes"].where(frame["message_bytes"] > 0).astype(np.float64)
    frame["algbw_bytes_per_s"] = size * _NS_PER_S / frame["latency_ns"]
    frame["busbw_bytes_per_s"] = frame["algbw_bytes_per_s"] * [
        bus_factor(op, n) for op, n in zip(ops, ranks, strict=True)
    ]  # fmt: skip
    frame["link_bytes_per_s"] = np.array(link_rates(trace, ops, ranks), np.float64)
    frame["link_ratio"] = frame["busbw_bytes_per_s"] / frame["link_bytes_per_s"]
    return frame
