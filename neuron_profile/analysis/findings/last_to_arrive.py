"""The rank that comes last to the collectives of a job, and what the others wait for it."""

from __future__ import annotations

import numpy as np

from neuron_profile.analysis.collectives.skew import Straggler, collective_skew
from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.cost import Cost
from neuron_profile.analysis.findings.rule import Evidence
from trace_format import number_text as text

LEAST_SHARE = 0.02
FEWEST_RANKS = 4  # of fewer one is often the last because its machine was busy: their own times tell
_LEAST_LAST = 0.5
_CHANCE = 0.01
_EXAMPLES = 3


def last_to_arrive(context: Context) -> Evidence | None:
    """The straggler of `collective_skew`, where what it costs the others is neither little nor chance."""
    skew = collective_skew(context.trace)
    late, frame = skew.straggler, context.rows
    if late is None or not len(frame):
        return None
    mine = np.flatnonzero(frame["rank"].to_numpy() == late.rank)
    if not len(mine):
        return None
    step_ns, wait_ns = float(frame["total_ns"].median()), late.wait_ns / len(mine)
    share = wait_ns / step_ns if step_ns > 0 else 0.0
    own_wait_ns = int(skew.ranks["wait_ns"].to_numpy()[skew.ranks["rank"].to_numpy() == late.rank][0])
    if share < LEAST_SHARE or own_wait_ns > late.wait_ns / 2 or late.times_last < _LEAST_LAST * late.collectives:
        return None
    if len(skew.ranks) < FEWEST_RANKS or _chance(late, len(skew.ranks)) > _CHANCE:
        return None
    of_it = skew.collectives[skew.collectives["last_rank"] == late.rank].sort_values("skew_ns", ascending=False)
    rows = of_it["slice"].to_numpy(np.int64)
    counts = context.counts(rows)[mine]
    worst = frame.iloc[mine[int(np.argmax(context.counts(rows[:1])[mine]))]]
    cost = Cost(
        round(wait_ns), share, int((counts > 0).sum()), len(mine), late.rank, -1,
        int(worst["start_ns"]), int(worst["end_ns"]),
    )  # fmt: skip
    waited = (
        f"the others wait {text.duration(wait_ns)} {context.per_step} for it, on average ({text.ratio(share)}); "
        f"it waits {text.duration(own_wait_ns / len(mine))} for them"
    )
    lines = [
        waited,
        f"it comes last to {text.count(late.times_last)} of {text.counted(late.collectives, 'collective')}",
    ]
    if late.after:
        lines.append(f"before those that were looked at it spends {text.duration(late.after_ns)} more in {late.after}")
    title = f"Rank {late.rank} comes last to collectives, and the others wait for it: {cost.text}"
    return Evidence(title, cost, tuple(lines), tuple(rows[:_EXAMPLES].tolist()), rank=late.rank)


def _chance(late: Straggler, ranks: int) -> float:
    """How likely any one of ranks that are alike is the last so often, in as many collectives as that."""
    return float(ranks) ** (1 - late.times_last)
