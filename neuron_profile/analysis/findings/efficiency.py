"""Device work that is slower than the device allows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import pandas as pd

from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.rule import Evidence, Rule
from neuron_profile.analysis.roofline import roofline
from neuron_profile.analysis.roofline.devices import devices_of
from trace_format import number_text as text

LEAST_SHARE = 0.15
LOW = 0.4
REACHABLE = 0.7
# A kernel as short as this is as long as its launch and its ramp-up, whatever the peaks allow.
SHORTEST_NS = 20_000
NAMED = 3

_WIDE_TYPES: Final = frozenset({"fp64", "fp32", "tf32"})
_FUSED_ATTENTION: Final = re.compile(r".*(?:scaled_dot_product|flash_att|efficient_attention|flash_fwd)")
_PRODUCT: Final = re.compile(r"aten::(?:mm|bmm|addmm|baddbmm|matmul|linear|_scaled_mm|addmv|mv)\b")
_CONVOLUTION: Final = re.compile(r".*convolution")
_SOFTMAX: Final = re.compile(r"aten::_?(?:safe_)?softmax\b")


def low_utilisation(context: Context) -> Evidence | None:
    if not context.on_device or context.device.total is not None:
        return None
    if not any(devices_of(context.trace).peaks):
        return None
    frame = roofline(context.trace)
    whole_ns = float(frame.attrs["time_ns"])
    is_known = (frame["kind"] == "operator") & (frame["efficiency_ratio"] > 0) & (frame["bytes_source"] != "generic")
    is_long = frame["time_ns"] >= SHORTEST_NS * frame["count"]
    low = frame[is_known & is_long & (frame["efficiency_ratio"] < LOW)].copy()
    if not len(low) or not whole_ns:
        return None
    low["saved_ns"] = low["time_ns"] * (1 - low["efficiency_ratio"] / REACHABLE)
    low = low.sort_values("saved_ns", ascending=False)
    computing = context.cost(context.part("compute_ns"))
    saved = float(low["saved_ns"].sum()) / whole_ns
    cost = replace(
        computing, per_step_ns=round(computing.per_step_ns * saved), share_ratio=computing.share_ratio * saved
    )  # fmt: skip
    if cost.share_ratio < LEAST_SHARE:
        return None
    mean = float((low["time_ns"] * low["efficiency_ratio"]).sum() / low["time_ns"].sum())
    lines = [
        (f"operators that are {text.ratio(float(low['time_ns'].sum()) / whole_ns)} of the device's time reach "
        f"{text.ratio(mean)} of what it allows ({low['peak_source'].iloc[0]})"),
    ]  # fmt: skip
    named = low.head(NAMED)
    lines += [
        f"{text.shortened(row['op'], 60)}: {text.ratio(row['efficiency_ratio'])} of the {row['bound']} peak, "
        f"{text.ratio(row['time_ns'] / whole_ns)} of the time"
        for row in named.to_dict("records")
    ]
    first = text.shortened(str(named["op"].iloc[0]).split(" ")[0], 60)
    title = f"Operators use little of the device, {first} most of all: {cost.text} could go"
    slices = tuple(int(row) for row in named["slice"] if row >= 0)
    return Evidence(title, cost, tuple(lines), slices, advice=_advice(named))


def _advice(named: pd.DataFrame) -> str:
    """What to try for these operators, by their types, what bounds them, and what they are."""
    ops, is_memory = named["op"].astype(str), named["bound"] == "memory"
    attention, product, convolution, softmax = (
        ops.str.match(kind) for kind in (_FUSED_ATTENTION, _PRODUCT, _CONVOLUTION, _SOFTMAX)
    )
    is_written_out = bool(softmax.any()) and bool((product & is_memory).any())
    other = is_memory & ~attention & ~product & ~convolution & ~softmax
    tries = []
    if named["dtype"].isin(_WIDE_TYPES).any():
        tries.append("compute in bfloat16 (torch.autocast)")
    if is_written_out:
        tries.append("use scaled_dot_product_attention instead of bmm and softmax: it keeps the scores out of memory")
    elif softmax.any():
        tries.append("fuse the softmax with what is around it (torch.compile)")
    if attention.any():
        tries.append(
            "compare the kernels of attention (torch.nn.attention.sdpa_kernel), give it larger batches or longer "
            "sequences at once, and no mask that is_causal can say"
        )
    if (product & ~is_memory).any():
        tries.append(
            "give products more rows at once and sizes that are multiples of 64 (torch.compile(mode='max-autotune') "
            "looks for a better kernel)"
        )
    if (product & is_memory).any() and not is_written_out:
        tries.append("give products more rows at once: as they are, they read more than they compute")
    if convolution.any():
        tries.append("use channels_last for convolutions")
    if other.any():
        tries.append("fuse operators that only move data with their neighbours (torch.compile)")
    said = "; ".join(tries)
    return f"{said[:1].upper()}{said[1:]}." if said else ""


RULES = (
    Rule(
        "low-utilisation",
        "roofline: operators of a device with known FLOPs, bytes and peaks, whose kernels take "
        f"{SHORTEST_NS // 1000} µs or more",
        f"those below {LOW:.0%} of the roofline would return {LEAST_SHARE:.0%} of the median step",
        f"well-shaped work reaches about {REACHABLE:.0%}; bytes by the rule for unknown operators are not trusted",
        low_utilisation,
        f"what they would save at {REACHABLE:.0%} of the roofline, as a share of the device's time, of compute_ns",
        "Fuse (torch.compile), use larger batches and sizes that are multiples of 64.",
    ),
)
