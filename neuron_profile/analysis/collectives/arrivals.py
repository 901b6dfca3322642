"""When the ranks came to each collective, and how long they waited there for the last one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.collectives.clocks import Clocks, clocks
from neuron_profile.analysis.collectives.matching import Matches, matches
from neuron_profile.analysis.collectives.spans import Spans, spans
from neuron_profile.analysis.derived import kept_with_the_trace
from trace_format import Trace

Array = np.ndarray

_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Arrivals:
    """The spans of a trace, which collective each is of, and the waiting in it.

    - `come_ns` `(n,) int64`: when each rank came, on the clock of the lowest rank (see `clocks`).
    - `wait_ns` `(n,) int64`: how much of each span is waiting for the last rank to come; -1 where that is not told.
    - `blamed_ns` `(n,) int64`: how much of `wait_ns` is since all ranks of the collective were recorded: before, a rank
      may have been late because its profiler was starting.
    - `recorded_ns`: of each instance that moment, on the clock of the lowest rank.
    - of each instance: `last_span` the span of the rank that came last, `skew_ns` from the first to the last to come
      (both -1 where it is not complete), `latency_ns` the shortest of its spans: the least that waited (-1: no time).
    """

    spans: Spans
    matches: Matches
    clocks: Clocks
    come_ns: Array
    wait_ns: Array
    blamed_ns: Array
    recorded_ns: Array
    last_span: Array
    skew_ns: Array
    latency_ns: Array


@kept_with_the_trace
def arrivals(trace: Trace) -> Arrivals:
    """The arrivals at the collectives of a trace. Empty for a trace without collectives.

    A rank comes when its own work for the collective starts; none is done before the last has come.
    """
    found = spans(trace)
    matched = matches(found)
    by_clock = clocks(trace, found, matched)
    ranks, of_rank = np.unique(found.rank, return_inverse=True)
    offset = np.array([by_clock.offset_ns.get(rank, 0) for rank in ranks.tolist()], np.int64)[of_rank]
    come, dur, of_span = found.start_ns - offset, found.dur_ns, matched.of_span
    count = len(matched)
    complete = matched.complete[of_span]
    last_span = np.full(count, -1, np.int64)
    in_order = np.lexsort((-found.rank, come))  # of several that come at once the lowest rank is the last
    last_span[of_span[in_order]] = in_order
    last_span[~matched.complete] = -1
    first = np.full(count, _LAST)
    np.minimum.at(first, of_span, come)
    latest = come[last_span] if len(found) else come
    latency = np.full(count, _LAST)
    np.minimum.at(latency, of_span[found.timed], dur[found.timed])
    wait = np.where(complete, np.clip(latest[of_span] - come, 0, dur), -1)
    recorded = np.zeros(count, np.int64)
    np.maximum.at(recorded, of_span, _first_ns(trace, ranks)[of_rank] - offset)
    return Arrivals(
        found, matched, by_clock, come_ns=come,
        wait_ns=wait, blamed_ns=np.minimum(wait, np.maximum(latest - recorded, 0)[of_span]), recorded_ns=recorded,
        last_span=last_span,
        skew_ns=np.where(matched.complete, latest - first, -1), latency_ns=np.where(latency == _LAST, -1, latency),
    )  # fmt: skip


def _first_ns(trace: Trace, ranks: Array) -> Array:
    """When each of these ranks was first recorded, by its own clock."""
    tracks, slices = trace.tracks, trace.slices
    of_track = np.full(len(tracks), _LAST)
    np.minimum.at(of_track, slices.track, slices.ts_ns)
    of_track[tracks.simulated.astype(bool)] = _LAST
    first = np.full(len(ranks), _LAST)
    known = np.isin(tracks.rank, ranks)
    np.minimum.at(first, np.searchsorted(ranks, tracks.rank[known]), of_track[known])
    return first
