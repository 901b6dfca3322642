"""Where the time of each step went: compute, exposed collectives and copies, and idling by its cause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.intervals import merged, within
from neuron_profile.analysis.launches import launching_slice
from neuron_profile.analysis.sides import DEVICE, HOST, side_of_slices
from neuron_profile.analysis.steps import steps
from trace_format import CATEGORIES, Trace

Array = np.ndarray
_Set = tuple[Array, Array]  # starts and ends, disjoint and in order

PARTS = (
    "compute_ns", "exposed_collective_ns", "exposed_copy_ns", "data_loading_ns", "idle_compile_ns",
    "idle_data_loading_ns", "idle_sync_ns", "idle_host_ns", "idle_launch_ns", "idle_other_ns",
)  # fmt: skip
_COLLECTIVE, _SYNC, _COMPILE, _HOST_OP = (CATEGORIES.index(c) for c in ("collective", "sync", "compile", "host_op"))
_COPIES = [CATEGORIES.index(c) for c in ("memcpy", "memset", "dma")]
_NOT_WORK = [CATEGORIES.index(c) for c in ("annotation", "sync", "semaphore")]
# torch.utils.data's own annotation: "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
_DATA_LOADING = re.compile(r"enumerate\(DataLoader\)")
# Calls in which the host waits until the device is done: cudaDeviceSynchronize, hipStreamSynchronize, aten::item.
_WAITS_FOR_DEVICE = re.compile(r".*Synchronize|aten::(?:item|_local_scalar_dense)|.*::synchronize")
_COMPILED_NOW = re.compile(r"TorchDynamo Cache Miss|.*\bcompile_fx\b.*")
_EMPTY: _Set = (np.zeros(0, np.int64), np.zeros(0, np.int64))


def breakdown(trace: Trace) -> pd.DataFrame:
    """A row for each step of each device, in order of rank, device and start, whose parts sum to the step exactly.

    A step's window is that of `steps`; in each window of a device, by what happens first in this list:

    - compute_ns: the device computes;
    - exposed_collective_ns: it is in a collective, waiting for other ranks included, and computes nothing;
    - exposed_copy_ns: it copies and does neither;
    - the rest it idles. A gap ends with work that the host had launched. Up to its launch the cause is the host:
      idle_sync_ns (the host was waiting for the device to drain when the gap began), else while it compiled
      (idle_compile_ns) or loaded data (idle_data_loading_ns), else idle_host_ns: the queue was empty. From the launch
      on: idle_launch_ns. Where the launch is not known, and after the last work: idle_other_ns.

    A rank without measured device work has one row for each step, device -1: its operators are the compute, in a
    data loader they are data_loading_ns, in a compile of their own thread idle_compile_ns; collectives are those of the
    collectives table; idle_host_ns is the time without an operator. Simulated tracks are not looked at.

    Columns: rank, device, step, name, start_ns, end_ns, total_ns, then `PARTS`; all int64 but name.
    `attrs`: found_by (as in `steps`).
    """
    found = steps(trace)
    side = side_of_slices(trace)
    host = _Host(trace, side)
    launched_by = launching_slice(trace)
    parts = []
    work = np.flatnonzero((side == DEVICE) & (trace.slices.dur_ns > 0) & ~np.isin(trace.slices.category, _NOT_WORK))
    track = trace.slices.track[work]
    rank_of, device_of = trace.tracks.rank[track].astype(np.int64), trace.tracks.device[track].astype(np.int64)
    for rank in sorted(set(found["rank"].tolist())):
        mine = found[found["rank"] == rank]
        windows = _disjoint(mine["start_ns"].to_numpy(), mine["end_ns"].to_numpy())
        of_rank = (rank_of == rank) | (rank < 0)
        devices = np.unique(device_of[of_rank]).tolist()
        for device in devices:
            rows = work[of_rank & (device_of == device)]
            parts.append(_frame(mine, windows, device, _device_parts(trace, rows, windows, launched_by, host.of(rank))))
        if not devices:
            parts.append(_frame(mine, windows, -1, _host_parts(windows, host.of(rank))))
    frame = pd.concat(parts, ignore_index=True) if parts else _frame(found, _EMPTY, -1, {})
    frame.attrs["found_by"] = found.attrs["found_by"]
    return frame


def busiest(frame: pd.DataFrame) -> dict[str, int]:
    """The sums over all steps of the device that idles least, as {total_ns, parts...}; {} for no rows."""
    sums = by_device(frame)
    if not sums:
        return {}
    best = min(sums, key=_idle_ratio)
    return {name: value for name, value in best.items() if name not in ("rank", "device")}


def _idle_ratio(sums: dict[str, int]) -> float:
    return sum(value for name, value in sums.items() if name.startswith("idle_")) / (sums["total_ns"] or 1)


def by_device(frame: pd.DataFrame) -> list[dict[str, int]]:
    """The sums over all steps of each device, as {rank, device, total_ns, parts...}, in order of rank and device."""
    if not len(frame):
        return []
    sums = frame.groupby(["rank", "device"], sort=True)[["total_ns", *PARTS]].sum().reset_index()
    return [{str(k): int(v) for k, v in row.items()} for row in sums.to_dict("records")]


@dataclass(frozen=True, slots=True)
class _HostSets:
    """When the host of a rank did what: unions of its slices over all threads."""

    operators: _Set
    collectives: _Set
    compiling: _Set
    compiling_itself: _Set  # in a thread that runs operators
    loading: _Set
    waiting: _Set  # for the device


class _Host:
    """The sets of each rank; -1 is every rank."""

    def __init__(self, trace: Trace, side: Array) -> None:
        self._trace = trace
        slices = trace.slices
        self._rank = trace.tracks.rank[slices.track].astype(np.int64)
        on_host = (side == HOST) & (slices.dur_ns > 0)
        compiling = on_host & ((slices.category == _COMPILE) | self._named(_COMPILED_NOW))
        self._kinds = {
            "operators": on_host & (slices.category == _HOST_OP),
            "collectives": np.isin(np.arange(len(slices)), trace.collectives.slice) & (side != DEVICE),
            "compiling": compiling,
            "compiling_itself": compiling & self._in_thread_of(on_host & (slices.category == _HOST_OP)),
            "loading": on_host & self._named(_DATA_LOADING),
            "waiting": on_host & ((slices.category == _SYNC) | self._named(_WAITS_FOR_DEVICE)),
        }

    def of(self, rank: int) -> _HostSets:
        return _HostSets(**{
            name: _union(self._trace, np.flatnonzero(which & ((self._rank == rank) | (rank < 0))))
            for name, which in self._kinds.items()
        })  # fmt: skip

    def _in_thread_of(self, chosen: Array) -> Array:
        """Whether each slice is on a track of a thread, by its tid, that has one of the chosen slices."""
        tracks, on = self._trace.tracks, self._trace.slices.track
        tids = np.unique(tracks.tid[on[chosen]])
        return np.isin(tracks.tid, tids[tids >= 0])[on]

    def _named(self, pattern: re.Pattern[str]) -> Array:
        names = np.array([bool(pattern.match(text)) for text in self._trace.pool.strings.values], bool)
        return names[self._trace.slices.name]


def _device_parts(trace: Trace, rows: Array, windows: _Set, launched_by: Array, host: _HostSets) -> dict[str, Array]:
    slices = trace.slices
    category = slices.category[rows]
    copying, communicating = np.isin(category, _COPIES), category == _COLLECTIVE
    compute = _union(trace, rows[~copying & ~communicating])
    useful = _union(trace, rows[~copying])
    busy = _union(trace, rows)
    lengths = [within(*windows, *one) for one in (compute, useful, busy)]
    out = {
        "compute_ns": lengths[0],
        "exposed_collective_ns": lengths[1] - lengths[0],
        "exposed_copy_ns": lengths[2] - lengths[1],
    }
    gaps, next_row = _gaps(trace, rows, busy, windows)
    launch = np.where(next_row >= 0, launched_by[np.maximum(next_row, 0)], -1)
    launched_ns = slices.ts_ns[np.maximum(launch, 0)]
    known = launch >= 0
    # of each gap: up to the launch it is the host's, then the launch's, and nobody's where there is none
    of_host = (gaps[0], np.where(known, np.clip(launched_ns, *gaps), gaps[0]))
    drained = known & (within(gaps[0], gaps[0] + 1, *host.waiting) > 0)
    cause = _Idle(windows)
    cause.add("idle_sync_ns", (of_host[0][drained], of_host[1][drained]))
    rest = (of_host[0][~drained], of_host[1][~drained])
    compiling = within(*rest, *host.compiling)
    either = within(*rest, *_joined(host.compiling, host.loading))
    cause.add_lengths("idle_compile_ns", rest, compiling)
    cause.add_lengths("idle_data_loading_ns", rest, either - compiling)
    cause.add_lengths("idle_host_ns", rest, rest[1] - rest[0] - either)
    cause.add("idle_launch_ns", (of_host[1][known], gaps[1][known]))
    cause.add("idle_other_ns", (gaps[0][~known], gaps[1][~known]))
    return {**out, **cause.parts}


def _host_parts(windows: _Set, host: _HostSets) -> dict[str, Array]:
    """The parts of a rank whose operators are the work itself."""
    reached: _Set = _EMPTY
    out: dict[str, Array] = {}
    before = np.zeros(len(windows[0]), np.int64)
    for name, more in (
        ("data_loading_ns", host.loading), ("idle_compile_ns", host.compiling_itself),
        ("compute_ns", host.operators), ("exposed_collective_ns", host.collectives),
    ):  # fmt: skip
        reached = _joined(reached, more)
        length = within(*windows, *reached)
        out[name] = length - before
        before = length
    return {**out, "idle_host_ns": windows[1] - windows[0] - before}


class _Idle:
    """Sums of parts of gaps by cause, for each window; a gap lies in one window."""

    def __init__(self, windows: _Set) -> None:
        self._windows = windows
        self.parts: dict[str, Array] = {}

    def add(self, cause: str, intervals: _Set) -> None:
        self.add_lengths(cause, intervals, intervals[1] - intervals[0])

    def add_lengths(self, cause: str, intervals: _Set, lengths: Array) -> None:
        window = np.searchsorted(self._windows[0], intervals[0], "right") - 1
        out = np.zeros(len(self._windows[0]), np.int64)
        np.add.at(out, window, lengths)
        self.parts[cause] = out


def _gaps(trace: Trace, rows: Array, busy: _Set, windows: _Set) -> tuple[_Set, Array]:
    """The times in the windows in which a device does nothing, and the row of the work that ends each; -1 for none."""
    start, end = [], []
    for first, last in zip(windows[0].tolist(), windows[1].tolist(), strict=True):
        a, b = np.searchsorted(busy[1], first, "right"), np.searchsorted(busy[0], last, "left")
        borders = np.concatenate([[first], np.stack([busy[0][a:b], busy[1][a:b]], axis=1).reshape(-1), [last]])
        start.append(np.clip(borders[::2], first, last))
        end.append(np.clip(borders[1::2], first, last))
    starts = np.concatenate(start) if start else np.zeros(0, np.int64)
    ends = np.concatenate(end) if end else np.zeros(0, np.int64)
    some = ends > starts
    starts, ends = starts[some], ends[some]
    in_time = rows[np.argsort(trace.slices.ts_ns[rows], kind="stable")]
    at = np.searchsorted(trace.slices.ts_ns[in_time], ends, "left")
    ended_by_work = (at < len(in_time)) & (trace.slices.ts_ns[in_time[np.minimum(at, len(in_time) - 1)]] >= ends)
    return (starts, ends), np.where(ended_by_work, in_time[np.minimum(at, len(in_time) - 1)], -1)


def _union(trace: Trace, rows: Array) -> _Set:
    start = trace.slices.ts_ns[rows]
    return merged(start, start + np.maximum(trace.slices.dur_ns[rows], 0))


def _joined(a: _Set, b: _Set) -> _Set:
    return merged(np.r_[a[0], b[0]], np.r_[a[1], b[1]])


def _disjoint(start: Array, end: Array) -> _Set:
    """Windows in order, each cut off where the next begins: no moment is in two."""
    return start, np.maximum(np.minimum(end, np.r_[start[1:], np.iinfo(np.int64).max]), start)


def _frame(found: pd.DataFrame, windows: _Set, device: int, parts: dict[str, Array]) -> pd.DataFrame:
    none = np.zeros(len(windows[0]), np.int64)
    columns: dict[str, Any] = {
        "rank": found["rank"].to_numpy(np.int64), "device": np.full(len(found), device, np.int64),
        "step": found["step"].to_numpy(np.int64), "name": found["name"].to_numpy(object),
        "start_ns": windows[0], "end_ns": windows[1], "total_ns": windows[1] - windows[0],
        **{name: parts.get(name, none) for name in PARTS},
    }  # fmt: skip
    return pd.DataFrame(columns)
