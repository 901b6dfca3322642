"""Steps that are not like the others, and optimizers that go through parameters one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neuron_profile.analysis.breakdown import PARTS
from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.rule import Evidence, Rule
from neuron_profile.analysis.sides import HOST
from trace_format import CATEGORIES
from trace_format import number_text as text

LEAST_EXCESS = 0.1
FEWEST_STEPS = 10
OUTLIER = 1.5
LEAST_OPTIMIZER_SHARE = 0.1
FEWEST_OPERATORS = 100
TINY_NS = 20_000
_ANNOTATION = CATEGORIES.index("annotation")


def outlier_steps(context: Context) -> Evidence | None:
    if not context.has_steps or len(context.rows) < FEWEST_STEPS:
        return None
    cost = context.cost(context.rows["total_ns"].to_numpy())
    mine = np.flatnonzero(context.rows["rank"].to_numpy() == cost.rank)[1:]  # the first step is rarely like the others
    total = context.rows["total_ns"].to_numpy()[mine]
    if len(mine) < FEWEST_STEPS:
        return None
    median = float(np.median(total))
    excess = float(total.mean()) - median
    slow = mine[total > OUTLIER * median]
    if excess < LEAST_EXCESS * median or len(slow) == 0:
        return None
    names = [name for name in PARTS if name in context.rows]
    more = (context.rows.iloc[slow][names].mean() - context.rows.iloc[mine][names].median()).sort_values(
        ascending=False
    )
    part = str(more.index[0]).removesuffix("_ns").replace("_", " ")
    worst = context.rows.iloc[mine[int(np.argmax(total))]]
    lines = (
        (
            f"{len(slow)} of {text.counted(len(mine), 'step')} take more than {OUTLIER} times the median of "
            f"{text.duration(median)}; the worst is step {int(worst['step'])} with {text.duration(float(total.max()))}"
        ),
        f"what they have more of is {part}: {text.duration(float(more.iloc[0]))} each",
    )
    return Evidence(
        f"{text.counted(len(slow), 'slow step')} {'adds' if len(slow) == 1 else 'add'} {text.duration(excess)} to the "
        f"average step ({text.ratio(excess / median)})",
        replace(cost, per_step_ns=round(excess), share_ratio=excess / median, seen=len(slow), steps=len(mine),
                start_ns=int(worst["start_ns"]), end_ns=int(worst["end_ns"])),
        lines,
    )  # fmt: skip


def unfused_optimizer(context: Context) -> Evidence | None:
    if not len(context.rows):
        return None
    slices = context.trace.slices
    marks = context.named(
        r"Optimizer\.step#", np.flatnonzero((slices.category == _ANNOTATION) & (context.side == HOST))
    )
    if not len(marks):
        return None
    start, end = slices.ts_ns[marks], slices.ts_ns[marks] + np.maximum(slices.dur_ns[marks], 0)
    order = np.argsort(start, kind="stable")
    at = np.searchsorted(start[order], slices.ts_ns[context.host_ops], "right") - 1
    inside = context.host_ops[(at >= 0) & (slices.ts_ns[context.host_ops] < end[order][np.maximum(at, 0)])]
    if len(context.named(r"aten::_(?:foreach|fused)_", inside)):
        return None
    count = context.median_count(inside)
    useful = context.device_work if context.on_device else inside[slices.dur_ns[inside] > TINY_NS]
    lengths = context.lengths_of(np.concatenate([marks, useful])) - context.lengths_of(useful)
    cost = context.cost(lengths)
    if cost.share_ratio < LEAST_OPTIMIZER_SHARE or count < FEWEST_OPERATORS:
        return None
    whole = context.cost(context.lengths_of(marks))
    slowest = context.name(context.longest(marks)[0])
    rest = "work of the device" if context.on_device else f"in operators of {TINY_NS // 1000} µs or more"
    lines = (
        f"{slowest} takes {context.told(whole)} with {text.count(count)} operators, none of them _foreach_ or _fused_",
        f"{context.told(cost)} of it is not {rest}",
    )  # fmt: skip
    title = f"The optimizer calls {text.count(count)} operators {context.per_step}: {cost.text} of overhead"
    return Evidence(title, cost, lines, context.longest(marks))


RULES = (
    Rule(
        "outlier-steps",
        "the durations of the steps after the first",
        f"of at least {FEWEST_STEPS} some take {OUTLIER} times the median, and the mean is {LEAST_EXCESS:.0%} above it",
        "few steps do not tell an outlier from a trend",
        outlier_steps,
        "mean less median",
        "Look at the slow step: garbage collection, checkpoints, evaluation, a loader that starts anew, another job on "
        "the machine.",
        said_by=("slow-data-loading", "recompile"),
    ),
    Rule(
        "unfused-optimizer",
        "operators inside torch's Optimizer.step annotation",
        f"at least {FEWEST_OPERATORS} per step, none of them _foreach_ or _fused_, and {LEAST_OPTIMIZER_SHARE:.0%} of "
        "the median step is overhead of the optimizer",
        "a handful of parameters is no matter",
        unfused_optimizer,
        "the optimizer's time in which the device idles; without a device that outside operators of 20 µs or more",
        "torch.optim.AdamW(..., fused=True) or foreach=True: one kernel for many parameters.",
    ),
)
