"""Ranks that wait for one another, or for the wire."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

from neuron_profile.analysis.breakdown import PARTS
from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.cost import Cost
from neuron_profile.analysis.findings.last_to_arrive import LEAST_SHARE as LEAST_WAITED_SHARE
from neuron_profile.analysis.findings.last_to_arrive import last_to_arrive
from neuron_profile.analysis.findings.rule import Evidence, Rule
from trace_format import CATEGORIES
from trace_format import number_text as text

Array = np.ndarray

LEAST_SHARE = 0.05
LEAST_LATE_SHARE = 0.1
MOSTLY = 0.9
_COLLECTIVE = CATEGORIES.index("collective")
_WAITING = ("exposed_collective_ns", "idle_peer_ns")


def exposed_collectives(context: Context) -> Evidence | None:
    if not len(context.rows):
        return None
    exposed = context.part("exposed_collective_ns")
    ranks = context.rows["rank"].nunique()
    lengths = _least_of_ranks(context, exposed) if ranks > 1 else exposed
    hidden_at_best = np.minimum(lengths, context.part("compute_ns"))
    whole, cost = context.cost(lengths), context.cost(hidden_at_best)
    if cost.share_ratio < LEAST_SHARE:
        return None
    waiting = (
        f"the least of {ranks} ranks, so without waiting for late ones" if ranks > 1
        else "waiting for other ranks included: open the traces of all to tell it apart"
    )  # fmt: skip
    lines = [f"{context.told(whole)} in collectives and nothing computed; {waiting}"]
    table = context.trace.collectives
    known = np.flatnonzero(table.slice >= 0)
    rows = table.slice[known] if len(known) else np.flatnonzero(context.trace.slices.category == _COLLECTIVE)
    if len(known):
        counted = Counter(table.text("op")).most_common(3)
        ops = ", ".join(f"{text.count(count)} {op or 'collective'}" for op, count in counted)
        moved = int(np.maximum(np.maximum(table.in_bytes, table.out_bytes), 0).sum())
        lines.append(f"{ops} in the whole trace{f', {text.size(moved)} in their buffers' if moved else ''}")
    hidden = text.duration(cost.per_step_ns)
    title = f"Collectives run and nothing is computed meanwhile: {whole.text}, of which {hidden} could be hidden"
    return Evidence(title, cost, tuple(lines), context.longest(rows))


def _least_of_ranks(context: Context, lengths: Array) -> Array:
    """The least of the ranks in each step: the last one to come waits for nobody."""
    frame = context.rows[["step"]].copy()
    frame["ns"] = lengths
    return frame.groupby("step")["ns"].transform("min").to_numpy(np.int64)


def slow_rank(context: Context) -> Evidence | None:
    return _slow_by_its_own_time(context) or last_to_arrive(context)


def _slow_by_its_own_time(context: Context) -> Evidence | None:
    frame = context.rows
    if not len(frame) or frame["rank"].nunique() < 2:
        return None
    frame = frame[["rank", "step", "total_ns", "start_ns", "end_ns"]].assign(
        own_ns=frame["total_ns"].to_numpy() - context.part(*_WAITING), waiting_ns=context.part(*_WAITING)
    )
    own = frame.pivot_table(index="step", columns="rank", values="own_ns").dropna()
    if not len(own):
        return None
    last = own.idxmax(axis=1)
    slowest = int(last.value_counts().index[0])
    others = own.drop(columns=slowest)
    late_ns = own[slowest] - others.max(axis=1)
    late, seen = float(late_ns.median()), int((last == slowest).sum())
    step_ns = float(frame["total_ns"].median())
    waiting = float(frame[(frame["rank"] != slowest) & frame["step"].isin(own.index)]["waiting_ns"].median())
    is_late = late > 0 and late >= LEAST_LATE_SHARE * step_ns and waiting >= late / 2
    if step_ns <= 0 or seen < MOSTLY * len(own) or not is_late:
        return None
    worst = frame[(frame["rank"] == slowest) & (frame["step"] == late_ns.idxmax())].iloc[0]
    cost = Cost(
        round(late), late / step_ns, seen, len(own), slowest, -1, int(worst["start_ns"]), int(worst["end_ns"])
    )  # fmt: skip
    own_ns, others_ns = float(own[slowest].median()), float(others.median(axis=1).median())
    lines = (
        (f"without its waiting rank {slowest} takes {text.duration(own_ns)} {context.per_step}, the others "
        f"{text.duration(others_ns)}; it is the slowest in {seen} of {text.counted(len(own), 'step')}"),
        f"the others wait {text.duration(waiting)} {context.per_step} in collectives",
        _what_differs(context, slowest),
    )  # fmt: skip
    title = f"Rank {slowest} is later than the others, which wait for it: {cost.text}"
    return Evidence(title, cost, tuple(line for line in lines if line), rank=slowest)


def _what_differs(context: Context, slowest: int) -> str:
    """The part of the breakdown in which the slowest rank differs most from the others."""
    names = [name for name in PARTS if name in context.rows and name not in _WAITING]
    of_rank = context.rows.groupby("rank")[names].median()
    more = pd.Series(of_rank.loc[slowest] - of_rank.drop(index=slowest).median()).sort_values(ascending=False)
    part = str(more.index[0]).removesuffix("_ns").replace("_", " ")
    return (
        f"most of the difference is its {part}: {text.duration(float(more.iloc[0]))} more" if more.iloc[0] > 0 else ""
    )


RULES = (
    Rule(
        "exposed-collectives",
        "exposed_collective_ns of the breakdown: a collective runs and nothing is computed; of several ranks the least",
        f"at least {LEAST_SHARE:.0%} of the median step could be hidden",
        "the rank that comes last waits for nobody, so the least of all ranks is the transfer itself",
        exposed_collectives,
        "the lesser of that time and of the compute in the same step, under which it could run",
        "Start collectives earlier and asynchronously: DistributedDataParallel with smaller buckets, FSDP prefetching, "
        "async_op=True; send less: bfloat16 gradients, accumulate over several batches with no_sync().",
    ),
    Rule(
        "slow-rank",
        "the time of each rank's step without its waiting in collectives; else the straggler of collective_skew",
        f"one rank is the slowest in {MOSTLY:.0%} of the steps, {LEAST_LATE_SHARE:.0%} of the median step behind the "
        "next, and the others wait at least half as long; or it is last in half of the collectives, the others wait "
        f"{LEAST_WAITED_SHARE:.0%} of the step for it and twice as long as it does, not by chance, of 4 or more ranks",
        "ranks that take turns are noise; times within a rank need no common clock",
        slow_rank,
        "what the slowest rank takes longer than the second slowest, in the median step; else what the others wait",
        "Compare that rank's trace with another's: its data, its share of the work, its clock (throttling), its host.",
    ),
)
