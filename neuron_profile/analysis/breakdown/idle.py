"""Why a device does nothing: the gaps between its work, and whose they are."""

from __future__ import annotations

import numpy as np

from neuron_profile.analysis.breakdown.host import HostTimes
from neuron_profile.analysis.intervals import merged, within
from neuron_profile.analysis.work import Intervals, joined
from trace_format import Trace

Array = np.ndarray


def idle_parts(trace: Trace, rows: Array, windows: Intervals, launched_by: Array, host: HostTimes) -> dict[str, Array]:
    """The idle time of a device in each window by its cause, `{part: (windows,) int64}`.

    `rows`: its work in order of time; `launched_by`: see `launching_slice`.
    """
    start = trace.slices.ts_ns[rows]
    busy = merged(start, start + trace.slices.dur_ns[rows])
    gaps, next_row = gaps_in(busy, rows[np.searchsorted(start, busy[0])], windows)
    launch = np.where(next_row >= 0, launched_by[np.maximum(next_row, 0)], -1)
    launched_ns = trace.slices.ts_ns[np.maximum(launch, 0)]
    known = launch >= 0
    # of each gap: up to the launch it is the host's, then the launch's, and nobody's where there is none
    of_host = (gaps[0], np.where(known, np.clip(launched_ns, *gaps), gaps[0]))
    drained = known & (within(gaps[0], gaps[0] + 1, *host.waiting) > 0)
    cause = _Idle(windows)
    cause.add("idle_sync_ns", (of_host[0][drained], of_host[1][drained]))
    rest = (of_host[0][~drained], of_host[1][~drained])
    compiling = within(*rest, *host.compiling)
    either = within(*rest, *joined(host.compiling, host.loading))
    cause.add_lengths("idle_compile_ns", rest, compiling)
    cause.add_lengths("idle_data_loading_ns", rest, either - compiling)
    cause.add_lengths("idle_host_ns", rest, rest[1] - rest[0] - either)
    cause.add("idle_launch_ns", (of_host[1][known], gaps[1][known]))
    cause.add("idle_other_ns", (gaps[0][~known], gaps[1][~known]))
    return cause.parts


class _Idle:
    """Sums of parts of gaps by cause, for each window; a gap lies in one window."""

    def __init__(self, windows: Intervals) -> None:
        self._windows = windows
        self.parts: dict[str, Array] = {}

    def add(self, cause: str, intervals: Intervals) -> None:
        self.add_lengths(cause, intervals, intervals[1] - intervals[0])

    def add_lengths(self, cause: str, intervals: Intervals, lengths: Array) -> None:
        window = np.searchsorted(self._windows[0], intervals[0], "right") - 1
        out = np.zeros(len(self._windows[0]), np.int64)
        np.add.at(out, window, lengths)
        self.parts[cause] = out


def gaps_in(busy: Intervals, first_row: Array, windows: Intervals) -> tuple[Intervals, Array]:
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
    # a gap that its window ends is that of the next work too
    at = np.searchsorted(busy[0], ends, "left")
    return (starts, ends), np.where(at < len(first_row), first_row[np.minimum(at, len(first_row) - 1)], -1)
