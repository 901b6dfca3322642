"""Strips over time: rows whose colour says how busy something is, and other panels below them on the same axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from dash import html

from explorer_app import format as fmt
from explorer_app.web.chart import chart, plain
from explorer_app.web.time_axis import TimeAxis

Array = np.ndarray

_ROW_PX: Final = 18
_GAP_PX: Final = 34
_AROUND_PX: Final = 72
_PALEST: Final = 5  # the opacity of nothing, in %
_FULL: Final = 0.5  # from here on a strip's darkest colour is all of the time
_LONGEST_NAME: Final = 28


@dataclass(frozen=True)
class Part:
    """One panel of the chart: how high it is, its heading, its value axis and what is drawn, as plotly's dicts."""

    height_px: int
    title: str
    axis: dict[str, Any]
    drawn: list[dict[str, Any]]


def strips(
    title: str,
    names: Sequence[str],
    ratios: Sequence[Array],
    edges: Array,
    *,
    color: str,
    said: str,
    largest: float = 1,
) -> Part:
    """A row for each name, of which `ratios` `(bins,)` say what share of each bin; `edges` are on the time axis.

    `said` is what it does in that share ("works"); `largest` has the full colour.
    """
    shown = [np.round(ratio, 6).tolist() for ratio in ratios]
    heat = {
        "type": "heatmap", "x": edges.tolist(), "y": list(range(len(names))), "z": shown, "zmin": 0, "zmax": largest,
        "colorscale": [[0, f"{color} {_PALEST}%"], [1, color]], "showscale": False, "ygap": 2, "showlegend": False,
        "customdata": [
            [f"{plain(name)} {said} {fmt.ratio(ratio)}" for ratio in row]
            for name, row in zip(names, shown, strict=True)
        ],
        "hovertemplate": "%{customdata} of the time at %{x:.6~g}<extra></extra>",
    }  # fmt: skip
    axis = {
        "range": [len(names) - 0.5, -0.5], "tickvals": list(range(len(names))), "showgrid": False, "zeroline": False,
        "ticktext": [plain(name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME - 1]}…") for name in names],
    }  # fmt: skip
    return Part(_ROW_PX * len(names), title, axis, [heat])


def full_color(ratios: Sequence[Array]) -> float:
    """The share that is to have the full colour: all of the time, or less where nothing comes near it."""
    largest = max((float(ratio.max(initial=0)) for ratio in ratios), default=0.0)
    if largest >= _FULL or largest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(largest))
    return float(next(power * step for step in (1, 2, 5, 10) if power * step >= largest))


def strips_legend(entries: Sequence[tuple[str, str]], *, largest: float = 1) -> html.Div:
    """What the colours of the strips mean: (what is done, colour), from none of the time to `largest`."""
    parts = [
        html.Span(
            [
                said, " 0 %",
                html.Span(className="np-scale", style={
                    "background": f"linear-gradient(to right, color-mix(in srgb, {color} {_PALEST}%, transparent), "
                    f"{color})"}),
                fmt.ratio(largest),
            ],
            className="np-category",
        )
        for said, color in entries
    ]  # fmt: skip
    return html.Div(parts, className="np-device-legend")


def time_strips(name: str, parts: Sequence[Part], axis: TimeAxis, *, about: str) -> html.Div:
    """The parts one below the other on one time axis. `name`: see `chart`; `about` says whose time it is."""
    inner_px = sum(part.height_px for part in parts) + _GAP_PX * (len(parts) - 1)
    layout: dict[str, Any] = {
        "showlegend": True,
        "legend": {"x": 1, "xanchor": "right", "y": 1.02},
        "margin": {"t": 24},
        "hovermode": "closest",
        "annotations": [],
        **axis.layout(_letter(len(parts) - 1)),
    }
    data, top = [], 1.0
    for number, part in enumerate(parts):
        letter = _letter(number)
        bottom = max(top - part.height_px / inner_px, 0.0)
        layout[letter.replace("y", "yaxis")] = {"domain": [bottom, top], "fixedrange": True, **part.axis}
        layout["annotations"].append(
            {"text": f"<b>{plain(part.title)}</b>", "x": 0, "y": top, "xref": "paper", "yref": "paper",
             "showarrow": False, "xanchor": "left", "yanchor": "bottom", "font": {"size": 12}}
        )  # fmt: skip
        data += [{**drawn, "xaxis": "x", "yaxis": letter} for drawn in part.drawn]
        top = bottom - _GAP_PX / inner_px
    label = f"{about}: " + ", ".join(part.title.lower() for part in parts)
    figure = {"data": data, "layout": layout}
    return chart(name, figure, height_px=inner_px + _AROUND_PX, window_ratio=0.2, label=label)


def _letter(number: int) -> str:
    return "y" if number == 0 else f"y{number + 1}"
