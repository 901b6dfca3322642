"""Which slices are work, of what kind, and on what: the devices of each rank, or its host."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

from neuron_profile.analysis.derived import kept_with_the_trace
from neuron_profile.analysis.intervals import merged, without
from neuron_profile.analysis.sides import DEVICE, HOST, side_of_tracks
from trace_format import CATEGORIES, Trace

Array = np.ndarray
Intervals = tuple[Array, Array]  # starts and ends, disjoint and in order

NONE, COMPUTE, COLLECTIVE, COPY = range(4)
_KINDS = {
    "annotation": NONE, "sync": NONE, "semaphore": NONE, "collective": COLLECTIVE,
    "memcpy": COPY, "memset": COPY, "dma": COPY,
}  # fmt: skip
_KIND_OF_CATEGORY = np.array([_KINDS.get(name, COMPUTE) for name in CATEGORIES], np.uint8)
_HOST_OP = CATEGORIES.index("host_op")
# Operators that ask for a collective or wait for one: "c10d::allreduce_", "_c10d_functional::wait_tensor".
ASKS_OR_WAITS = re.compile(r"_?c10d(_functional\w*)?::|record_param_comms")


@kept_with_the_trace
def device_work(trace: Trace) -> Array:
    """What each slice is to a measured device, `(n,) uint8`: COMPUTE, COLLECTIVE or COPY.

    NONE: it has no time, waits or names others, or is on no track of a device.
    """
    on_device = side_of_tracks(trace.tracks) == DEVICE
    if not on_device.any():
        return np.zeros(len(trace.slices), np.uint8)
    return kind_of_work(trace, on_device)


def kind_of_work(trace: Trace, tracks: Array) -> Array:
    """What each slice on the chosen tracks (bool) is, as in `device_work`; NONE on the others."""
    slices = trace.slices
    kind = _KIND_OF_CATEGORY[slices.category]
    kind *= tracks[slices.track]
    kind *= slices.dur_ns > 0
    return kind


def by_device(trace: Trace, rows: Array) -> Iterator[tuple[int, int, Array]]:
    """Rank, device and the rows of each device that has any of these rows, in order."""
    tracks = trace.tracks
    for (rank, device), mine in _split(trace, rows, np.stack([tracks.rank, tracks.device], axis=1)):
        yield rank, device, mine


def _split(trace: Trace, rows: Array, keys: Array) -> Iterator[tuple[tuple[int, ...], Array]]:
    """The rows by the key of their track, a row of `keys`; in order of the keys."""
    places, place_of = np.unique(keys, axis=0, return_inverse=True)
    narrow = np.uint16 if len(places) < 1 << 16 else np.uint32  # numpy sorts narrow numbers fastest
    of_row = place_of.reshape(-1).astype(narrow)[trace.slices.track[rows]]
    order = np.argsort(of_row, kind="stable")
    borders = np.searchsorted(of_row[order], np.arange(len(places) + 1))
    for number, key in enumerate(places.tolist()):
        if borders[number] < borders[number + 1]:
            yield tuple(key), rows[order[borders[number] : borders[number + 1]]]


def union_of(trace: Trace, rows: Array) -> Intervals:
    """When any of these slices was under way."""
    start = trace.slices.ts_ns[rows]
    return merged(start, start + np.maximum(trace.slices.dur_ns[rows], 0))


def joined(*sets: Intervals) -> Intervals:
    """The union of unions."""
    return merged(np.concatenate([start for start, _ in sets]), np.concatenate([end for _, end in sets]))


@kept_with_the_trace
def operators(trace: Trace) -> Mapping[int, Intervals]:
    """When operators ran on the host of each rank that has any.

    Not those of a thread while it asks for a collective, or waits for one, in an operator.
    """
    slices, tracks = trace.slices, trace.tracks
    on_host = side_of_tracks(tracks) == HOST
    rows = np.flatnonzero((slices.category == _HOST_OP) & on_host[slices.track])
    rows = rows[slices.dur_ns[rows] > 0]
    about_collectives = np.array([bool(ASKS_OR_WAITS.match(text)) for text in trace.pool.strings.values], bool)
    waits = np.zeros(len(tracks), bool)
    waits[slices.track[rows[about_collectives[slices.name[rows]]]]] = True
    found: dict[int, list[Intervals]] = {}
    for (rank, thread), mine in _split(trace, rows, np.stack([tracks.rank, _own_number(waits)], axis=1)):
        asks = about_collectives[slices.name[mine]] if thread else np.zeros(len(mine), bool)
        works = union_of(trace, mine[~asks])
        found.setdefault(rank, []).append(without(*works, *union_of(trace, mine[asks])) if thread else works)
    return MappingProxyType({rank: joined(*sets) if len(sets) > 1 else sets[0] for rank, sets in found.items()})


def _own_number(chosen: Array) -> Array:
    """A number of its own for each chosen track, 0 for the others."""
    return np.where(chosen, np.cumsum(chosen), 0)


def of_rank(sets: Mapping[int, Intervals], rank: int) -> Intervals:
    """The set of a rank, -1: all of them joined; empty for a rank without."""
    none = np.zeros(0, np.int64)
    chosen = list(sets.values()) if rank < 0 else [sets[rank]] if rank in sets else []
    return joined(*chosen) if chosen else (none, none)
