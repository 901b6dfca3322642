"""What holds up a Neuron device: small transfers, throttling, engines that wait; and operators compiled one by one."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from neuron_profile.analysis.bandwidth.transfer_sizes import SMALL_DMA_BYTES, transfer_sizes
from neuron_profile.analysis.breakdown import PARTS
from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.cost import Cost
from neuron_profile.analysis.findings.rule import Evidence, Rule
from neuron_profile.analysis.neuron_device import runs_of, throttle_limits, waiting_instructions
from neuron_profile.analysis.simulated import simulated_device
from trace_format import number_text as text

LEAST_DMA_SHARE = 0.03
LEAST_THROTTLED_SHARE = 0.05
LEAST_WAIT_SHARE = 0.2
LEAST_NEFF_SHARE = 0.3
FEWEST_NEFFS = 20


def small_transfers(context: Context) -> Evidence | None:
    if context.device.total is None:
        return None
    small = transfer_sizes(context.trace).small
    small = small[(small["direction"] == "dma_queue") & (small["saved_active_ns"] > 0)]
    exposed = context.cost(context.part("exposed_copy_ns"))
    steps = len(context.rows)
    saved = min(float(small["saved_active_ns"].sum()) / steps, float(exposed.per_step_ns))
    cost = _part_of_step(context, saved)
    if cost.share_ratio < LEAST_DMA_SHARE:
        return None
    worst, sums = small.iloc[0], small[["count", "active_ns", "saved_active_ns"]].sum()
    under_way, less = text.duration(float(sums["active_ns"])), text.duration(float(sums["saved_active_ns"]))
    lines = (
        (f"{text.count(int(sums['count']))} packets are smaller than {SMALL_DMA_BYTES} bytes: "
        f"{text.ratio(float(worst['count_ratio']))} of those of queue {worst['queue']}, "
        f"{text.ratio(float(worst['bytes_ratio']))} of its bytes"),
        f"they were under way for {under_way}; at a useful size it would be {less} less (by the {worst['model']})",
        f"DMA ran and no engine computed for {context.told(exposed)}",
    )  # fmt: skip
    rows = transfer_sizes(context.trace).makers["slice"].head(3)
    return Evidence(f"Small DMA transfers cost {cost.text}", cost, lines, tuple(int(row) for row in rows))


def throttling(context: Context) -> Evidence | None:
    if context.device.total is None:
        return None
    limits = [throttle_limits(context.trace, run) for run in runs_of(context.trace)]
    found = pd.concat(limits, ignore_index=True)
    found = found[found["limit_ratio"] < 1]
    if not len(found):
        return None
    found["lost_ns"] = found["dur_ns"] * (1 - found["limit_ratio"])
    of_core = found.groupby("core")[["dur_ns", "lost_ns"]].sum().sort_values("lost_ns", ascending=False)
    lost, throttled = float(of_core["lost_ns"].iloc[0]), float(of_core["dur_ns"].iloc[0])
    steps = len(context.rows)
    cost = _part_of_step(context, lost / steps)
    if cost.share_ratio < LEAST_THROTTLED_SHARE:
        return None
    limited = text.duration(throttled / steps)
    lines = (
        (f"core {of_core.index[0]} may not use its whole rate for {limited} {context.per_step}; its limit is "
        f"{text.ratio(1 - lost / throttled)} of it on average"),
    )  # fmt: skip
    rows = found.sort_values("lost_ns", ascending=False)["slice"].head(3)
    return Evidence(f"The device is throttled: {cost.text}", cost, lines, tuple(int(row) for row in rows))


def engine_waits(context: Context) -> Evidence | None:
    if not context.on_device or context.device.total is None:
        return None
    cost = context.cost(context.part(*(name for name in PARTS if name.startswith("idle_"))))
    if cost.share_ratio < LEAST_WAIT_SHARE:
        return None
    run = max(runs_of(context.trace), key=lambda one: one.total_ps)
    waiting = waiting_instructions(context.trace, run, top=3)
    lines = [f"no engine and no DMA queue works for {context.told(cost)}"]
    for row in waiting.to_dict("records"):
        at = f"{row['opcode']} ({text.shortened(row['operands'].strip(), 60)})" if row["operands"] else row["opcode"]
        lines.append(f"{row['engine']} waits {text.duration(row['waited_ns'])} at {at}")
    return Evidence(f"All engines wait for {cost.text}", cost, tuple(lines), tuple(map(int, waiting["slice"])))


def neff_per_operator(context: Context) -> Evidence | None:
    told = context.trace.metadata.get("simulated")
    found = simulated_device(context.trace)
    if found is None or not isinstance(told, dict) or not len(context.rows):
        return None
    fixed_ns, runs = told.get("neff_fixed_ns"), told.get("neff_runs")
    if not isinstance(fixed_ns, int) or not isinstance(runs, int) or found.running_ns <= 0:
        return None
    steps = len(context.rows) if context.has_steps else 1
    fixed, share = runs * fixed_ns, runs * fixed_ns / found.running_ns
    if share < LEAST_NEFF_SHARE or runs < FEWEST_NEFFS * steps:
        return None
    per_step = round(fixed / steps)
    lines = (
        (
            f"{text.count(runs / steps)} NEFFs {context.per_step}, {text.duration(fixed_ns)} each before it computes: "
            f"{text.duration(per_step)} of {text.duration(found.running_ns / steps)} in which NEFFs run, "
            f"{text.ratio(share)}"
        ),
        f"estimate {told.get('uncertainty', '')} of one {told.get('generation', '')} NeuronCore, "
        f"{told.get('mode', 'mode unknown')}".replace("  ", " "),
    )
    return Evidence(
        f"sim.: operators run as {text.count(runs / steps)} NEFFs {context.per_step}, of whose time "
        f"{text.ratio(share)} is their start",
        replace(_part_of_step(context, per_step), share_ratio=share), lines,
        tuple(int(row) for row in found.operators["slice"].head(3)),
    )  # fmt: skip


def _part_of_step(context: Context, ns: float) -> Cost:
    """So much of every step."""
    whole = context.cost(context.rows["total_ns"].to_numpy())
    return replace(whole, per_step_ns=round(ns), share_ratio=ns / max(whole.per_step_ns, 1))


RULES = (
    Rule(
        "small-dma",
        "packets of DMA queues, and exposed_copy_ns of the breakdown: DMA runs and no engine computes",
        f"larger ones would save at least {LEAST_DMA_SHARE:.0%} of the run",
        f"packets below {SMALL_DMA_BYTES} bytes are small by AWS's guideline; kernels are tuned percent by percent",
        small_transfers,
        "what transfer_sizes estimates for the same bytes in useful sizes, at most the DMA time that nothing hides",
        "Make the innermost dimension of what is loaded longer, load several tiles at once, keep weights in SBUF; look "
        "for transposing (element by element) access.",
    ),
    Rule(
        "throttling",
        "throttle records of a Neuron device",
        f"at least {LEAST_THROTTLED_SHARE:.0%} of the run",
        "below that, other findings return more",
        throttling,
        "the throttled time by how far the rate is limited, of the core that loses most: an upper bound",
        "Look at the instance's power and temperature; spread dense matmuls, and compare another device.",
    ),
    Rule(
        "engine-waits",
        "idle parts of the breakdown of a Neuron device: neither an engine computes nor DMA runs",
        f"at least {LEAST_WAIT_SHARE:.0%} of the run",
        "start and end of a short kernel are idle on all engines",
        engine_waits,
        "all of it: an upper bound",
        "Look at what the named instructions wait for: order loads before their use, double-buffer tiles, split work "
        "so that engines overlap.",
    ),
    Rule(
        "neff-per-operator",
        "NEFFs of the simulated device",
        f"at least {FEWEST_NEFFS} per step, whose fixed cost is {LEAST_NEFF_SHARE:.0%} of the time in NEFFs",
        "in eager mode every operator is a NEFF of its own",
        neff_per_operator,
        "the fixed cost of all NEFFs, as the simulation assumes it: one graph pays it once",
        "Compile the step as one graph: torch.compile with the Neuron backend, or torch_neuronx.trace.",
        is_simulated=True,
    ),
)
