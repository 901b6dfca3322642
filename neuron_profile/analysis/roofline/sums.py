"""What the work of each device adds up to in windows of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.roofline.devices import Devices
from neuron_profile.analysis.roofline.operators import SOURCES, UNKNOWN
from neuron_profile.analysis.roofline.recomputation import recomputation
from neuron_profile.analysis.roofline.windows import overlaps
from neuron_profile.analysis.roofline.work import DTYPES, Work
from neuron_profile.hardware import DevicePeaks
from trace_format import Trace

Array = np.ndarray

HOST_NUMBER = -1


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One device of one rank (its host: `HOST_NUMBER`): what it can do, and which of the work is its."""

    rank: int
    device: int
    peaks: DevicePeaks | None
    work: Array


@dataclass(frozen=True, slots=True, eq=False)
class WindowSums:
    """Sums in each window, `(windows,)`; FLOPs `(windows, types)` are those of products of matrices.

    - `time_ns`, and of it `known_flops_ns` and `known_bytes_ns` of work whose FLOPs and bytes are known.
    - `flops`, `model_flops`; `bytes`.
    - `sources`: where the FLOPs come from ("recorded, formula").
    """

    time_ns: Array
    known_flops_ns: Array
    known_bytes_ns: Array
    flops: Array
    model_flops: Array
    bytes: Array
    sources: list[str]


class Sums:
    """The work of a trace, ready to be added up; see `utilisation` for what counts."""

    def __init__(self, trace: Trace, work: Work, devices: Devices) -> None:
        self._work = work
        self._start_ns = trace.slices.ts_ns[work.slice]
        self._known_flops, self._known_bytes = ~np.isnan(work.flops), ~np.isnan(work.bytes)
        self._bytes = np.where(self._known_bytes, work.bytes, 0.0)
        found = recomputation(trace)
        self._untold = found.untold
        operators, owned = work.operators, np.flatnonzero(work.owner >= 0)
        owner = work.owner[owned]
        counts = self._known_flops.copy()
        of_call = np.array([cost is None or cost.is_product for cost in operators.costs], bool)
        counts[owned] &= of_call[operators.calls.of_row[owner]]
        self._flops = np.where(counts, work.flops, 0.0)
        self._repeated = np.zeros(len(work.slice))
        self._repeated[owned] = np.where(counts[owned], work.recomputed_flops[owned], 0.0)
        again = owned[found.repeats[operators.rows[owner]]]
        self._repeated[again] = self._flops[again]
        self.places = _places(trace, work, devices)

    def untold(self, rank: int) -> str:
        """Why it cannot be told what a rank computes again; "" where it can."""
        return self._untold.get(rank, "")

    def of(self, place: Place, begin: Array, stop: Array) -> WindowSums:
        """The sums of a device in the windows [begin, stop), which are disjoint and in order."""
        work, mine, windows = self._work, place.work, len(begin)
        start = self._start_ns[mine]
        part = overlaps(begin, stop, start, start + work.time_ns[mine])
        rows, at = mine[part.rows], part.window

        def per_window(numbers: Array) -> Array:
            return np.bincount(at, numbers, windows)

        def by_type(numbers: Array) -> Array:
            some = np.flatnonzero(numbers)
            place = at[some] * len(DTYPES) + work.dtype[rows[some]]
            return np.bincount(place, numbers[some], windows * len(DTYPES)).reshape(windows, len(DTYPES))

        time_ns, counted = part.part(work.time_ns[mine]), part.part(self._flops[mine])
        flops, repeated = by_type(counted), by_type(part.part(self._repeated[mine]))
        some = np.flatnonzero(counted)
        sources = np.bincount(at[some] * len(SOURCES) + work.flops_source[rows[some]], minlength=windows * len(SOURCES))
        return WindowSums(
            time_ns=per_window(time_ns), known_flops_ns=per_window(time_ns * self._known_flops[rows]),
            known_bytes_ns=per_window(time_ns * self._known_bytes[rows]), flops=flops,
            model_flops=np.maximum(flops - repeated, 0.0), bytes=per_window(part.part(self._bytes[mine])),
            sources=[
                ", ".join(name for code, name in enumerate(SOURCES) if code != UNKNOWN and used[code])
                for used in sources.reshape(windows, len(SOURCES))
            ],
        )  # fmt: skip


def _places(trace: Trace, work: Work, devices: Devices) -> list[Place]:
    """The devices that worked, in order of rank and device; each is of one kind."""
    tracks, track = trace.tracks, trace.slices.track[work.slice]
    on_host = work.device == devices.host
    used = np.flatnonzero(np.bincount(track, minlength=len(tracks)))
    host_tracks = np.zeros(len(tracks), bool)
    host_tracks[track[on_host]] = True
    found: dict[tuple[int, int], int] = {}
    place_of_track = np.full(len(tracks), -1, np.int64)
    for row in used.tolist():
        device = HOST_NUMBER if host_tracks[row] else int(tracks.device[row])
        place_of_track[row] = found.setdefault((int(tracks.rank[row]), device), len(found))
    of_slice = place_of_track[track]
    places = []
    for (rank, device), number in sorted(found.items()):
        mine = np.flatnonzero(of_slice == number)
        kind = int(work.device[mine[0]])
        places.append(Place(rank, device, devices.peaks[kind], mine))
    return places
