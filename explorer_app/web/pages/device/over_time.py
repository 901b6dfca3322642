"""The card that shows engines, DMA and throttling over the time of a run."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.chart import chart, value_axis
from explorer_app.web.message import empty
from explorer_app.web.numbers import once
from explorer_app.web.theme import category_color
from neuron_profile.analysis import neuron_device
from neuron_profile.analysis.neuron_device import OverTime, Run
from trace_format import Trace

_BINS: Final = 400
_ROW_PX: Final = 20
_CURVES_PX: Final = 140
_LIMIT_PX: Final = 56
_GAP_PX: Final = 36
_AROUND_PX: Final = 72
_PS_PER_NS: Final = 1000
CLASS_NAMES: Final = {
    "static": "static",
    "software_dynamic": "software dynamic",
    "hardware_dynamic": "hardware dynamic",
}
_CLASS_COLORS: Final = {
    "static": category_color("compile"), "software_dynamic": category_color("memcpy"),
    "hardware_dynamic": category_color("memset"),
}  # fmt: skip


def over_time_card(trace: Trace, run: Run, number: int) -> Any:
    """A strip for each engine, DMA throughput under it, and the limit of throttling, on one time axis."""
    found = once(_binned, trace, number=number)
    limits = neuron_device.throttle_limits(trace, run)
    if not found.active_ratio and not found.dma_bytes_per_s:
        nothing = empty("Nothing over time", "The profile of this run holds neither instructions nor DMA packets.")
        return card("Over time", nothing, area="time")
    factor, unit = fmt.time_unit(run.total_ps / _PS_PER_NS)
    panels: list[tuple[int, str, dict[str, Any], list[dict[str, Any]]]] = []
    if found.active_ratio:
        data, axis = _strips(found, factor)
        panels.append((_ROW_PX * len(found.active_ratio), "Engines at work", axis, [data]))
    if found.dma_bytes_per_s:
        curves, axis = _throughput(found, factor)
        panels.append((_CURVES_PX, "DMA throughput", axis, curves))
    if len(limits):
        curves, axis = _limit(limits, factor)
        panels.append((_LIMIT_PX, "Limit by throttling", axis, curves))
    end = int(found.edges_ps[-1]) / _PS_PER_NS / factor
    figure, height_px = _figure(panels, end, unit)
    label = "Over the time of the run: " + ", ".join(title.lower() for _, title, _, _ in panels)
    return card("Over time", chart("device", figure, height_px=height_px, window_ratio=0.3, label=label),
                note="drag to zoom, double-click to see all", area="time")  # fmt: skip


def _binned(trace: Trace, *, number: int) -> OverTime:
    return neuron_device.over_time(trace, once(neuron_device.runs_of, trace)[number], _BINS)


def _figure(panels: list[Any], end: float, unit: str) -> tuple[dict[str, Any], int]:
    """Panels one below the other on one time axis, and how high they are in all."""
    inner_px = sum(height for height, *_ in panels) + _GAP_PX * (len(panels) - 1)
    layout: dict[str, Any] = {
        "showlegend": True,
        "legend": {"x": 1, "xanchor": "right", "y": 1.02},
        "margin": {"t": 24},
        "hovermode": "closest",
        "xaxis": {
            "title": {"text": f"time since the run began ({unit})"}, "range": [0, end], "minallowed": 0,
            "maxallowed": end, "anchor": f"y{len(panels)}" if len(panels) > 1 else "y",
        },
        "annotations": [],
    }  # fmt: skip
    data, top = [], 1.0
    for number, (height, title, axis, drawn) in enumerate(panels):
        name = "y" if number == 0 else f"y{number + 1}"
        bottom = max(top - height / inner_px, 0.0)
        layout[name.replace("y", "yaxis")] = {"domain": [bottom, top], "fixedrange": True, **axis}
        layout["annotations"].append(
            {"text": f"<b>{title}</b>", "x": 0, "y": top, "xref": "paper", "yref": "paper", "showarrow": False,
             "xanchor": "left", "yanchor": "bottom", "font": {"size": 12}}
        )  # fmt: skip
        data += [{**trace, "xaxis": "x", "yaxis": name} for trace in drawn]
        top = bottom - _GAP_PX / inner_px
    return {"data": data, "layout": layout}, inner_px + _AROUND_PX


def _strips(found: OverTime, factor: int) -> tuple[dict[str, Any], dict[str, Any]]:
    names = [f"nc{core} {engine}" for core, engine in found.active_ratio]
    middles = (found.edges_ps[:-1] + found.edges_ps[1:]) / 2 / _PS_PER_NS / factor
    shares = [np.round(ratio, 4).tolist() for ratio in found.active_ratio.values()]
    heat = {
        "type": "heatmap", "x": middles.tolist(), "y": names, "z": shares, "zmin": 0, "zmax": 1,
        "colorscale": [[0, "var(--np-cat-compute) 6%"], [1, "var(--np-cat-compute)"]], "showscale": False, "ygap": 2,
        "customdata": [[fmt.ratio(value) for value in row] for row in shares],
        "hovertemplate": "%{y} at %{x:.3~f}: works %{customdata}<extra></extra>", "showlegend": False,
    }  # fmt: skip
    return heat, {"type": "category", "autorange": "reversed", "showgrid": False}


def _throughput(found: OverTime, factor: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    times = (found.edges_ps / _PS_PER_NS / factor).tolist()
    curves: list[dict[str, Any]] = []
    for name, rate in found.dma_bytes_per_s.items():
        color = _CLASS_COLORS[name]
        curves.append(
            {
                "type": "scatter", "mode": "lines", "name": f"{CLASS_NAMES[name]} DMA", "x": times,
                "y": [*rate.tolist(), 0.0], "stackgroup": "dma", "fillcolor": f"{color} 40%",
                "line": {"shape": "hv", "width": 1, "color": color},
                "customdata": [fmt.bandwidth(value) for value in [*rate.tolist(), 0.0]],
                "hovertemplate": f"{CLASS_NAMES[name]} DMA at %{{x:.3~f}}: %{{customdata}}<extra></extra>",
            }
        )  # fmt: skip
    return curves, value_axis(float(np.sum(list(found.dma_bytes_per_s.values()), axis=0).max()), fmt.bandwidth)


def _limit(limits: Any, factor: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    curves = []
    for core, rows in limits.groupby("core", sort=True):
        x: list[float | None] = []
        y: list[float | None] = []
        for start, dur, ratio in zip(rows["start_ns"], rows["dur_ns"], rows["limit_ratio"], strict=True):
            x += [start / factor, (start + dur) / factor, None]
            y += [ratio, ratio, None]
        curves.append(
            {
                "type": "scatter", "mode": "lines", "name": f"limit of nc{core}", "x": x, "y": y, "showlegend": False,
                "line": {"width": 3, "color": category_color("overhead")},
                "customdata": ["" if value is None else fmt.ratio(value) for value in y],
                "hovertemplate": f"nc{core} at most %{{customdata}} of its rate<extra></extra>",
            }
        )  # fmt: skip
    axis = {"range": [0, 1.1], "tickvals": [0, 0.5, 1], "ticktext": ["0", "50 %", "100 %"], "zeroline": False}
    return curves, axis
