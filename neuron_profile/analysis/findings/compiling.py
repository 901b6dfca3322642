"""Steps that pay for compiling."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

from neuron_profile.analysis.compiles.causes import RECOMPILED
from neuron_profile.analysis.compiles.compiles import compiles
from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.rule import Evidence, Rule
from trace_format import number_text as text

LEAST_SHARE = 0.05
FEWEST_STEPS = 2
LEAST_SHARE_OF_ONE = 0.1


def recompile(context: Context) -> Evidence | None:
    if not context.has_steps:
        return None
    found = compiles(context.trace) if len(context.trace.compiles) else None
    found = None if found is None else found[(found["slice"] >= 0) & (found["step"] >= 0)]
    if found is not None and len(found):
        lengths = context.lengths_of(found["slice"].to_numpy(np.int64))
    else:
        found, lengths = None, context.part("idle_compile_ns")
    if len(context.rows) == 0:
        return None
    cost = context.average(lengths)
    if cost.share_ratio < (LEAST_SHARE if cost.seen >= FEWEST_STEPS else LEAST_SHARE_OF_ONE):
        return None
    lines = [f"compiling for {context.told(cost)}, on average; the first is not counted"]
    rows: tuple[int, ...] = ()
    if found is not None:
        lines += _what(found)
        rows = context.longest(found["slice"].to_numpy(np.int64))
    title = f"Compiling in {cost.seen} of {text.counted(cost.steps, 'step')} after the first: {cost.text} per step"
    return Evidence(title, cost, tuple(lines), rows)


def _what(found: pd.DataFrame) -> list[str]:
    """What was compiled most often, and why again."""
    named = [row["function"] or row["what"] for row in found.to_dict("records")]
    what, times = Counter(named).most_common(1)[0]
    misses = int((found["cache"] == "miss").sum())
    missed = f"; {text.count(misses)} of them in no cache" if misses else ""
    lines = [f"{text.counted(len(found), 'compile')}, most often {what} ({text.count(times)} times){missed}"]
    why = Counter(trigger for trigger in found["trigger"] if trigger.startswith(RECOMPILED))
    if why:
        reason, times = why.most_common(1)[0]
        lines.append(f"why: {_guard(reason)}" + (f" ({text.count(times)} times)" if times > 1 else ""))
    return lines


def _guard(reason: str) -> str:
    """The guard that failed, of the reason that torch gives: 'recompile: [ "0/1: step == 1 # return ...'."""
    guard = reason.removeprefix("recompile:").strip(' [\n"').split("#")[0]
    return text.shortened(" ".join(guard.split()), 100)


RULES = (
    Rule(
        "recompile",
        "compiles of the trace, else idle_compile_ns of the breakdown, in the steps after the first",
        f"{LEAST_SHARE:.0%} of an average one; {LEAST_SHARE_OF_ONE:.0%} where fewer than {FEWEST_STEPS} compile",
        "the first step compiles what all others use; a single later one may be a graph of its own",
        recompile,
        "the mean over the steps after the first: what is compiled once is not compiled again",
        "Find the guard that fails (TORCH_LOGS=recompiles): pass changing numbers as tensors, pad to a few shapes, "
        "torch._dynamo.mark_dynamic, or compile with dynamic=True; keep the NEFF cache between runs.",
    ),
)
