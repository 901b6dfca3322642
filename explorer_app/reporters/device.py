"""The metrics of Neuron devices as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from explorer_app import format as fmt
from explorer_app.metric_text import metric_text
from explorer_app.reporters.console import table
from explorer_app.reporters.visible import visible
from neuron_profile.analysis.neuron_device import DeviceMetrics, ExecutionMetrics

_ENGINES: Final = ("Tensor", "Vector", "Scalar", "GpSimd", "Sync")
_MOST: Final = 8  # executions, each on a line
_NS_PER_S: Final = 1e9


def report_device(metrics: DeviceMetrics, out: Console) -> None:
    """Write engines, DMA, and the utilisations with their peaks; then a line for each of several executions."""
    total = metrics.total
    if total is None:
        return
    values = total.values
    out.print()
    out.print(Text(visible(_title(total, len(metrics.executions))), style="bold italic"))
    out.print(table(out, ("engine", "active", "of the run", "waiting", "instructions", "sum"), _engines(values)))
    for label, value in _lines(values).items():
        out.print(Text(f"{label:<8}{visible(value)}"))
    if len(metrics.executions) > 1:
        out.print()
        shown = [_execution(execution) for execution in metrics.executions[:_MOST]]
        out.print(table(out, ("execution", "time", "Tensor", "DMA", "MFU", "HFU", "MBU"), shown))
        if len(metrics.executions) > _MOST:
            out.print(Text(f"and {fmt.count(len(metrics.executions) - _MOST)} more: --json has all"))
    for note in values["notes"]:
        out.print(Text(f"Note: {visible(note)}", style="dim"))


def _title(total: ExecutionMetrics, executions: int) -> str:
    values = total.values
    of = fmt.counted(executions, "execution") if executions > 1 else total.name
    cores = values.get("num_physical_cores")
    parts = [
        f"Neuron device: {of}", fmt.duration(values["total_time"] * _NS_PER_S),
        fmt.counted(cores, "physical core") if cores else "", str(values.get("instance_type", "")),
    ]  # fmt: skip
    return ", ".join(part for part in parts if part)


def _engines(values: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for engine in _ENGINES:
        key = f"{engine.lower()}_engine"
        names = ("active_time", "active_time_percent", "waiting_time", "instruction_count", "instruction_time")
        rows.append([engine, *(_shown(values, f"{key}_{name}") for name in names)])
    return rows


def _lines(values: Mapping[str, Any]) -> dict[str, str]:
    cores = values.get("num_physical_cores") or 1
    per_core = values.get("peak_flops_per_core")
    peak = f"{fmt.flop_rate(per_core * cores)} ({_source(values, 0)})" if per_core else "a peak that is not known"
    hbm = values.get("hbm_bytes_per_s")
    memory = f"{fmt.bandwidth(hbm)} ({_source(values, 1)})" if hbm else "a peak that is not known"
    moved = _sum(values, "static_dma_size", "software_dynamic_dma_size", "hardware_dynamic_dma_size")
    dma = f"active {_shown(values, 'dma_active_time')}, {_shown(values, 'dma_active_time_percent')} of the run"
    if moved is not None:
        dma += f"; {fmt.size(moved)} moved, {fmt.bandwidth(_rate(moved, values.get('dma_active_time')))} while active"
    return {
        "DMA": dma,
        "HBM": _hbm(values),
        "MFU": f"{_shown(values, 'mfu_estimated_percent')} of {peak}",
        "HFU": f"{_shown(values, 'hfu_estimated_percent')} of the same, transposes included",
        "MBU": f"{_shown(values, 'mbu_estimated_percent')} of {memory}",
        "Source": str(values["metrics_source"]),
    }


def _hbm(values: Mapping[str, Any]) -> str:
    sides = ("hbm_read_bytes", "hbm_write_bytes")
    if not any(side in values for side in sides):
        return fmt.UNKNOWN
    rate = fmt.bandwidth(_rate(_sum(values, *sides), values.get("total_time")))
    return f"{rate}; {_shown(values, sides[0])} read, {_shown(values, sides[1])} written"


def _source(values: Mapping[str, Any], number: int) -> str:
    """Where the peak of this number comes from: 0 Tensor, 1 HBM."""
    parts = str(values.get("peaks_source", "")).split("; ")
    return parts[number].partition(": ")[2] if number < len(parts) else "unknown source"


def _execution(execution: ExecutionMetrics) -> list[str]:
    numbers = (("rank ", execution.rank), ("nd", execution.device), ("nc", execution.core))
    where = " ".join(f"{what}{number}" for what, number in numbers if number >= 0)
    values = execution.values
    names = ("tensor_engine_active_time_percent", "dma_active_time_percent", "mfu_estimated_percent",
             "hfu_estimated_percent", "mbu_estimated_percent")  # fmt: skip
    called = " ".join(part for part in (execution.name, where, f"run {execution.index + 1}") if part)
    return [called, _shown(values, "total_time"), *(_shown(values, name) for name in names)]


def _shown(values: Mapping[str, Any], name: str) -> str:
    return metric_text(name, values[name]) if name in values else fmt.UNKNOWN


def _sum(values: Mapping[str, Any], *names: str) -> float | None:
    return sum(values[name] for name in names) if all(name in values for name in names) else None


def _rate(amount: float | None, seconds: float | None) -> float | None:
    return amount / seconds if amount is not None and seconds else None
