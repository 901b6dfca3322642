"""The host slice that each slice belongs to, be it work of the host or of the device."""

from __future__ import annotations

import re

import numpy as np

from neuron_profile.analysis.derived import kept_with_the_trace
from neuron_profile.analysis.launches.enclosing import slices_of_track_at
from neuron_profile.analysis.launches.launching import launching_slice
from neuron_profile.analysis.sides import DEVICE, HOST, side_of_slices, side_of_tracks
from trace_format import CATEGORIES, Trace

Array = np.ndarray

_RUNTIME, _HOST_OP = CATEGORIES.index("runtime"), CATEGORIES.index("host_op")
# Of moments and slices looked at on all threads together: what a machine does in a second or two.
_MOST_LOOKED_AT = 1 << 26
# A call that waits for work runs while the work does and is not what launched it: cudaDeviceSynchronize.
_WAITS = re.compile(r".*Synchronize")


@kept_with_the_trace
def host_slice(trace: Trace) -> Array:
    """For each slice the host slice whose time it is, shape `(n,) int64`: itself on the host; -1 where unknown.

    That of device work is what launched it: by correlation, else by external id (`launching_slice`). Work of a source
    that gives it no ids at all belongs, by time, to the runtime call or host operator of its rank that was under way
    when it began: of several the one that began last, and none that only waits for the device. Work whose ids match
    nothing, as where the launch came before the trace, stays unknown.
    """
    slices, side = trace.slices, side_of_slices(trace)
    found, elsewhere = np.arange(len(slices)), np.flatnonzero(side != HOST)
    found[elsewhere] = launching_slice(trace)[elsewhere]
    without_ids = np.flatnonzero((side == DEVICE) & (slices.correlation <= 0) & (slices.external_id <= 0))
    if len(without_ids):
        found[without_ids] = _under_way(trace, without_ids)
    return found


def host_slices_of(trace: Trace, rows: Array) -> Array:
    """`host_slice` of these slices; what launched what is looked at only where one of them is not on the host."""
    return rows if (side_of_slices(trace)[rows] == HOST).all() else host_slice(trace)[rows]


def _under_way(trace: Trace, rows: Array) -> Array:
    """The launching kind of host slice of the same rank that was open when each of the slices began, -1 for none."""
    slices, tracks = trace.slices, trace.tracks
    found = np.full(len(rows), -1, np.int64)
    launches = ((slices.category == _RUNTIME) | (slices.category == _HOST_OP)) & ~_waiting(trace)[slices.name]
    on_track = np.bincount(slices.track[launches], minlength=len(tracks))
    on_track[side_of_tracks(tracks) != HOST] = 0
    threads = np.flatnonzero(on_track)
    threads = threads[np.argsort(-on_track[threads], kind="stable")]
    rank, ts_ns = tracks.rank[slices.track[rows]], slices.ts_ns[rows]
    of_rank = {number: np.flatnonzero(rank == number) for number in np.unique(tracks.rank[threads]).tolist()}
    for thread in threads[: max(1, _MOST_LOOKED_AT // (len(rows) + len(slices)))].tolist():
        same_rank = of_rank[int(tracks.rank[thread])]
        at = slices_of_track_at(slices, thread, ts_ns[same_rank])
        before = found[same_rank]
        later = (before < 0) | (slices.ts_ns[at] > slices.ts_ns[before])
        better = (at >= 0) & launches[at] & later
        found[same_rank[better]] = at[better]
    return found


def _waiting(trace: Trace) -> Array:
    """Whether each string of the pool names a call that waits for the device."""
    return np.array([bool(_WAITS.match(text)) for text in trace.pool.strings.values], bool)
