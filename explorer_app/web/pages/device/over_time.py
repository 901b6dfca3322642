"""The card that shows engines, DMA queues and throttling over the time of a run."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from explorer_app import format as fmt
from explorer_app.web import time_axis
from explorer_app.web.card import card
from explorer_app.web.chart import value_axis
from explorer_app.web.message import empty
from explorer_app.web.names import named
from explorer_app.web.numbers import once
from explorer_app.web.theme import category_color
from explorer_app.web.time_strips import Part, strips, strips_legend, time_strips
from explorer_app.web.view import View
from neuron_profile.analysis import neuron_device
from neuron_profile.analysis.neuron_device import OverTime, Run
from trace_format import Trace

_BINS: Final = 400
_MOST_QUEUES: Final = 10
_CURVES_PX: Final = 110
_LIMIT_PX: Final = 56
_PS_PER_NS: Final = 1000
_LONGEST_QUEUE: Final = 24
CLASS_NAMES: Final = {
    "static": "static",
    "software_dynamic": "software dynamic",
    "hardware_dynamic": "hardware dynamic",
}
_CLASS_COLORS: Final = {
    "static": category_color("compile"), "software_dynamic": category_color("memcpy"),
    "hardware_dynamic": category_color("memset"),
}  # fmt: skip
_WORKS, _WAITS, _MOVES = (category_color(name) for name in ("compute", "sync", "dma"))


def over_time_card(view: View, run: Run, number: int) -> Any:
    """Strips of what works, waits and moves, DMA throughput and the limit of throttling, on one time axis."""
    trace = view.whole
    found = once(_binned, trace, number=number)
    if not found.active_ratio and not found.dma_bytes_per_s:
        nothing = empty("Nothing over time", "The profile of this run holds neither instructions nor DMA packets.")
        return card("Over time", nothing, area="time")
    axis = time_axis.of_part(view, run.start_ns, int(found.edges_ps[-1]) / _PS_PER_NS, "time since the run began")
    edges = found.edges_ps / _PS_PER_NS / axis.unit_ns
    parts = [*_engines(found, edges), *_queues(found, edges)]
    if found.dma_bytes_per_s:
        parts.append(_throughput(found, edges))
    limits = neuron_device.throttle_limits(trace, run)
    if len(limits):
        parts.append(_limit(limits, axis.unit_ns))
    entries = [("works", _WORKS)] if found.active_ratio else []
    entries += [("waits", _WAITS)] if found.waiting_ratio else []
    entries += [("moves data", _MOVES)] if found.queue_ratio else []
    shown = time_strips("device", parts, axis, about="Over the time of the run")
    note = "drag to choose a range, double-click for all"
    return card("Over time", shown, strips_legend(entries), note=note, area="time")


def _binned(trace: Trace, *, number: int) -> OverTime:
    return neuron_device.over_time(trace, once(neuron_device.runs_of, trace)[number], _BINS)


def _engines(found: OverTime, edges: np.ndarray) -> list[Part]:
    rows = (
        ("Engines at work", found.active_ratio, _WORKS, "works"),
        ("Engines waiting for a semaphore or an event", found.waiting_ratio, _WAITS, "waits"),
    )
    return [
        strips(title, [f"nc{core} {engine}" for core, engine in of_engine], list(of_engine.values()), edges,
               color=color, said=said)
        for title, of_engine, color, said in rows if of_engine
    ]  # fmt: skip


def _queues(found: OverTime, edges: np.ndarray) -> list[Part]:
    if not found.queue_ratio:
        return []
    most = list(found.queue_ratio.items())[:_MOST_QUEUES]
    names = [
        f"nc{core} {named(queue, longest=_LONGEST_QUEUE)}" if core >= 0 else named(queue, longest=_LONGEST_QUEUE)
        for (core, queue), _ in most
    ]
    left = len(found.queue_ratio) - len(most)
    title = f"DMA queues, the {len(most)} with most bytes of {len(found.queue_ratio)}" if left else "DMA queues"
    return [strips(title, names, [ratio for _, ratio in most], edges, color=_MOVES, said="moves data")]


def _throughput(found: OverTime, edges: np.ndarray) -> Part:
    curves: list[dict[str, Any]] = []
    for name, rate in found.dma_bytes_per_s.items():
        color = _CLASS_COLORS[name]
        curves.append(
            {
                "type": "scatter", "mode": "lines", "name": f"{CLASS_NAMES[name]} DMA", "x": edges.tolist(),
                "y": [*rate.tolist(), 0.0], "stackgroup": "dma", "fillcolor": f"{color} 40%",
                "line": {"shape": "hv", "width": 1, "color": color},
                "customdata": [fmt.bandwidth(value) for value in [*rate.tolist(), 0.0]],
                "hovertemplate": f"{CLASS_NAMES[name]} DMA at %{{x:.6~g}}: %{{customdata}}<extra></extra>",
            }
        )  # fmt: skip
    highest = float(np.sum(list(found.dma_bytes_per_s.values()), axis=0).max())
    return Part(_CURVES_PX, "DMA throughput", value_axis(highest, fmt.bandwidth), curves)


def _limit(limits: pd.DataFrame, unit_ns: int) -> Part:
    """The limit of each core; in the colour of a warning while it is below 1."""
    curves = []
    for (core, limited), rows in limits.groupby(["core", limits["limit_ratio"] < 1], sort=True):
        x: list[float | None] = []
        y: list[float | None] = []
        told: list[str] = []
        for start, dur, ratio, state in zip(
            rows["start_ns"], rows["dur_ns"], rows["limit_ratio"], rows["state"], strict=True
        ):
            x += [start / unit_ns, (start + dur) / unit_ns, None]
            y += [ratio, ratio, None]
            told += [f"nc{core} at most {fmt.ratio(ratio)} of its rate for {fmt.duration(dur)}, throttle {state}"] * 3
        curves.append(
            {
                "type": "scatter", "mode": "lines", "name": f"limit of nc{core}", "x": x, "y": y, "showlegend": False,
                "line": {"width": 4, "color": "var(--np-warn)" if limited else category_color("overhead")},
                "customdata": told, "hovertemplate": "%{customdata}<extra></extra>",
            }
        )  # fmt: skip
    axis = {"range": [0, 1.1], "tickvals": [0, 0.5, 1], "ticktext": ["0", "50 %", "100 %"], "zeroline": False}
    return Part(_LIMIT_PX, "Limit by throttling", axis, curves)
