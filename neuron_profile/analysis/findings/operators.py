"""A host without a device that is slow by how it calls operators: one number at a time, tiny ones, Python between."""

from __future__ import annotations

import numpy as np

from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.rule import Evidence, Rule
from trace_format import number_text as text

Array = np.ndarray

LEAST_ITEM_SHARE = 0.05
FEWEST_ITEMS = 50
LEAST_TINY_SHARE = 0.15
FEWEST_ALIKE = 100
TINY_NS = 20_000
LONGEST_GAP_NS = 30_000_000
LEAST_PYTHON_SHARE = 0.3


def item_in_loop(context: Context) -> Evidence | None:
    if context.on_device or not len(context.rows):
        return None
    items = context.named(r"aten::item\Z", context.host_ops)
    cost = context.cost(_without_large(context, *context.runs(items, LONGEST_GAP_NS, FEWEST_ITEMS)))
    if cost.share_ratio < LEAST_ITEM_SHARE:
        return None
    each = text.count(context.median_count(items))
    lines = (
        f"{each} calls, one after the other, and what lies between them: {context.told(cost)}",
        "on an accelerator each would also wait until the device has caught up",
    )
    title = f".item() is called {each} times {context.per_step}: {cost.text}"
    return Evidence(title, cost, lines, context.longest(items))


def tiny_operators(context: Context) -> Evidence | None:
    if context.on_device or not len(context.rows):
        return None
    slices, ops = context.trace.slices, context.outermost_ops
    tiny = ops[(slices.dur_ns[ops] >= 0) & (slices.dur_ns[ops] < TINY_NS)]
    steps = max(len(context.rows), 1)
    alike = np.bincount(slices.name[tiny], minlength=len(context.trace.pool.strings)) >= FEWEST_ALIKE * steps
    tiny = tiny[alike[slices.name[tiny]]]
    cost = context.cost(_without_large(context, *context.runs(tiny, LONGEST_GAP_NS, FEWEST_ALIKE)))
    if cost.share_ratio < LEAST_TINY_SHARE:
        return None
    mean = text.duration(float(slices.dur_ns[tiny].mean()))
    names = ", ".join(f"{name} {text.count(count / steps)}" for name, count, _ in context.counted_names(tiny))
    lines = (
        f"they and what lies between them: {context.told(cost)}; {mean} each on average",
        f"{context.per_step}: {names}",
    )
    title = f"{text.count(context.median_count(tiny))} tiny operators {context.per_step}: {cost.text}"
    return Evidence(title, cost, lines, tuple(tiny[:3].tolist()))


def _without_large(context: Context, start: Array, end: Array, rank: Array) -> Array:
    """How much of each step is in these runs and not in operators that usually take their time."""
    slices, ops = context.trace.slices, context.outermost_ops
    is_large = slices.dur_ns[ops] >= TINY_NS
    # one that is tiny nearly always was interrupted where it is not
    usually = np.bincount(slices.name[ops], is_large * 2 - 1, len(context.trace.pool.strings)) >= 0
    large = ops[is_large & usually[slices.name[ops]]]
    begin, ranks = slices.ts_ns[large], context.rank_of_slice[large]
    stop = begin + slices.dur_ns[large]
    both = context.lengths(np.r_[start, begin], np.r_[end, stop], np.r_[rank, ranks])
    return both - context.lengths(begin, stop, ranks)


def python_between(context: Context) -> Evidence | None:
    if context.on_device or not len(context.host_ops):
        return None
    cost = context.cost(context.part("idle_host_ns"))
    if cost.share_ratio < LEAST_PYTHON_SHARE or not context.is_usual(cost):
        return None
    lines = (
        f"no operator ran for {context.told(cost)}",
        f"{text.count(context.median_count(context.outermost_ops))} operators {context.per_step}",
    )
    return Evidence(f"Python between operators takes {cost.text}", cost, lines)


RULES = (
    Rule(
        "item-in-loop",
        "runs of aten::item on a host without a device",
        f"at least {FEWEST_ITEMS} calls in a row, {LEAST_ITEM_SHARE:.0%} of the median step",
        f"calls less than {LONGEST_GAP_NS // 10**6} ms apart, on a machine that does other things too, are one loop",
        item_in_loop,
        "all of the loop but larger operators in it: one call for all numbers takes as long as one of them",
        "Keep metrics in tensors and fetch them once, outside the step: tensor.tolist(), or .sum() before .item().",
    ),
    Rule(
        "tiny-operators",
        f"runs of outermost operators shorter than {TINY_NS // 1000} µs on a host without a device",
        f"of a name that comes at least {FEWEST_ALIKE} times per step; {LEAST_TINY_SHARE:.0%} of the median step",
        "some microseconds are what calling an operator costs, whatever it computes; so many alike are a loop",
        tiny_operators,
        "all of the runs but larger operators in them: one operator over the whole takes next to nothing of this",
        "Replace the loop by one operator on the whole tensor (broadcasting, torch.vmap), or torch.compile it.",
        said_by=("item-in-loop", "unfused-optimizer"),
    ),
    Rule(
        "python-between-operators",
        "idle_host_ns of the breakdown on a host without a device: no operator, loader, compile or collective runs",
        f"at least {LEAST_PYTHON_SHARE:.0%} of the median step",
        "calling operators from Python takes some; a third of the step is more than that",
        python_between,
        "all of it: an upper bound",
        "Record with with_stack=True to see the lines; take logging, sleeping, file access and Python loops out of the "
        "step.",
        said_by=("tiny-operators", "item-in-loop", "unfused-optimizer", "slow-rank"),
    ),
)
