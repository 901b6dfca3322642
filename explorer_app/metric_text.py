"""AWS's device metrics as people read them: the name tells the unit."""

from __future__ import annotations

from typing import Any, Final

from explorer_app import format as fmt

_NS_PER_S: Final = 1e9
_FLOPS_PER_BYTE: Final = ("mm_arithmetic_intensity", "peak_flops_bandwidth_ratio")
_GROUPS: Final = (
    ("total_", "Run"), ("tensor_", "Tensor"), ("vector_", "Vector"), ("scalar_", "Scalar"), ("gpsimd_", "GpSimd"),
    ("sync_", "Sync"), ("matmul_", "Tensor"), ("activate_", "Scalar"), ("throttle_", "Throttling"), ("hbm_", "HBM"),
    ("mbu_", "HBM"), ("mfu_", "FLOPs"), ("hfu_", "FLOPs"), ("mm_", "FLOPs"), ("peak", "FLOPs"), ("cc_", "Collectives"),
    ("psum_", "On-chip memory"), ("sbuf_", "On-chip memory"), ("weight_size", "NEFF"), ("inputs_", "NEFF"),
)  # fmt: skip
GROUPS: Final = (
    "Run", "Tensor", "Vector", "Scalar", "GpSimd", "Sync", "DMA", "HBM", "FLOPs", "On-chip memory", "Throttling",
    "Collectives", "NEFF", "Other",
)  # fmt: skip


def group_of(name: str) -> str:
    """What a metric is about, one of `GROUPS`."""
    if "dma" in name or "queue" in name:
        return "DMA"
    if name.endswith("_flops"):
        return "FLOPs"
    if name in ("event_count", "trace_count", "neuroncore_cycle_count", "execution_count", "num_physical_cores"):
        return "Run"
    return next((group for prefix, group in _GROUPS if name.startswith(prefix)), "Other")


def metric_text(name: str, value: Any) -> str:
    """A metric for people: "36.4 µs", "41.7 %", "492 kB"; text as it is."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    if name in _FLOPS_PER_BYTE:
        return f"{value:.3g} FLOP/B"
    if name.endswith("_percent"):
        return fmt.ratio(value)
    if name.endswith("_time_ns"):
        return fmt.duration(value)
    if name.endswith("_time"):
        return fmt.duration(value * _NS_PER_S)
    if name.endswith("_bytes_per_s"):
        return fmt.bandwidth(value)
    if name.startswith("peak_flops"):
        return fmt.flop_rate(value)
    if name.endswith(("_bytes", "_size")):
        return fmt.size(value)
    return fmt.flops(value) if name.endswith("_flops") else fmt.count(value)


def exact_text(name: str, value: Any) -> str:
    """A metric with all its digits and AWS's unit, for tooltips and copies: "0.000036351609 s"."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return metric_text(name, value)
    if isinstance(value, int):
        return fmt.exact(value, _unit(name))
    return f"{value:.15g} {_unit(name)}".rstrip()


def _unit(name: str) -> str:
    for suffixes, unit in (
        (("_time_ns",), "ns"), (("_time",), "s"), (("_bytes_per_s",), "bytes/s"), (("_bytes", "_size"), "bytes"),
        (("_flops",), "FLOP"), (("_flops_per_core",), "FLOP/s"), (_FLOPS_PER_BYTE, "FLOP/byte"),
    ):  # fmt: skip
        if name.endswith(suffixes):
            return unit
    return ""
