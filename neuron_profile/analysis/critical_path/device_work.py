"""What the devices did in a window, and what each piece of work had to follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.critical_path.window import Window, tracks_of
from neuron_profile.analysis.launches.launching import launching_slice
from neuron_profile.analysis.sides import DEVICE, HOST, side_of_slices
from trace_format import CATEGORIES, Trace

Array = np.ndarray

# What `breakdown` does not count as work either.
_NOT_WORK = [CATEGORIES.index(c) for c in ("annotation", "sync", "semaphore")]


@dataclass(frozen=True, slots=True)
class DeviceWork:
    """Work of the window's rank in it, in order of (track, start); columns `(n,) int64`.

    - `row`, `track`, `start_ns`, `end_ns`: cut to the window.
    - `launch`: the row of the host slice that launched it, -1 where that is not known.
    - `launch_ns`: when that began; the time of the work itself where it is not known.
    - `goes_on`: whether the devices are at work when the window ends: in the middle of some, or between two of which
      the second had been launched when the first ended.
    """

    row: Array
    track: Array
    start_ns: Array
    end_ns: Array
    launch: Array
    launch_ns: Array
    goes_on: bool

    def __len__(self) -> int:
        return len(self.row)


def device_work(trace: Trace, window: Window) -> DeviceWork:
    """The measured device work that lies in the window at least in part and has a duration."""
    slices, side = trace.slices, side_of_slices(trace)
    row = np.flatnonzero((side == DEVICE) & (slices.dur_ns > 0) & ~np.isin(slices.category, _NOT_WORK))
    row = row[tracks_of(trace, window.rank)[slices.track[row]]] if len(row) else row
    later = row[slices.ts_ns[row] >= window.end_ns]
    row = row[(slices.ts_ns[row] < window.end_ns) & (slices.ts_ns[row] + slices.dur_ns[row] > window.start_ns)]
    start = np.maximum(slices.ts_ns[row], window.start_ns)
    order = np.lexsort((start, slices.track[row]))
    row, start = row[order], start[order]
    end = np.minimum(slices.ts_ns[row] + slices.dur_ns[row], window.end_ns)
    launch, launch_ns = _launches(trace, row, side)
    # a launch after the work it launched: the clocks disagree, or the ids are wrong
    launch = np.where(launch_ns <= slices.ts_ns[row], launch, -1)
    track = slices.track[row].astype(np.int64)
    goes_on = bool((end == window.end_ns).any()) or _queued(trace, later, side, track, end)
    return DeviceWork(row, track, start, end, launch, launch_ns, goes_on)


def _queued(trace: Trace, later: Array, side: Array, track: Array, end_ns: Array) -> bool:
    """Whether a track's first work after the window had been launched when the last of the window ended."""
    slices = trace.slices
    first = np.full(len(trace.tracks), -1, np.int64)
    first[slices.track[later[::-1]]] = later[::-1]
    last_end_ns = np.full(len(first), np.iinfo(np.int64).min)
    np.maximum.at(last_end_ns, track, end_ns)
    there = np.flatnonzero((first >= 0) & (last_end_ns > np.iinfo(np.int64).min))
    launch, launch_ns = _launches(trace, first[there], side)
    return bool(((launch >= 0) & (launch_ns <= last_end_ns[there])).any())


def _launches(trace: Trace, row: Array, side: Array) -> tuple[Array, Array]:
    """The launch of each work and its start: by the ids, as in `launching_slice`, else by an arrow from the host."""
    slices, flows = trace.slices, trace.flows
    if len(row) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    launch = launching_slice(trace)[row]
    arrows = np.flatnonzero((flows.from_slice >= 0) & (flows.to_slice >= 0))
    arrows = arrows[(side[flows.from_slice[arrows]] == HOST) & (side[flows.to_slice[arrows]] == DEVICE)]
    if len(arrows):
        by_arrow = np.full(len(slices), -1, np.int64)
        by_arrow[flows.to_slice[arrows[::-1]]] = flows.from_slice[arrows[::-1]]
        launch = np.where(launch >= 0, launch, by_arrow[row])
    return launch, np.where(launch >= 0, slices.ts_ns[np.maximum(launch, 0)], slices.ts_ns[row])


def before_on_its_track(work: DeviceWork) -> Array:
    """For each work the one on its track that was the last to end before it began; -1 for none, `(n,) int64`."""
    return _last_to_end(work, work.track)


def before_on_its_device(trace: Trace, work: DeviceWork) -> Array:
    """For each work the one on its device, or its core, that was the last to end before it began; -1 for none."""
    tracks = trace.tracks
    place = np.stack([tracks.rank, tracks.device, tracks.core], axis=1)
    of_core = np.unique(place, axis=0, return_inverse=True)[1].reshape(-1)[work.track] if len(place) else work.track
    return _last_to_end(work, of_core)


def last_ended_by(work: DeviceWork, group: Array, of: Array, by_ns: Array) -> Array:
    """For each group `of` the work of it that was the last to end at or before a moment; -1 for none.

    `group` is the group of each work.
    """
    order, keys, moments = _by_end(work, group)
    found = np.full(len(of), -1, np.int64)
    if len(order) == 0:
        return found
    at = np.searchsorted(keys, of * (len(moments) + 1) + np.searchsorted(moments, by_ns, "right"), "left") - 1
    known = (at >= 0) & (group[order[at]] == of)
    found[known] = order[at[known]]
    return found


def _last_to_end(work: DeviceWork, group: Array) -> Array:
    return last_ended_by(work, group, group, work.start_ns)


def _by_end(work: DeviceWork, group: Array) -> tuple[Array, Array, Array]:
    """The order by (group, end), the keys in that order, and the distinct ends that number them."""
    moments, number = np.unique(work.end_ns, return_inverse=True)
    keys = group * (len(moments) + 1) + number
    order = np.argsort(keys, kind="stable")
    return order, keys[order], moments
