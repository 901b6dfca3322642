"""What a trace says about waits for streams and events: the records that CUPTI makes of them ("cuda_sync")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neuron_profile.analysis.critical_path.device_work import DeviceWork
from neuron_profile.analysis.critical_path.window import Window, tracks_of
from trace_format import CATEGORIES, Trace

Array = np.ndarray
Stream = tuple[int, int]  # device, number of the stream

_SYNC, _RUNTIME = (CATEGORIES.index(c) for c in ("sync", "runtime"))
# Records say in words what was waited for; they are read one by one, and no more of them than this.
_MOST_RECORDS = 100_000
_EVENT = "wait_on_cuda_event_record_corr_id"  # Kineto's name for the correlation of the call that recorded the event


class SyncRecords:
    """The records that lie in a window.

    - `of_call`: by the correlation of a call of the host, what it waited for.
    - `between_streams`: each stream's wait for an event of another.
    """

    def __init__(self, trace: Trace, window: Window) -> None:
        slices = trace.slices
        mine = tracks_of(trace, window.rank)[slices.track] if len(slices) else np.zeros(0, bool)
        rows = np.flatnonzero(mine & (slices.category == _SYNC) & (slices.ts_ns < window.end_ns))
        rows = rows[slices.correlation[rows] > 0]
        rows = rows[slices.ts_ns[rows] + np.maximum(slices.dur_ns[rows], 0) >= window.start_ns][:_MOST_RECORDS]
        self.of_call: dict[int, Mapping[str, Any]] = {}
        self.between_streams: list[Mapping[str, Any]] = []
        wanted = []
        for row, args in zip(rows.tolist(), slices.args[rows].tolist(), strict=True):
            correlation = int(slices.correlation[row])
            device = int(trace.tracks.device[slices.track[row]])
            told = {**trace.pool.args(args), "correlation": correlation, "device": device}
            wanted += [correlation, whole_number(told, _EVENT)]
            if told.get("cuda_sync_kind") == "Stream Wait Event":
                self.between_streams.append(told)
            else:
                self.of_call[correlation] = told
        self._time_of: dict[int, int] = {}
        if wanted:
            calls = np.flatnonzero(mine & (slices.category == _RUNTIME) & np.isin(slices.correlation, wanted))
            self._time_of = dict(zip(slices.correlation[calls].tolist(), slices.ts_ns[calls].tolist(), strict=True))

    def event_ns(self, told: Mapping[str, Any]) -> int | None:
        """When the host asked for the event to be recorded that was waited for; None where that is not known."""
        return self._time_of.get(whole_number(told, _EVENT))

    def call_ns(self, told: Mapping[str, Any]) -> int | None:
        """When the host made the call that the record is of; None where that is not known."""
        return self._time_of.get(told["correlation"])


class LaunchOrder:
    """The works of each stream in the order in which the host launched them."""

    def __init__(self, trace: Trace, work: DeviceWork) -> None:
        self._launch_ns = work.launch_ns
        order = np.lexsort((work.launch_ns, work.track))
        tracks, first = np.unique(work.track[order], return_index=True)
        self.tracks: dict[Stream, int] = {}
        self._works: dict[Stream, Array] = {}
        for track, works in zip(tracks.tolist(), np.split(order, first[1:]), strict=False):
            stream = (int(trace.tracks.device[track]), int(trace.tracks.tid[track]))
            self.tracks[stream], self._works[stream] = track, works

    def last_before(self, stream: Stream, ts_ns: int | None) -> int:
        """The last work (a position in `DeviceWork`) launched on the stream before a moment; -1 for none."""
        return self._at(stream, ts_ns, "left", -1)

    def first_after(self, stream: Stream, ts_ns: int | None) -> int:
        """The first work launched on the stream after a moment; -1 for none."""
        return self._at(stream, ts_ns, "right", 0)

    def _at(self, stream: Stream, ts_ns: int | None, side: Any, offset: int) -> int:
        works = self._works.get(stream)
        if works is None or ts_ns is None:
            return -1
        at = int(np.searchsorted(self._launch_ns[works], ts_ns, side)) + offset
        return int(works[at]) if 0 <= at < len(works) else -1


def whole_number(told: Mapping[str, Any], name: str) -> int:
    """The whole number a record has under this name; -1 for none, and for one that no column can hold."""
    value = told.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63 else -1
