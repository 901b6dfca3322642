"""How far apart the ranks come to their collectives, and which of them the others wait for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.collectives.arrivals import Arrivals, arrivals
from neuron_profile.analysis.collectives.straggler import after
from trace_format import Trace

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Straggler:
    """The rank that the others wait for.

    - `wait_ns`: how long, over all collectives it came to last, each the mean of the others; since all were recorded.
    - `times_last`, `collectives`: how many it came to last, of how many.
    - `after`: what it spent more time in than the others before; None: not told. `after_ns`: how much more, in the few
      collectives that were looked at.
    """

    rank: int
    wait_ns: int
    times_last: int
    collectives: int
    after: str | None
    after_ns: int


@dataclass(frozen=True, slots=True)
class CollectiveSkew:
    """How the ranks of a trace wait for each other; of collectives whose ranks are all in it.

    - `collectives`: a row for each, by time. Columns op, dtype, message_bytes (-1: unknown), group, seq (-1: none),
      ranks, start_ns (the first rank came, on the clock of the lowest rank), skew_ns (until the last came), latency_ns
      (the shortest span), last_rank, slice (of the last rank).
    - `ranks`: a row for each. Columns rank, collectives, wait_ns (its own waiting since all ranks
      of a collective were recorded: see `Arrivals.blamed_ns`), caused_wait_ns (the others' for it:
      as `Straggler.wait_ns`), times_last, clock_offset_ns (ahead of the lowest rank, 0 on one host), clock_residual_ns
      (see `clocks`).
    - `straggler`: the rank that waits least (of several the one that was last most often), if others waited for it.
    """

    collectives: pd.DataFrame
    ranks: pd.DataFrame
    straggler: Straggler | None

    def to_dict(self) -> dict[str, Any]:
        """`ranks` of a summary: straggler (its rank, wait_ns and after; or None), clock_residual_ns by rank."""
        late = self.straggler
        residual = zip(self.ranks["rank"].tolist(), self.ranks["clock_residual_ns"].tolist(), strict=True)
        return {
            "straggler": late and {"rank": late.rank, "wait_ns": late.wait_ns, "after": late.after},
            "clock_residual_ns": {str(rank): value for rank, value in residual},
        }


def collective_skew(trace: Trace) -> CollectiveSkew:
    """The skew of the ranks of a trace; frames without rows for a trace of one rank, or without collectives."""
    found = arrivals(trace)
    per_collective, per_rank = _per_collective(trace, found), _per_rank(found)
    return CollectiveSkew(per_collective, per_rank, _straggler(trace, found, per_rank))


def _per_collective(trace: Trace, found: Arrivals) -> pd.DataFrame:
    instances = np.flatnonzero(found.matches.complete)
    instances = instances[np.argsort(found.come_ns[found.last_span[instances]], kind="stable")]
    last, spans = found.last_span[instances], found.spans
    size = np.full(len(found.matches), -1, np.int64)
    np.maximum.at(size, found.matches.of_span, spans.nbytes)
    texts = {
        "op": [spans.ops[code] for code in spans.op[last].tolist()],
        "dtype": [trace.pool.strings[number] for number in spans.dtype[last].tolist()],
        "group": [spans.groups.names[number] for number in spans.groups.of_row[last].tolist()],
    }
    return pd.DataFrame(
        {
            "op": pd.Series(texts["op"], dtype=object), "dtype": pd.Series(texts["dtype"], dtype=object),
            "message_bytes": size[instances], "group": pd.Series(texts["group"], dtype=object),
            "seq": spans.seq[last], "ranks": found.matches.ranks[instances],
            "start_ns": found.come_ns[last] - found.skew_ns[instances], "skew_ns": found.skew_ns[instances],
            "latency_ns": found.latency_ns[instances], "last_rank": spans.rank[last], "slice": spans.slice[last],
        }
    )  # fmt: skip


def _per_rank(found: Arrivals) -> pd.DataFrame:
    spans, clocks = found.spans, found.clocks
    known = np.flatnonzero(found.blamed_ns >= 0)
    ranks, of_span = np.unique(spans.rank[known], return_inverse=True)
    waits, last = np.zeros(len(ranks), np.int64), found.last_span[found.last_span >= 0]
    np.add.at(waits, of_span, found.blamed_ns[known])
    of_last = np.searchsorted(ranks, spans.rank[last])
    waiting = np.zeros(len(found.matches), np.int64)
    np.add.at(waiting, found.matches.of_span[known], found.blamed_ns[known])
    instance = found.matches.of_span[last]
    # nobody waits longer than 2^53 ns, 104 days
    caused = np.bincount(of_last, waiting[instance] / (found.matches.ranks[instance] - 1), minlength=len(ranks))
    names = ranks.tolist()
    return pd.DataFrame(
        {
            "rank": ranks, "collectives": np.bincount(of_span, minlength=len(ranks)), "wait_ns": waits,
            "caused_wait_ns": np.round(caused).astype(np.int64),
            "times_last": np.bincount(of_last, minlength=len(ranks)),
            "clock_offset_ns": np.array([clocks.offset_ns[rank] for rank in names], np.int64),
            "clock_residual_ns": np.array([clocks.residual_ns[rank] for rank in names], np.int64),
        }
    )  # fmt: skip


def _straggler(trace: Trace, found: Arrivals, ranks: pd.DataFrame) -> Straggler | None:
    if not len(ranks):
        return None
    late = ranks.sort_values(["wait_ns", "times_last", "rank"], ascending=[True, False, True]).iloc[0]
    if not late["caused_wait_ns"]:
        return None
    why = after(trace, found, int(late["rank"]))
    return Straggler(
        int(late["rank"]), int(late["caused_wait_ns"]), int(late["times_last"]), int(late["collectives"]),
        why.what if why else None, why.more_ns if why else 0,
    )  # fmt: skip
