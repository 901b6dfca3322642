"""How the clocks of ranks differ, by when they were done with the collectives they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from neuron_profile.analysis.collectives.matching import Matches
from neuron_profile.analysis.collectives.spans import Spans
from trace_format import Trace

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Clocks:
    """Of each rank that shares a complete collective with another.

    - `offset_ns`: how far its clock is ahead of that of the lowest rank; 0 where both are on one host.
    - `residual_ns`: how far apart ends are that should be at one moment, once this is taken away: the median over its
      collectives of the distance from the median rank.
    """

    offset_ns: Mapping[int, int]
    residual_ns: Mapping[int, int]


def clocks(trace: Trace, spans: Spans, found: Matches) -> Clocks:
    """The clocks of the ranks, aligned on the ends of complete collectives; empty for a trace without.

    No rank is done before the last has come, and then all have the same left to do: they are done together, and what
    they differ by, in the median, is their clocks. Ranks on one host share a clock, which is not touched.
    """
    rows = np.flatnonzero(found.complete[found.of_span])
    ranks, rank = np.unique(spans.rank[rows], return_inverse=True)
    if not len(rows):
        return Clocks({}, {})
    instance, end = found.of_span[rows], spans.end_ns[rows]
    offset = np.zeros(len(ranks), np.int64)
    if not _on_one_host(trace):
        known = np.zeros(len(ranks), bool)
        while not known.all():
            offset, known = _one_more_hop(instance, rank, end, offset, known)
    middle = _median_of(instance, end - offset[rank])
    apart = np.abs(end - offset[rank] - middle[instance])
    residual = _median_of(rank, apart)
    return Clocks(
        dict(zip(ranks.tolist(), offset.tolist(), strict=True)),
        dict(zip(ranks.tolist(), residual.tolist(), strict=True)),
    )


def _one_more_hop(instance: Array, rank: Array, end: Array, offset: Array, known: Array) -> tuple[Array, Array]:
    """The offsets of those ranks too that share a collective with a rank whose offset is known.

    Where none does, the lowest unknown rank is where its own island of ranks begins.
    """
    by_known, instances = known[rank], int(instance.max()) + 1
    middle = _median_of(instance[by_known], end[by_known] - offset[rank[by_known]], groups=instances)
    has = np.bincount(instance[by_known], minlength=instances) > 0
    new = ~by_known & has[instance]
    if not new.any():
        known = known.copy()
        known[int(np.argmin(known))] = True
        return offset, known
    ahead = _median_of(rank[new], end[new] - middle[instance[new]], groups=len(offset))
    reached = np.bincount(rank[new], minlength=len(offset)) > 0
    return np.where(reached, ahead, offset), known | reached


def _median_of(group: Array, values: Array, *, groups: int | None = None) -> Array:
    """The lower median of int64 values in each group; 0 for a group without."""
    count = np.bincount(group, minlength=groups or 0)
    ordered = values[np.lexsort((values, group))]
    first = np.r_[0, np.cumsum(count)[:-1]]
    out = np.zeros(len(count), np.int64)
    some = count > 0
    out[some] = ordered[(first + (count - 1) // 2)[some]]
    return out


def _on_one_host(trace: Trace) -> bool:
    ranks: Any = trace.metadata.get("ranks")
    hosts = [one.get("host") for one in ranks if isinstance(one, Mapping)] if isinstance(ranks, list) else []
    return bool(hosts) and isinstance(hosts[0], str) and all(host == hosts[0] for host in hosts)
