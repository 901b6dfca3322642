"""The parts of the breakdown step by step, or of one step device by device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
from dash import html

from explorer_app import format as fmt
from explorer_app.web.breakdown_parts import part_color
from explorer_app.web.chart import chart, value_axis
from explorer_app.web.view import View
from neuron_profile.analysis.breakdown import busiest_steps

MOST_BARS: Final = 100  # of up to a dozen parts each, which plotly draws in a quarter of a second
_MOST_TICKS: Final = 12


def trend(view: View, frame: pd.DataFrame, names: Mapping[str, str]) -> html.Div | None:
    """A stacked bar for each step of the device that idles least; of one step for each device; None for a single bar.

    Of many steps each bar is the mean of a few that follow one another. A click looks at the time of a bar alone.
    """
    mine, whole = busiest_steps(frame), view.whole.time_range_ns
    by_step = len(mine) > 1
    if not by_step:
        mine = frame.iloc[:MOST_BARS]
    if len(mine) < 2 or whole is None:
        return None
    merged = -(-len(mine) // MOST_BARS)
    first = np.arange(0, len(mine), merged)
    last = np.minimum(first + merged, len(mine)) - 1
    start, end = (mine[name].to_numpy() - whole[0] for name in ("start_ns", "end_ns"))
    called = _steps_called(mine["step"].to_numpy(), first, last) if by_step else _devices_called(mine)
    spans = list(zip(start[first].tolist(), end[last].tolist(), strict=True))
    totals = _means(mine["total_ns"].to_numpy(), first, last)
    curves = [
        _curve(name, label, called, _means(mine[name].to_numpy(), first, last), totals, spans)
        for name, label in names.items()
        if mine[name].any()
    ]
    layout = {
        "barmode": "stack", "bargap": 0.15, "showlegend": False, "dragmode": False,
        "xaxis": {"type": "category", "showgrid": False, "nticks": _MOST_TICKS, "fixedrange": True},
        "yaxis": value_axis(float(totals.max()), fmt.duration),
    }  # fmt: skip
    of = f", each bar the mean of {merged} steps" if merged > 1 else ""
    what = "Step by step" if by_step else "Device by device"
    drawn = chart("breakdown-steps", {"data": curves, "layout": layout}, height_px=150, window_ratio=0.14,
                  label=f"{what}: the parts of the time{of}; the table has their sums")  # fmt: skip
    alone = "Click one to look at it alone, Esc for all." if by_step else "Click one to look at its time, Esc for all."
    said = html.P(f"{what}{of}. {alone}", className="np-note")
    return html.Div([said, html.Div(drawn, className="np-trend-chart")], className="np-trend", id="np-breakdown-steps")


def _steps_called(number: Any, first: Any, last: Any) -> list[str]:
    return [f"step {a}" if a == b else f"steps {a}–{b}" for a, b in zip(number[first], number[last], strict=True)]


def _devices_called(frame: pd.DataFrame) -> list[str]:
    """What each row is called by its rank and device, whichever tell it from the others."""
    several_ranks = frame["rank"].nunique() > 1
    several_devices = frame.groupby("rank")["device"].nunique().max() > 1
    return [
        " ".join([f"rank {rank}"] * several_ranks + [f"device {device}"] * (several_devices or not several_ranks))
        for rank, device in zip(frame["rank"], frame["device"], strict=True)
    ]


def _means(values: Any, first: Any, last: Any) -> Any:
    return np.add.reduceat(values.astype(float), first) / (last - first + 1)


def _curve(
    name: str, label: str, called: list[str], lengths: Any, totals: Any, spans: list[tuple[int, int]]
) -> dict[str, Any]:
    """One part in each bar; its data are the text of the tooltip and, for a click, the span from the trace's start."""
    texts = [
        f"<b>{bar}</b>, {fmt.duration(total)}<br>{label}: {fmt.duration(length)}, {fmt.ratio(length / total)}"
        if total
        else f"<b>{bar}</b>"
        for bar, length, total in zip(called, lengths.tolist(), totals.tolist(), strict=True)
    ]
    return {
        "type": "bar", "name": label, "x": called, "y": lengths.tolist(),
        "customdata": [[text, *span] for text, span in zip(texts, spans, strict=True)],
        "hovertemplate": "%{customdata[0]}<extra></extra>", "marker": {"color": part_color(name)},
    }  # fmt: skip
