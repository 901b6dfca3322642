"""The card that shows bandwidth over time against its peak, and the allocated memory below it on the same axis."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
from dash import html

from explorer_app import format as fmt
from explorer_app.web import subject
from explorer_app.web.card import card
from explorer_app.web.downsample import extremes
from explorer_app.web.message import empty
from explorer_app.web.names import label
from explorer_app.web.numbers import once
from explorer_app.web.pages.memory.channels import KEY, channel_name
from explorer_app.web.pages.memory.estimates import NO_BYTES
from explorer_app.web.pages.memory.holders import by_category, held_before
from explorer_app.web.recording_advice import advice
from explorer_app.web.theme import category_color
from explorer_app.web.time_panels import Curve, Limit, Panel, time_panels
from explorer_app.web.view import View
from neuron_profile import analysis
from trace_format import Trace

BINS: Final = 1000  # those of `bandwidth_summary`, whose highest rates are those of the curves
_TURNS: Final = 500  # of the allocated bytes
_MOST_CHANNELS: Final = 4  # in one panel
_LINKS: Final = ("host_to_device", "device_to_host", "peer")
_COLORS: Final = tuple(map(category_color, ("compute", "collective", "compile", "memcpy", "host_op")))
_DEVICE_COLORS: Final = tuple(map(category_color, ("compute", "collective", "memset", "compile", "memcpy")))


def time_card(view: View) -> Any:
    """Bandwidth by channel and allocated memory on one time axis; why where one is missing."""
    trace = view.trace
    moving, allocated, told = bandwidth_panels(trace), _allocated(trace), by_category(trace)
    missing = [
        (what, why)
        for has, what, why in (
            (moving, "No bytes moved", NO_BYTES),
            (allocated.curves, "No allocations", advice(trace, "allocations")),
        ) if not has
    ]  # fmt: skip
    # of a single device the parts show the whole, too
    memory = [told] if told.curves and len(allocated.curves) == 1 else [allocated, told]
    drawn = [panel for panel in (*moving, *memory) if panel.curves]
    if not drawn:
        return card("Bytes over time", *(empty(what, why) for what, why in missing))
    beside = [html.P(f"{what}: {why[0].lower()}{why[1:]}", className="np-dim") for what, why in missing]
    beside += held_before(trace)
    note = "drag to choose a range, double-click for all"
    return card("Bytes over time", time_panels("memory", drawn, view), *beside, note=note)


def bandwidth_panels(trace: Trace) -> list[Panel]:
    """Panels for the memory of the devices, their links and their DMA queues; for the host's if nothing else moves."""
    frame, summary = once(analysis.bandwidth, trace, bins=BINS, by="channel"), once(analysis.bandwidth_summary, trace)
    on_device, way = summary["side"] == "device", summary["direction"]
    groups = [
        ("Bytes per second in the device's memory", on_device & (way == "memory")),
        ("Bytes per second between host and device", on_device & way.isin(_LINKS)),
        ("Bytes per second by DMA queue", on_device & (way == "dma_queue")),
    ]
    if not on_device.any():
        groups = [("Bytes per second in the host's memory", way.isin(("memory", "unknown")))]
    panels: list[Panel] = []
    for title, chosen in groups:
        if chosen.any():
            first = sum(len(panel.curves) for panel in panels)
            panels.append(_panel(title, frame, summary, summary[chosen], first))
    return panels


def _panel(title: str, frame: pd.DataFrame, summary: pd.DataFrame, chosen: pd.DataFrame, first: int) -> Panel:
    """The channels with most bytes; the first has the color of number `first`."""
    most = chosen.sort_values("bytes", ascending=False, kind="stable").head(_MOST_CHANNELS)
    binned = dict(list(frame.groupby(KEY, sort=False)))
    curves = [
        _curve(channel_name(row, summary), binned[tuple(row[name] for name in KEY)], _COLORS[number % len(_COLORS)])
        for number, row in enumerate(most.to_dict("records"), first)
    ]
    if len(chosen) > len(most):
        title += f", the {len(most)} of {len(chosen)} channels with most"
    known = most[most["peak_bytes_per_s"].notna()].drop_duplicates("peak_bytes_per_s")
    limits = [
        Limit(float(peak), f"peak {fmt.bandwidth(peak)} ({label(source, longest=60)})")
        for peak, source in zip(known["peak_bytes_per_s"], known["peak_source"], strict=True)
    ]
    return Panel(title, fmt.bandwidth, curves, limits=limits)


def _curve(name: str, rows: pd.DataFrame, color: str) -> Curve:
    estimated = rows["estimated_ratio"].fillna(0)
    texts = [
        f"{name}: {fmt.bandwidth(rate)}{f', est. {fmt.ratio(part)}' if part > 0 else ''}"
        for rate, part in zip(rows["bytes_per_s"], estimated, strict=True)
    ]
    return Curve(
        name=f"{name}{' est.' if (estimated > 0).any() else ''}",
        times_ns=[*rows["start_ns"].tolist(), int(rows["end_ns"].iloc[-1])],
        values=[*rows["bytes_per_s"].tolist(), 0.0],
        texts=[*texts, f"{name}: {fmt.bandwidth(0)}"],
        color=color,
    )


def _allocated(trace: Trace) -> Panel:
    memory = once(analysis.memory_timeline, trace)
    end_ns = trace.time_range_ns[1] if trace.time_range_ns else 0
    curves = []
    devices: list[tuple[Any, pd.DataFrame]] = list(memory.groupby(["rank", "device"], sort=True))
    marked = _highest(devices) if len(devices) > len(_DEVICE_COLORS) or memory["rank"].nunique() > 1 else -1
    for number, ((rank, device), rows) in enumerate(devices):
        kept = rows.iloc[extremes(rows["ts_ns"].to_numpy(), rows["total_bytes"].to_numpy(), bins=_TURNS)]
        totals = kept["total_bytes"].tolist()
        totals.append(totals[-1])
        shown = subject.device(rank, device) or "an unnamed device"
        since = subject.since_the_start(memory.attrs["relative"], rank, device)
        curves.append(
            Curve(
                name=f"allocated on {shown}{since}",
                times_ns=[*kept["ts_ns"].tolist(), end_ns],
                values=totals,
                texts=[f"{shown}: {fmt.size(total)}{since} ({fmt.exact(total, 'bytes')})" for total in totals],
                color=_curve_color(number, device, marked),
                in_legend=marked < 0 or number == marked,
            )
        )
    title = "Allocated" if marked < 0 else "Allocated, one line for each rank and device; the highest peak is marked"
    return Panel(title, fmt.size, curves)


def _highest(devices: list[tuple[Any, pd.DataFrame]]) -> int:
    """Which of the devices has the highest peak; of several the one that came to it first."""
    at = [int(rows["total_bytes"].to_numpy().argmax()) for _, rows in devices]
    peaks = [
        (-int(rows["total_bytes"].iloc[row]), int(rows["ts_ns"].iloc[row]))
        for row, (_, rows) in zip(at, devices, strict=True)
    ]
    return min(range(len(peaks)), key=peaks.__getitem__)


def _curve_color(number: int, device: str, marked: int) -> str:
    """A colour for each device while there are enough; with several ranks one is marked among equals."""
    if marked >= 0:
        return "var(--np-accent)" if number == marked else "var(--np-dim)"
    return category_color("host_op") if device == "cpu" else _DEVICE_COLORS[number % len(_DEVICE_COLORS)]
