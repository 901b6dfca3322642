"""Copies: to change a layout, and between host and device."""

from __future__ import annotations

import numpy as np

from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.rule import Evidence, Rule
from trace_format import CATEGORIES
from trace_format import number_text as text

Array = np.ndarray

LEAST_LAYOUT_SHARE = 0.15
LEAST_COPY_SHARE = 0.05
_MEMCPY, _MEMSET, _HOST_OP, _COMPUTE = (CATEGORIES.index(name) for name in ("memcpy", "memset", "host_op", "compute"))
_CONVERTS = r"aten::_to_copy\Z"
# cuDNN's and MIOpen's own changes of layout
_LAYOUT_KERNELS = r".*(?:nchwToNhwc|nhwcToNchw|NCHWtoNHWC|NHWCtoNCHW|batched_transpose)"


def layout_copies(context: Context) -> Evidence | None:
    if not len(context.rows):
        return None
    rows = _layout_rows_on_device(context) if context.on_device else _layout_rows_on_host(context)
    cost = context.cost(context.lengths_of(rows))
    if cost.share_ratio < LEAST_LAYOUT_SHARE:
        return None
    count = context.median_count(rows)
    names = ", ".join(
        f"{text.shortened(name, 60)} {text.duration(total)} in all" for name, _, total in context.counted_names(rows, 2)
    )
    copies = "1 copy" if count == 1 else f"{text.count(count)} copies"
    lines = (f"{copies}, {context.told(cost)}; conversions to another type are not among them", names)
    return Evidence(f"Copies that change a layout take {cost.text}", cost, lines, context.longest(rows))


def _layout_rows_on_host(context: Context) -> Array:
    """The copies on the host but those that convert to another type."""
    slices = context.trace.slices
    copies = context.named(r"aten::copy_\Z", context.host_ops)
    return copies[~_within(context, copies, context.named(_CONVERTS, context.host_ops), slices.parent)]


def _layout_rows_on_device(context: Context) -> Array:
    """Kernels that a copying operator launched, but for conversions, and kernels that say what they are."""
    slices = context.trace.slices
    kernels = context.device_work[slices.category[context.device_work] == _COMPUTE]
    launched = kernels[context.launched_by[kernels] >= 0]
    around = slices.parent[context.launched_by[launched]]
    own = context.launched_by[launched]
    around = np.where(slices.category[own] == _HOST_OP, own, around)
    launched, around = launched[around >= 0], around[around >= 0]
    copying = np.isin(around, context.named(r"aten::copy_\Z", context.host_ops))
    launched, around = launched[copying], around[copying]
    converts = _within(context, around, context.named(_CONVERTS, context.host_ops), slices.parent)
    return np.union1d(launched[~converts], context.named(_LAYOUT_KERNELS, kernels))


def _within(context: Context, rows: Array, outer: Array, parent: Array) -> Array:
    """Whether each row lies in one of the outer ones, directly or in an operator that does."""
    is_outer = np.zeros(len(context.trace.slices), bool)
    is_outer[outer] = True
    inside = np.zeros(len(rows), bool)
    at = rows
    for _ in range(3):  # aten::to, aten::_to_copy, aten::copy_
        at = np.where(at >= 0, parent[np.maximum(at, 0)], -1)
        inside |= (at >= 0) & is_outer[np.maximum(at, 0)]
    return inside


def exposed_copies(context: Context) -> Evidence | None:
    if not context.on_device:
        return None
    slices = context.trace.slices
    rows = context.device_work[np.isin(slices.category[context.device_work], (_MEMCPY, _MEMSET))]
    cost = context.cost(context.part("exposed_copy_ns")) if len(rows) else None
    if cost is None or cost.share_ratio < LEAST_COPY_SHARE:
        return None
    names = context.counted_names(rows)
    lines = [
        f"the device copies and does nothing else for {context.told(cost)}",
        "; ".join(f"{name}: {text.count(count)}, {text.duration(total)} in all" for name, count, total in names),
    ]
    known = rows[slices.bytes[rows] >= 0]
    if len(known):
        moved, took = int(slices.bytes[known].sum()), int(slices.dur_ns[known].sum())
        lines.append(f"{text.size(moved)} in {text.duration(took)}: {text.bandwidth(moved / max(took, 1) * 1e9)}")
    return Evidence(f"Copies that nothing hides take {cost.text}", cost, tuple(lines), context.longest(rows))


RULES = (
    Rule(
        "layout-copies",
        "aten::copy_ on a host alone; on a device kernels that it launched, and layout kernels of cuDNN and MIOpen; "
        "not copies inside aten::_to_copy, which convert to another type",
        f"at least {LEAST_LAYOUT_SHARE:.0%} of the median step",
        "some copies are needed, and a trace does not tell which",
        layout_copies,
        "all of them: an upper bound",
        "Follow .contiguous(), .clone(), transpose and permute to what needs them; keep one memory format throughout "
        "(channels_last), write into slices of a preallocated tensor.",
    ),
    Rule(
        "exposed-copies",
        "exposed_copy_ns of the breakdown: the device copies and neither computes nor communicates",
        f"at least {LEAST_COPY_SHARE:.0%} of the median step",
        "below that, other findings return more",
        exposed_copies,
        "all of it: copies on a stream of their own run beside the compute",
        "Copy from pinned memory with non_blocking=True, one batch ahead on a stream of its own; keep on the device "
        "what comes back in every step.",
    ),
)
