"""Memory that grows with every step."""

from __future__ import annotations

from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.rule import Evidence, Rule
from neuron_profile.analysis.memory.growth import any_growth, memory_growth
from trace_format import number_text as text

LEAST_OF_ALL = 0.001
LEAST_BYTES = 1_000_000
LEAST_KEPT = 0.5


def memory_grows(context: Context) -> Evidence | None:
    if not context.has_steps or not any_growth(context.trace):
        return None
    found = memory_growth(context.trace, top=3)
    growing = found.devices[found.devices["grows"] & (found.devices["kept_ratio"] >= LEAST_KEPT)]
    if not len(growing):
        return None
    worst = growing.sort_values("bytes_per_step").iloc[-1]
    steps = found.steps[(found.steps["device"] == worst["device"]) & (found.steps["rank"] == worst["rank"])]
    used = steps[steps["is_used"]]
    per_step, end = float(worst["bytes_per_step"]), float(used["end_bytes"].iloc[-1])
    if per_step < max(LEAST_OF_ALL * end, LEAST_BYTES):
        return None
    where = f" on {worst['device']}" if worst["device"] else ""
    growing_steps = int((used["growth_bytes"] > 0).sum())
    lines = [
        f"{text.size(end)}{where} after the last step; it grew in {growing_steps} of {len(used)} steps after the first",
    ]  # fmt: skip
    held = found.holders[(found.holders["device"] == worst["device"]) & (found.holders["rank"] == worst["rank"])]
    for row in held.head(2).to_dict("records"):
        made = [row["op"], f"in {row['module']}" if row["module"] else "", row["source"]]
        lines.append(f"never freed: {text.size(row['bytes_per_step'])} per step made by {' '.join(filter(None, made))}")
    title = f"Memory grows by {text.size(per_step)} with every step{where}"
    cost = context.cost(context.rows["total_ns"].to_numpy())
    return Evidence(title, cost, tuple(lines), is_time=False, rank=int(worst["rank"]))


RULES = (
    Rule(
        "memory-growth",
        "memory_growth: the allocated bytes at the end of each step after the first two, and what is never freed",
        f"they rise steadily (Mann-Kendall, p < 0.05), by {LEAST_OF_ALL:.1%} of all and {LEAST_BYTES // 10**6} MB per "
        f"step, and allocations that are never freed are {LEAST_KEPT:.0%} of it",
        "caches settle in the first steps; a rise that no kept allocation explains is noise",
        memory_grows,
        "no time, until memory is short",
        "Keep numbers, not tensors: loss.item() or .detach().cpu() for logs; clear lists and caches; do not hold on to "
        "outputs whose graph is alive.",
    ),
)
