"""The section that places operators between the peak of compute and that of memory."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from explorer_app import format as fmt
from explorer_app.reporters.report.markup import Markup, element, named, shortened
from explorer_app.reporters.report.parts import nothing, section, table
from explorer_app.reporters.report.plot import Plot, logarithmic
from explorer_app.web.theme import category_color
from neuron_profile import analysis
from trace_format import Trace

_MOST_POINTS, _MOST_ROWS = 60, 12
_HEIGHT: Final = 320
_LARGEST_DOT: Final = 14
_NOTHING: Final = (
    "No operator has a place: that takes its FLOPs and bytes, so recorded shapes (record_shapes=True) or a device's "
    "own counters."
)
_COLUMNS: Final = (
    ("Operator", "name"), ("Type", "text"), ("Time", "number"), ("FLOP/B", "number"), ("Done", "number"),
    ("Moved", "number"), ("Bound by", "text"), ("Of what is possible", "number"),
)  # fmt: skip


def roofline(trace: Trace) -> Markup:
    """A dot for each operator whose FLOPs and bytes are known, under the roofs of its device, and a table of them."""
    frame = analysis.roofline(trace)
    known = frame["flops_per_s"].gt(0) & frame["arithmetic_intensity"].gt(0)
    placed = frame[known].head(_MOST_POINTS)
    if placed.empty:
        return section("Roofline", nothing(_NOTHING))
    coverage = f"FLOPs known of {fmt.ratio(frame.attrs['flops_coverage_ratio'])} of the time, bytes of "
    coverage += fmt.ratio(frame.attrs["bytes_coverage_ratio"])
    rows = [
        (
            named(row["op"], 100), row["dtype"] or fmt.UNKNOWN, fmt.duration(row["time_ns"]),
            f"{row['arithmetic_intensity']:.3g}", fmt.flop_rate(row["flops_per_s"]), fmt.bandwidth(row["bytes_per_s"]),
            row["bound"] or fmt.UNKNOWN, fmt.ratio(row["efficiency_ratio"]),
        )
        for row in placed.head(_MOST_ROWS).to_dict("records")
    ]  # fmt: skip
    return section("Roofline", _chart(placed), table(_COLUMNS, rows, "Operators on the roofline"), note=coverage)


def _chart(placed: pd.DataFrame) -> Markup:
    intensity, done = placed["arithmetic_intensity"].to_numpy(), placed["flops_per_s"].to_numpy()
    roofs = placed.dropna(subset=["peak_flops_per_s", "peak_bytes_per_s"]).drop_duplicates(
        ["device", "peak_flops_per_s", "peak_bytes_per_s"]
    )
    ridges = (roofs["peak_flops_per_s"] / roofs["peak_bytes_per_s"]).to_numpy()
    x = logarithmic(float(intensity.min()), float(max(intensity.max(), *ridges, 0)), _plain, "FLOP per byte")
    y = logarithmic(
        float(done.min()),
        float(max(done.max(), roofs["peak_flops_per_s"].max() if len(roofs) else 0)),
        fmt.flop_rate,
        "",
    )
    plot = Plot(x, y, _HEIGHT, "Operators by FLOPs per byte and FLOPs per second")
    for row in roofs.to_dict("records"):
        _roof(plot, row)
    longest = float(placed["time_ns"].max()) or 1.0
    radius = np.maximum(np.sqrt(placed["time_ns"].to_numpy() / longest) * _LARGEST_DOT, 3)
    for bound, color in (("memory", "memcpy"), ("compute", "compute"), ("", "other")):
        mine = (placed["bound"] == bound).to_numpy()
        titles = [
            f"{shortened(row['op'])}: {fmt.duration(row['time_ns'])}, {fmt.flop_rate(row['flops_per_s'])}, "
            f"{fmt.bandwidth(row['bytes_per_s'])}"
            for row in placed[mine].to_dict("records")
        ]
        plot.dots(intensity[mine], done[mine], radius[mine], category_color(color), titles)
    return plot.svg()


def _roof(plot: Plot, row: dict[Any, Any]) -> None:
    peak, memory = row["peak_flops_per_s"], row["peak_bytes_per_s"]
    ridge = min(max(peak / memory, plot.x.low), plot.x.high)
    begin = min(max(plot.y.low / memory, plot.x.low), ridge)
    across = np.array([begin, ridge, plot.x.high])
    said = f"{row['dtype'] or 'peak'}: {fmt.flop_rate(peak)}, {fmt.bandwidth(memory)} ({row['peak_source']})"
    plot.line(across, np.minimum(across * memory, peak), "var(--np-dim)", title=said)
    right, up = float(plot.across(across[2:])[0]), float(plot.up(np.array([peak]))[0])
    plot.add(
        element("text", f"{row['dtype']} {fmt.flop_rate(peak)}", x=f"{right:.1f}", y=f"{up - 5:.1f}", text_anchor="end")
    )


def _plain(value: float) -> str:
    return f"{value:g}"
