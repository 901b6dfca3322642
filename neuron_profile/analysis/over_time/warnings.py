"""When something went wrong that is seen on a timeline: small transfers, throttling, idle gaps, compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from neuron_profile.analysis.bandwidth.transfer_sizes import SMALL_DMA_BYTES, small_packets
from neuron_profile.analysis.breakdown.host import Hosts
from neuron_profile.analysis.breakdown.idle import idle_parts
from neuron_profile.analysis.launches.launching import launching_slice
from neuron_profile.analysis.neuron_device import runs_of, throttle_limits
from neuron_profile.analysis.over_time.bands import Bands, bands
from neuron_profile.analysis.over_time.idle_gaps import CAUSES
from neuron_profile.analysis.steps.steps import steps
from neuron_profile.analysis.work import by_device, device_work, union_of
from trace_format import CATEGORIES, Trace
from trace_format import number_text as text

Array = np.ndarray

WARNING_KINDS: Final = ("idle gap", "small DMA", "throttling", "compile stall")
# Of the median step: what is shorter is not seen where a few steps fill a screen, and there are too many of them.
LEAST_IDLE_RATIO: Final = 0.02
MOST_BANDS: Final = 1000
COLUMNS: Final = (
    "kind", "start_ns", "end_ns", "what", "rank", "count", "worst_ns", "bytes", "limit_ratio", "cause", "slice",
)  # fmt: skip
_LONGEST_NAME: Final = 80
_COMPILE: Final = CATEGORIES.index("compile")


def warnings_over_time(trace: Trace) -> pd.DataFrame:
    """A row for each time in which something was wrong, in order of kind (as in `WARNING_KINDS`) and start.

    - "idle gap": a measured device does nothing between two pieces of its work for at least `LEAST_IDLE_RATIO` of the
      median step (of the window, where the trace has no steps).
    - "small DMA": DMA packets below 4 KiB are under way (see `transfer_sizes`); of all queues of a rank together.
    - "throttling": a NeuronCore may not use its whole rate, by its throttle records.
    - "compile stall": something was being compiled; compiles within others count with them.

    Of each kind there are at most `MOST_BANDS` rows: where there were more, those that are closest together are one,
    so that a row may hold time in which nothing was wrong.

    Columns: kind, start_ns, end_ns (exclusive), what (a sentence with its numbers), rank (-1: not told), count (gaps,
    packets, records or compiles), worst_ns (the longest of them), bytes (of the packets, -1 for other kinds),
    limit_ratio (the lowest share of its rate that the core might use, NaN for other kinds), cause (the part of
    `breakdown` that most of the longest gap is, "idle_host_ns" and so on; "" for other kinds), slice (the work that
    ends the longest gap; the longest packet, record or compile; -1: none).
    `attrs`: least_idle_ns and least_idle_ratio, idle_of ("step" or "window"), counts ({kind: how many in all}).
    """
    least_ns, idle_of = _least_idle(trace)
    found = [
        _idle_gaps(trace, least_ns, idle_of),
        _small_dmas(trace),
        _throttled(trace),
        _compiling(trace),
    ]
    frame = pd.concat(found, ignore_index=True)[list(COLUMNS)]
    counts = frame.groupby("kind")["count"].sum()
    frame.attrs = {
        "least_idle_ns": least_ns, "least_idle_ratio": LEAST_IDLE_RATIO, "idle_of": idle_of,
        "counts": {kind: int(counts.get(kind, 0)) for kind in WARNING_KINDS},
    }  # fmt: skip
    return frame


def _least_idle(trace: Trace) -> tuple[int, str]:
    """The length from which on a gap is told of, and what it is a share of."""
    found = steps(trace)
    if not len(found):
        return 1, "window"
    of = "window" if found.attrs["found_by"] == "window" else "step"
    return max(1, round(float(found["dur_ns"].median()) * LEAST_IDLE_RATIO)), of


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """What was wrong on one device, core or rank, in order of start: intervals, and the slice behind each.

    `number`: of the device or core, -1: not told. `join`: intervals that overlap or touch are one.
    """

    rank: int
    start_ns: Array
    end_ns: Array
    slice: Array
    number: int = -1
    join: bool = False
    bytes: Array | None = None
    limit_ratio: Array | None = None
    cause: Array | None = None


def _table(kind: str, parts: list[_Part], what: Callable[[Any], str]) -> pd.DataFrame:
    """The rows of one kind; `what` says a row in words."""
    most = max(1, MOST_BANDS // max(1, len(parts)))
    frames = [_of_part(part, bands(part.start_ns, part.end_ns, most=most, join=part.join)) for part in parts]
    frame = pd.concat(frames, ignore_index=True) if frames else _of_part(_NOTHING, bands(*_EMPTY, most=1, join=False))
    frame = frame.sort_values(["start_ns", "rank"], kind="stable", ignore_index=True)
    frame["kind"] = pd.Series([kind] * len(frame), dtype=object)
    frame["what"] = pd.Series([what(row) for row in frame.itertuples(index=False)], dtype=object)
    return frame


def _of_part(part: _Part, of: Bands) -> pd.DataFrame:
    dur_ns = part.end_ns - part.start_ns
    nbytes, limits = part.bytes, part.limit_ratio
    return pd.DataFrame(
        {
            "start_ns": of.start_ns,
            "end_ns": of.end_ns,
            "rank": np.full(len(of.first), part.rank, np.int64),
            "count": of.count,
            "worst_ns": dur_ns[of.worst],
            "bytes": -np.ones(len(of.first), np.int64) if nbytes is None else of.reduced(nbytes, np.add.reduceat),
            "limit_ratio": (
                np.full(len(of.first), np.nan) if limits is None else of.reduced(limits, np.minimum.reduceat)
            ),
            "cause": np.full(len(of.first), "", object) if part.cause is None else part.cause[of.worst],
            "slice": part.slice[of.worst].astype(np.int64),
            "number": np.full(len(of.first), part.number, np.int64),
        }
    )


def _idle_gaps(trace: Trace, least_ns: int, idle_of: str) -> pd.DataFrame:
    slices, parts = trace.slices, []
    hosts: Hosts | None = None
    for rank, device, rows in by_device(trace, np.flatnonzero(device_work(trace))):
        rows = rows[np.argsort(slices.ts_ns[rows], kind="stable")]
        begin, stop = union_of(trace, rows)
        some = np.flatnonzero(begin[1:] - stop[:-1] >= least_ns)
        if not len(some):
            continue
        gaps = (stop[some], begin[some + 1])
        hosts = hosts or Hosts(trace)
        lengths = idle_parts(trace, rows, gaps, launching_slice(trace), hosts.of(rank))
        none = np.zeros(len(some), np.int64)
        most = np.argmax(np.stack([lengths.get(name, none) for name in CAUSES], axis=1), axis=1)
        ends_it = rows[np.searchsorted(slices.ts_ns[rows], gaps[1])]
        parts.append(_Part(rank, *gaps, ends_it, device, cause=np.array(CAUSES, object)[most]))
    whole_ns = least_ns / LEAST_IDLE_RATIO

    def what(row: Any) -> str:
        device = f"device {row.number}" if row.number >= 0 else "the device"
        longest = f"{text.duration(row.worst_ns)}, {text.ratio(row.worst_ns / whole_ns)} of a {idle_of}"
        if row.count == 1:
            return f"{device} idle for {longest}"
        return f"{device} idle {text.count(row.count)} times, the longest for {longest}"

    return _table("idle gap", parts, what)


def _small_dmas(trace: Trace) -> pd.DataFrame:
    slices, parts = trace.slices, []
    for rank, rows in _by_rank(trace, small_packets(trace)):
        rows = rows[np.argsort(slices.ts_ns[rows], kind="stable")]
        start = slices.ts_ns[rows]
        end = start + np.maximum(slices.dur_ns[rows], 1)
        parts.append(_Part(rank, start, end, rows, join=True, bytes=slices.bytes[rows]))

    def what(row: Any) -> str:
        packets = text.counted(row.count, "DMA packet")
        return f"{packets} below {text.size(SMALL_DMA_BYTES)}, {text.size(row.bytes / row.count)} on average"

    return _table("small DMA", parts, what)


def _throttled(trace: Trace) -> pd.DataFrame:
    parts = []
    for run in runs_of(trace):
        found = throttle_limits(trace, run)
        found = found[found["limit_ratio"] < 1]
        for core in np.unique(found["core"].to_numpy(np.int64)).tolist():
            mine = found[found["core"] == core]
            start = run.start_ns + mine["start_ns"].to_numpy(np.int64)
            end = start + np.maximum(mine["dur_ns"].to_numpy(np.int64), 1)
            rows, limits = mine["slice"].to_numpy(np.int64), mine["limit_ratio"].to_numpy(np.float64)
            parts.append(_Part(run.rank, start, end, rows, core, limit_ratio=limits))

    def what(row: Any) -> str:
        return (
            f"core {row.number} may use {text.ratio(row.limit_ratio)} of its rate for "
            f"{text.duration(row.end_ns - row.start_ns)}"
        )

    return _table("throttling", parts, what)


def _compiling(trace: Trace) -> pd.DataFrame:
    slices, table = trace.slices, trace.compiles
    told = table.slice.astype(np.int64)
    named = dict(zip(told.tolist(), table.text("what"), strict=True))
    rows = np.union1d(told[told >= 0], np.flatnonzero(slices.category == _COMPILE))
    rows = rows[(slices.dur_ns[rows] > 0) & ~trace.tracks.simulated[slices.track[rows]]]
    parts = []
    for rank, mine in _by_rank(trace, rows):
        mine = mine[np.argsort(slices.ts_ns[mine], kind="stable")]
        start = slices.ts_ns[mine]
        parts.append(_Part(rank, start, start + slices.dur_ns[mine], mine, join=True))

    def what(row: Any) -> str:
        name = named.get(row.slice) or trace.pool.strings[int(slices.name[row.slice])]
        more = f", and {text.count(row.count - 1)} more" if row.count > 1 else ""
        return f"compiling for {text.duration(row.end_ns - row.start_ns)}: {name[:_LONGEST_NAME]}{more}"

    return _table("compile stall", parts, what)


def _by_rank(trace: Trace, rows: Array) -> Iterator[tuple[int, Array]]:
    """The rows of each rank that has any."""
    rank = trace.tracks.rank[trace.slices.track[rows]]
    for one in np.unique(rank).tolist():
        yield one, rows[rank == one]


_EMPTY = (np.zeros(0, np.int64), np.zeros(0, np.int64))
_NOTHING = _Part(-1, *_EMPTY, np.zeros(0, np.int64))
