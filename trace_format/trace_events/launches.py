"""What the ids in a trace say about its device work: launches without work, work before its launch, overlaps."""

from __future__ import annotations

import numpy as np

from trace_format.tables import CATEGORIES
from trace_format.trace import Trace

_RUNTIME = CATEGORIES.index("runtime")
_LAUNCH = "launch"  # in the name of every call that starts a kernel: cudaLaunchKernel, hipExtModuleLaunchKernel, ...
# Kineto's names for the work of a stream, which does one thing after the other
_SERIAL_WORK = ("kernel", "gpu_memcpy", "gpu_memset")


def launch_coverage(trace: Trace) -> dict[str, int]:
    """How launches and device work answer each other; empty for a trace without device work.

    - `launches`, and `launches_without_work`: kernel launches whose work was not recorded;
    - `device_work`, and `device_work_without_launch`: work whose call was not recorded, or that names none;
    - `device_work_before_launch`: work that starts before its call does, and `device_clock_behind_ns`: how much the
      device's clock is behind the host's at least, because of those (0: nothing says that it is);
    - `device_work_ns`: the durations of the work in sum, and `device_work_clipped_ns`: their sum where each is cut off
      when the next of its stream begins.
    """
    slices, strings = trace.slices, trace.pool.strings
    work = np.isin(slices.source_category, [strings.find(name) for name in _SERIAL_WORK])
    if not work.any():
        return {}
    calls = np.flatnonzero((slices.category == _RUNTIME) & (slices.correlation >= 0))
    names, place = np.unique(slices.name[calls], return_inverse=True)
    launch = calls[np.array([_LAUNCH in strings[name].lower() for name in names.tolist()], bool)[place]]
    kernels = slices.correlation[work]
    called, first = np.unique(slices.correlation[calls], return_index=True)
    start = slices.ts_ns[calls[first]]
    at = np.minimum(np.searchsorted(called, kernels), max(len(called) - 1, 0))
    answered = called[at] == kernels if len(called) else np.zeros(len(kernels), bool)
    before_ns = start[at[answered]] - slices.ts_ns[work][answered]
    raw_ns, clipped_ns = _serial_work_ns(slices.track[work], slices.ts_ns[work], slices.dur_ns[work])
    return {
        "launches": len(launch),
        "launches_without_work": int((~np.isin(slices.correlation[launch], kernels)).sum()),
        "device_work": int(work.sum()),
        "device_work_without_launch": int((~answered).sum()),
        "device_work_before_launch": int((before_ns > 0).sum()),
        "device_clock_behind_ns": max(int(before_ns.max(initial=0)), 0),
        "device_work_ns": raw_ns,
        "device_work_clipped_ns": clipped_ns,
    }


def _serial_work_ns(track: np.ndarray, ts_ns: np.ndarray, dur_ns: np.ndarray) -> tuple[int, int]:
    """The sum of the durations, rows in order of track and time, and their sum cut off where the next one begins."""
    duration = np.maximum(dur_ns, 0)
    room = np.r_[
        np.where(track[1:] == track[:-1], ts_ns[1:] - ts_ns[:-1], np.iinfo(np.int64).max), np.iinfo(np.int64).max
    ]
    return int(duration.sum()), int(np.minimum(duration, room).sum())


def note_serial_overlaps(trace: Trace) -> None:
    """Count in the report the device work that runs past the start of the next on its stream; both are kept."""
    slices, strings = trace.slices, trace.pool.strings
    rows = np.flatnonzero(np.isin(slices.source_category, [strings.find(name) for name in _SERIAL_WORK]))
    track, ts, dur = slices.track[rows], slices.ts_ns[rows], slices.dur_ns[rows]
    past = (track[1:] == track[:-1]) & (ts[1:] - ts[:-1] < dur[:-1])
    if past.any():
        trace.report.repaired["runs past the start of the next on its stream: both kept as they are"] += int(past.sum())
