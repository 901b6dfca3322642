"""When the host of a rank did what leaves a device idle."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.sides import HOST, side_of_tracks
from neuron_profile.analysis.work import ASKS_OR_WAITS, Intervals, union_of
from trace_format import CATEGORIES, Trace

Array = np.ndarray

# torch.utils.data's own annotation: "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
_DATA_LOADING = re.compile(r"enumerate\(DataLoader\)")
# Calls in which the host waits until the device is done: cudaDeviceSynchronize, hipStreamSynchronize, aten::item.
_WAITS_FOR_DEVICE = re.compile(r".*Synchronize|aten::(?:item|_local_scalar_dense)|.*::synchronize")
_COMPILED_NOW = re.compile(r"TorchDynamo Cache Miss|.*\bcompile_fx\b.*")
_COMPILING, _LOADING, _WAITING, _COLLECTIVES = 1, 2, 4, 8
_HOST_OP = CATEGORIES.index("host_op")


@dataclass(frozen=True, slots=True)
class HostTimes:
    """Unions over all threads of a rank.

    - `compiling_itself`: in a thread that runs operators; `waiting`: for the device; `collectives`: in an operator that
      asks for one or waits for one.
    """

    compiling: Intervals
    compiling_itself: Intervals
    loading: Intervals
    waiting: Intervals
    collectives: Intervals


class Hosts:
    """The times of each rank's host."""

    def __init__(self, trace: Trace) -> None:
        slices, tracks = trace.slices, trace.tracks
        of_name = np.array([_kinds(text) for text in trace.pool.strings.values], np.uint8)
        of_category = np.zeros(len(CATEGORIES), np.uint8)
        of_category[CATEGORIES.index("compile")] = _COMPILING
        of_category[CATEGORIES.index("sync")] = _WAITING
        on_host = side_of_tracks(tracks) == HOST
        kinds = of_name[slices.name] | of_category[slices.category]
        rows = np.flatnonzero(kinds * on_host[slices.track])
        self._rows = rows[slices.dur_ns[rows] > 0]
        self._kinds = kinds[self._rows]
        self._rank = tracks.rank[slices.track[self._rows]]
        self._trace, self._on_host = trace, on_host

    def of(self, rank: int) -> HostTimes:
        """The times of a rank; -1 is every rank."""
        compiling = self._of(rank, _COMPILING)
        track = self._trace.slices.track[compiling]
        return HostTimes(
            compiling=union_of(self._trace, compiling),
            compiling_itself=union_of(self._trace, compiling[self._in_threads_of_operators(compiling)[track]]),
            loading=union_of(self._trace, self._of(rank, _LOADING)),
            waiting=union_of(self._trace, self._of(rank, _WAITING)),
            collectives=union_of(self._trace, self._of(rank, _COLLECTIVES)),
        )

    def _of(self, rank: int, kind: int) -> Array:
        return self._rows[(self._kinds & kind > 0) & ((self._rank == rank) | (rank < 0))]

    def _in_threads_of_operators(self, rows: Array) -> Array:
        """Whether each track is of a thread, by its tid, that runs operators. `rows`: nothing is looked at for none."""
        tracks, slices = self._trace.tracks, self._trace.slices
        if not len(rows):
            return np.zeros(len(tracks), bool)
        ops = np.flatnonzero((slices.category == _HOST_OP) & self._on_host[slices.track])
        tids = np.unique(tracks.tid[slices.track[ops]])
        return np.isin(tracks.tid, tids[tids >= 0])


def _kinds(name: str) -> int:
    return (
        _COMPILING * bool(_COMPILED_NOW.match(name))
        | _LOADING * bool(_DATA_LOADING.match(name))
        | _WAITING * bool(_WAITS_FOR_DEVICE.match(name))
        | _COLLECTIVES * bool(ASKS_OR_WAITS.match(name))
    )
