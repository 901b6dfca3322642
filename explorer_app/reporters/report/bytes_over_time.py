"""The section that shows how many bytes moved and how many were held, on the same time axis."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from explorer_app import format as fmt
from explorer_app.reporters.report.markup import Markup, element, shortened
from explorer_app.reporters.report.parts import mark, nothing, section
from explorer_app.reporters.report.plot import Plot, from_zero, over_time
from explorer_app.web.theme import category_color
from neuron_profile import analysis
from trace_format import Trace

_BINS: Final = 400
_HEIGHT: Final = 180
_KEY: Final = ["rank", "device", "core", "side", "direction", "queue"]
_MOST: Final = 5  # curves in one panel
_COLORS: Final = tuple(map(category_color, ("compute", "collective", "compile", "memcpy", "host_op")))
_LINKS: Final = ("host_to_device", "device_to_host", "peer")
_NO_BYTES: Final = "No bytes are known: they need recorded sizes, or shapes (record_shapes=True)."
_NO_MEMORY: Final = "Allocations were not recorded; profile_memory=True records them."


def bytes_over_time(trace: Trace) -> Markup:
    """A chart of bandwidth for the memory of devices, their links and queues (of a host alone its own), and one of
    allocated memory."""
    span = trace.time_range_ns
    if span is None:
        return section("Bytes over time", nothing("Nothing in this trace has a time."))
    drawn = [*_bandwidth(trace, span), *_memory(trace, span)]
    return section("Bytes over time", *drawn)


def _bandwidth(trace: Trace, span: tuple[int, int]) -> list[Markup]:
    summary = analysis.bandwidth_summary(trace)
    if summary.empty:
        return [element("h3", "Bandwidth"), nothing(_NO_BYTES)]
    frame = analysis.bandwidth(trace, bins=_BINS, by="channel")
    binned = dict(list(frame.groupby(_KEY, sort=False)))
    on_device, way = summary["side"] == "device", summary["direction"]
    groups = [
        ("Memory of the device", on_device & (way == "memory")),
        ("Between host and device", on_device & way.isin(_LINKS)),
        ("DMA queues", on_device & (way == "dma_queue")),
    ]
    if not on_device.any():
        groups = [("Memory of the host", way == "memory")]
    out: list[Markup] = []
    for title, chosen in groups:
        channels = summary[chosen].sort_values("bytes", ascending=False, kind="stable")
        if len(channels):
            out += _panel(title, channels, binned, span)
    return out


def _panel(
    title: str, channels: pd.DataFrame, binned: Mapping[Any, pd.DataFrame], span: tuple[int, int]
) -> list[Markup]:
    most = channels.head(_MOST)
    rows = {position: binned[tuple(row[name] for name in _KEY)] for position, row in enumerate(most.to_dict("records"))}
    peaks = most["peak_bytes_per_s"].dropna()
    highest = max(float(one["bytes_per_s"].max()) for one in rows.values())
    peak = float(peaks.max()) if len(peaks) else 0.0
    plot = Plot(over_time(*span, span[0]), from_zero(max(highest, peak), fmt.bandwidth), _HEIGHT, title)
    legend = []
    for position, row in enumerate(most.to_dict("records")):
        one, color = rows[position], _COLORS[position]
        edges = np.r_[one["start_ns"].to_numpy(), one["end_ns"].to_numpy()[-1:]] - span[0]
        name = _name(row, channels)
        said = f"{name}: {fmt.size(row['bytes'])}, {fmt.bandwidth(row['average_bytes_per_s'])} on average, at most "
        said += fmt.bandwidth(row["highest_bytes_per_s"])
        if row["estimated_ratio"] > 0:
            said += f"; est. from shapes: {fmt.ratio(row['estimated_ratio'])}"
        plot.steps(edges, one["bytes_per_s"].to_numpy(), color, title=said)
        legend.append(mark(said, color))
    if peak:
        source = most["peak_source"][most["peak_bytes_per_s"] == peak].iloc[0]
        ends = np.array([0, span[1] - span[0]])
        plot.line(ends, np.full(2, peak), "var(--np-text)", dashed=True, title=f"peak {fmt.bandwidth(peak)}")
        legend.append(mark(f"dashed: peak {fmt.bandwidth(peak)} ({source})", "var(--np-text)"))
    left = len(channels) - len(most)
    note = element("span", f"the {len(most)} of {len(channels)} with most", _class="note") if left else Markup()
    return [element("h3", title, note), element("div", *legend, _class="legend"), plot.svg()]


def _name(row: Mapping[Hashable, Any], channels: pd.DataFrame) -> str:
    where = [
        f"{word} {row[name]}"
        for word, name in (("rank", "rank"), ("device", "device"), ("core", "core"))
        if row[name] >= 0 and channels[name].nunique() > 1
    ]
    queue = f" {shortened(row['queue'], 40)}" if row["queue"] else ""
    return " ".join([*where, f"{row['direction'].replace('_', ' ')}{queue}"])


def _memory(trace: Trace, span: tuple[int, int]) -> list[Markup]:
    memory = analysis.memory_timeline(trace)
    if memory.empty:
        return [element("h3", "Memory"), nothing(_NO_MEMORY)]
    devices: list[tuple[Any, pd.DataFrame]] = sorted(
        memory.groupby(["rank", "device"], sort=True), key=lambda one: -int(one[1]["total_bytes"].max())
    )
    shown = devices[:_MOST]
    y = from_zero(float(memory["total_bytes"].max()), fmt.size)
    plot = Plot(over_time(*span, span[0]), y, _HEIGHT, "Allocated memory")
    legend = []
    for (key, rows), color in zip(shown, _COLORS, strict=False):
        edges, totals = _extremes(rows, span)
        rank, device = key
        name = f"rank {rank} {shortened(device, 40)}" if rank >= 0 else shortened(device, 40)
        relative = device in memory.attrs["relative"] or f"rank {rank} {device}" in memory.attrs["relative"]
        said = f"{name}: at most {fmt.size(int(rows['total_bytes'].max()))}"
        said += ", since the start of the trace" if relative else ""
        plot.steps(edges, totals, color, title=said)
        legend.append(mark(said, color))
    left = len(devices) - len(shown)
    note = element("span", f"the {len(shown)} of {len(devices)} devices with most", _class="note") if left else Markup()
    return [element("h3", "Allocated memory", note), element("div", *legend, _class="legend"), plot.svg()]


def _extremes(rows: pd.DataFrame, span: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """The edges and values of a line that keeps the highest total of each `_BINS`-th of the time."""
    ts_ns, total = rows["ts_ns"].to_numpy() - span[0], rows["total_bytes"].to_numpy()
    if len(rows) <= 2 * _BINS:
        return np.r_[ts_ns, span[1] - span[0]], total
    width = max(1, (span[1] - span[0]) // _BINS)
    cell = ts_ns // width
    first = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]])
    return np.r_[ts_ns[first], span[1] - span[0]], np.maximum.reduceat(total, first)
