"""The rows of a system profile that are no events: how busy the CPUs were, and how much memory was in use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trace_format.builder import TraceBuilder
from trace_format.importers.neuron_system.tracks import HostTracks
from trace_format.importers.neuron_system.values import integer, number, text
from trace_format.limits import LATEST_NS

COUNTER_LISTS = ("cpu_util", "mem_usage", "device_mem_usage")
_ABOUT = ("timestamp", "duration", "instance_id", "cpu_id", "hbm_idx", "timestamp_unit", "process_id")
_PERCENT = ("util", "percent_usage")
_NAMES = {"util": "host_cpu_util", "usage": "host memory", "percent_usage": "host memory used"}


def add_usage(builder: TraceBuilder, tracks: HostTracks, section: str, rows: Sequence[dict[str, Any]]) -> None:
    """Add a counter for each number of each row of one of `COUNTER_LISTS`; a row without any is counted."""
    series: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
    for row in rows:
        ts_ns = integer(row.get("timestamp"))
        values = {key: value for key, given in row.items() if key not in _ABOUT
                  and (value := number(given)) is not None}  # fmt: skip
        if ts_ns is None or abs(ts_ns) > LATEST_NS or not values:
            builder.report.left_out[f"row of {section} without a time or a number"] += 1
            continue
        for key, value in values.items():
            series.setdefault((text(row.get("instance_id")), key, _of(section, row)), []).append((ts_ns, value))
    percents = {
        key: max(value for (_, k, _), points in series.items() if k == key for _, value in points) > 1
        for _, key, _ in series if key in _PERCENT
    }  # fmt: skip
    for (instance, key, of), points in series.items():
        scale = 0.01 if percents.get(key) else 1.0
        unit = "ratio" if key in _PERCENT else "bytes" if key.endswith("_bytes") or key == "usage" else ""
        name = _NAMES.get(key, key.removesuffix("_bytes").replace("_", " "))
        times, values_of = zip(*points, strict=True)
        builder["counters"].append(
            len(points),
            ts_ns=list(times),
            track=tracks.counter(instance, f"{of} {name}".strip(), unit),
            value=[value * scale for value in values_of],
        )


def _of(section: str, row: dict[str, Any]) -> str:
    """What a row is about: a CPU, a stack of HBM, the machine."""
    key, shown = {"cpu_util": ("cpu_id", "CPU"), "device_mem_usage": ("hbm_idx", "HBM")}.get(section, ("", ""))
    which = row.get(key)
    return "" if which is None else f"{shown} {which}"
