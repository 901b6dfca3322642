"""The card with the roofline: what each operator does for each byte, how fast, and how fast it could be."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd
from dash import html

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.chart import chart, plain
from explorer_app.web.links import slice_href
from explorer_app.web.message import empty
from explorer_app.web.names import named
from explorer_app.web.numbers import once
from explorer_app.web.theme import category_color
from explorer_app.web.view import View
from neuron_profile import analysis

MOST_POINTS: Final = 400
_MOST_ROOFS: Final = 4
_HEIGHT_PX: Final = 360
_SMALLEST_PX, _LARGEST_PX = 5, 32  # the diameter of a point
_ROOM: Final = 2  # the axes reach so many times further than what is on them
_FEW_POWERS: Final = 3  # powers of ten on an axis that has ticks between them, too
_LONGEST_NAME: Final = 90
_BOUNDS: Final = (
    ("memory", "bound by memory", category_color("dma")),
    ("compute", "bound by compute", category_color("compute")),
    ("", "peak unknown", category_color("other")),
)
_ESTIMATED: Final = ("formula", "generic")
_NO_WORK: Final = (
    "No operator here tells both its FLOPs and its bytes. Record with record_shapes=True (and with_flops=True), or "
    "open a device profile of a Neuron core."
)


def roofline_card(view: View) -> Any:
    """What bounds the operators in words, the chart, and what is not in it."""
    frame = once(analysis.roofline, view.trace)
    placed = frame[(frame["flops"] > 0) & (frame["bytes"] > 0) & (frame["time_ns"] > 0)]
    if placed.empty:
        why = [html.P(_untold(frame), className="np-dim")] if len(frame) else []
        return card("Roofline", empty("No operator has a place on it", _NO_WORK), *why)
    drawn = placed.head(MOST_POINTS)
    note = f"the {fmt.count(len(drawn))} longest of {fmt.count(len(placed))}" if len(drawn) < len(placed) else ""
    return card(
        "Roofline", html.P(bound_in_words(frame)), _chart(view, drawn), html.P(_untold(frame), className="np-dim"),
        note=note or "size: time; click: show on the timeline",
    )  # fmt: skip


def bound_in_words(frame: pd.DataFrame) -> str:
    """What share of the time of all operators is bound by what."""
    whole = frame["time_ns"].sum()
    shares = {name: frame["time_ns"][frame["bound"] == name].sum() / whole if whole else np.nan for name, *_ in _BOUNDS}
    if not frame["bound"].any():
        return "What bounds the operators is unknown: no peak of their device is known."
    what = "programs" if (frame["kind"] == "execution").all() else "operators"
    words = (
        f"{fmt.ratio(shares['memory'])} of the time of {what} is bound by memory, {fmt.ratio(shares['compute'])} by "
        "compute"
    )
    return f"{words}; of {fmt.ratio(shares[''])} it is unknown." if shares[""] > 0 else f"{words}."


def _untold(frame: pd.DataFrame) -> str:
    """What the chart leaves out and how much of it is an estimate."""
    attrs, whole = frame.attrs, frame["time_ns"].sum()
    flops, nbytes = (fmt.ratio(attrs[f"{name}_coverage_ratio"]) for name in ("flops", "bytes"))
    words = [f"FLOPs are known of {flops} of the time, bytes of {nbytes}."]
    estimated = frame["time_ns"][frame["bytes_source"].isin(_ESTIMATED)].sum()
    if estimated:
        words.append(f"est.: bytes of {fmt.ratio(estimated / whole)} of it follow from shapes, each moved once.")
    nothing = frame["time_ns"][(frame["flops"] == 0) & (frame["bytes"] > 0)].sum()
    if nothing:
        words.append(f"Operators without FLOPs ({fmt.ratio(nothing / whole)} of the time) have no place here.")
    if attrs["unplaced_flops"] > 0:
        words.append(f"{fmt.flops(attrs['unplaced_flops'])} belong to work that was not recorded.")
    return " ".join(words)


def _chart(view: View, placed: pd.DataFrame) -> html.Div:
    intensity, rate = placed["arithmetic_intensity"], placed["flops_per_s"]
    roofs = _roofs(placed)
    ridges = [peak / memory for _, peak, memory, _ in roofs if peak == peak]
    low = min(float(intensity.min()), *ridges, np.inf) / _ROOM
    high = max(float(intensity.max()), *ridges, 0.0) * _ROOM
    tops = [peak if peak == peak else high * memory for _, peak, memory, _ in roofs]
    data = [_roof(roof, low, high) for roof in roofs]
    data += [
        _points(view, placed[placed["bound"] == name], said, color, float(placed["time_ns"].max()))
        for name, said, color in _BOUNDS
        if (placed["bound"] == name).any()
    ]
    bottom, top = float(rate.min()) / _ROOM, max([float(rate.max()), *tops]) * _ROOM
    layout = {
        "hovermode": "closest", "showlegend": True, "legend": {"x": 1, "xanchor": "right", "y": 1.02},
        "xaxis": {**_log_axis(low, high, lambda value: f"{value:g}"),
                  "title": {"text": "FLOP for each byte moved"}},
        "yaxis": {**_log_axis(bottom, top, fmt.flop_rate), "title": {"text": "achieved"}},
    }  # fmt: skip
    label = "Roofline: FLOP per second of each operator over its FLOP per byte, below what the peaks allow"
    return chart("roofline", {"data": data, "layout": layout}, height_px=_HEIGHT_PX, window_ratio=0.4, label=label)


def _roofs(placed: pd.DataFrame) -> list[tuple[str, float, float, str]]:
    """The peaks used, most time first: type, FLOP/s (NaN: unknown), bytes/s, source."""
    known = placed[placed["peak_bytes_per_s"].notna()]
    columns = ["dtype", "peak_flops_per_s", "peak_bytes_per_s", "peak_source"]
    if known["peak_flops_per_s"].notna().any():  # the memory's slope alone is part of every other roof
        known = known[known["peak_flops_per_s"].notna()]
    times = known.groupby(columns, dropna=False, sort=False)["time_ns"].sum()
    times = times.sort_values(ascending=False, kind="stable")
    return [(str(dtype), float(peak), float(memory), str(source))
            for dtype, peak, memory, source in times.index[:_MOST_ROOFS]]  # fmt: skip


def _roof(roof: tuple[str, float, float, str], low: float, high: float) -> dict[str, Any]:
    dtype, peak, memory, source = roof
    bend = min(peak / memory, high) if peak == peak else high
    said = f"{dtype} {fmt.flop_rate(peak)}" if peak == peak else "peak FLOP/s unknown"
    told = f"Peak of {plain(dtype or 'an unknown type')}: {fmt.flop_rate(peak)}; memory {fmt.bandwidth(memory)}"
    about = f"{told}<br>{plain(source)}"
    return {
        "type": "scatter", "mode": "lines+text", "x": [low, bend, high], "showlegend": False,
        "y": [low * memory, bend * memory, peak if peak == peak else high * memory],
        "text": [fmt.bandwidth(memory), "", plain(said)], "textposition": ["top right", "top center", "top left"],
        "textfont": {"size": 11, "color": "var(--np-warn)"}, "line": {"color": "var(--np-warn)", "width": 1.5},
        "customdata": [[about]] * 3, "hovertemplate": "%{customdata[0]}<extra></extra>", "cliponaxis": False,
    }  # fmt: skip


def _points(view: View, rows: pd.DataFrame, said: str, color: str, longest_ns: float) -> dict[str, Any]:
    size = _SMALLEST_PX + (_LARGEST_PX - _SMALLEST_PX) * np.sqrt(rows["time_ns"].to_numpy() / longest_ns)
    return {
        "type": "scatter", "mode": "markers", "name": said,
        "x": rows["arithmetic_intensity"].tolist(), "y": rows["flops_per_s"].tolist(),
        "marker": {"size": np.round(size, 1).tolist(), "color": f"{color} 60%", "line": {"color": color, "width": 1}},
        "customdata": [[_told(row), slice_href(view, int(row["slice"]))] for row in rows.to_dict("records")],
        "hovertemplate": "%{customdata[0]}<extra></extra>",
    }  # fmt: skip


def _told(row: dict[Any, Any]) -> str:
    nbytes = f"{fmt.size(row['bytes'])}{' est.' if row['bytes_source'] in _ESTIMATED else ''}"
    took = f"{fmt.duration(row['time_ns'])} in {fmt.counted(row['count'], 'call')}"
    lines = [
        f"<b>{plain(named(row['op'], longest=_LONGEST_NAME))}</b>",
        f"{took}, {fmt.ratio(row['share_ratio'])} of the time",
        f"{plain(row['dtype'] or 'type unknown')} on {plain(row['device'])}",
        f"{fmt.flop_rate(row['flops_per_s'])} at {row['arithmetic_intensity']:.3g} FLOP/B ({nbytes})",
        f"{fmt.ratio(row['efficiency_ratio'])} of what the peaks allow, bound by {row['bound']}"
        if row["bound"]
        else "its peak is not known",
    ]
    if row["note"]:
        lines.append(plain(row["note"]))
    return "<br>".join(lines)


def _log_axis(low: float, high: float, show: Any) -> dict[str, Any]:
    """A logarithmic axis with a tick at each power of ten, at every second or third where there are many."""
    first, last = float(np.log10(low)), float(np.log10(high))
    step = max(round((last - first) / 6), 1)
    between = (1, 2, 5) if last - first < _FEW_POWERS else (1,)
    powers = range(int(np.floor(first)), int(np.floor(last)) + 1, step)
    ticks = [value for power in powers for factor in between if low <= (value := factor * 10.0**power) <= high]
    return {
        "type": "log", "range": [first, last], "tickvals": ticks,
        "ticktext": [show(tick).replace(".00", "").replace(".0 ", " ") for tick in ticks], "zeroline": False,
    }  # fmt: skip
