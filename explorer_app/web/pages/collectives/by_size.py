"""The charts of bandwidth by size, and of how long each collective took by operation and size."""

from __future__ import annotations

import math
import re
from typing import Any, Final

import numpy as np
import pandas as pd

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.chart import chart, plain, value_axis
from explorer_app.web.links import slice_href
from explorer_app.web.message import empty
from explorer_app.web.numbers import once
from explorer_app.web.pages.collectives.kinds import kind_text, op_colors
from explorer_app.web.view import View
from neuron_profile import analysis

_MOST_KINDS: Final = 7
_MOST_POINTS: Final = 300  # of a kind; evenly spaced by duration, so that the shortest and the longest stay
_SPREAD: Final = 0.3  # how far points of a kind stand apart, in kinds
_NO_RATE: Final = (
    "A bandwidth takes the size of the message and how long it took. Record with record_shapes=True, and on the device."
)


def scatter_card(view: View) -> Any:
    """The bus bandwidth of each kind by the size of its message, with the links' own rate where it is known."""
    frame = once(analysis.collectives, view.trace)
    shown = frame[(frame["busbw_bytes_per_s"] > 0) & (frame["message_bytes"] > 0)]
    title = "Bus bandwidth by message size"
    if shown.empty:
        return card(title, empty("No bandwidth", _NO_RATE))
    colors = op_colors(frame["op"].tolist())
    data: list[dict[str, Any]] = [
        {
            "type": "scatter", "mode": "markers", "name": plain(str(op)), "x": rows["message_bytes"].tolist(),
            "y": rows["busbw_bytes_per_s"].tolist(),
            "customdata": [[_told(row), slice_href(view, int(row["slice"]))] for row in rows.to_dict("records")],
            "hovertemplate": "%{customdata[0]}<extra></extra>", "marker": {"size": 10, "color": colors[str(op)]},
        }
        for op, rows in shown.groupby("op", sort=False)
    ]  # fmt: skip
    links = sorted({rate for rate in shown["link_bytes_per_s"].tolist() if not math.isnan(rate)})
    sizes = [int(shown["message_bytes"].min()), int(shown["message_bytes"].max())]
    ends = [sizes[0] / 2, sizes[1] * 2]
    data += [
        {
            "type": "scatter", "mode": "lines", "name": f"link, {fmt.bandwidth(rate)}", "x": ends, "y": [rate, rate],
            "line": {"color": "var(--np-dim)", "width": 1, "dash": "dash"}, "hoverinfo": "skip",
        }
        for rate in links
    ]  # fmt: skip
    largest = max([float(shown["busbw_bytes_per_s"].max()), *links])
    ticks = _size_ticks(*ends)
    layout = {
        "showlegend": True, "hovermode": "closest",
        "xaxis": {
            "type": "log", "title": {"text": "message size"}, "tickvals": ticks, "range": [math.log10(e) for e in ends],
            "ticktext": [re.sub(r"\.0+ ", " ", fmt.size(tick)) for tick in ticks], "fixedrange": True,
        },
        "yaxis": value_axis(largest, fmt.bandwidth),
    }  # fmt: skip
    note = "" if links else "the rate of the links is not known"
    label = "Bus bandwidth of each kind of collective by the size of its message"
    drawn = chart(
        "collectives-by-size", {"data": data, "layout": layout}, height_px=260, window_ratio=0.28, label=label
    )
    return card(title, drawn, note=note)


def strip_card(view: View) -> Any:
    """Each collective on each rank as a point, by operation and size, those that took longest in all first."""
    spans = once(analysis.collective_spans, view.trace)
    timed = spans[spans["dur_ns"] >= 0]
    title = "How long each took"
    if timed.empty:
        return card(title, empty("No durations", "Only the calls on the host were recorded, not the work itself."))
    kinds = timed.groupby(["op", "message_bytes"], sort=False)["dur_ns"].sum().nlargest(_MOST_KINDS).index.tolist()
    colors = op_colors(once(analysis.collectives, view.trace)["op"].tolist())
    by_kind = dict(iter(timed.groupby(["op", "message_bytes"], sort=False)))
    data = [_points(view, by_kind[op, size], place, colors[op]) for place, (op, size) in enumerate(kinds)]
    layout = {
        "showlegend": False, "hovermode": "closest",
        "xaxis": {
            "tickvals": list(range(len(kinds))), "ticktext": [_two_lines(op, size) for op, size in kinds],
            "range": [-0.6, len(kinds) - 0.4], "fixedrange": True, "showgrid": False, "tickangle": 0,
        },
        "yaxis": value_axis(float(timed["dur_ns"].max()), fmt.duration),
    }  # fmt: skip
    more = timed.groupby(["op", "message_bytes"]).ngroups - len(kinds)
    note = "a point: one collective on one rank" + (f"; {fmt.count(more)} kinds more are in the table" if more else "")
    label = "How long each collective took on each rank, by operation and size"
    drawn = chart(
        "collectives-durations", {"data": data, "layout": layout}, height_px=260, window_ratio=0.28, label=label
    )
    return card(title, drawn, note=note)


def _points(view: View, rows: pd.DataFrame, place: int, color: str) -> dict[str, Any]:
    rows = rows.sort_values("dur_ns", kind="stable")
    if len(rows) > _MOST_POINTS:
        rows = rows.iloc[np.unique(np.linspace(0, len(rows) - 1, _MOST_POINTS).round().astype(np.int64))]
    # a golden ratio's multiples fill an interval evenly in whatever order they are taken
    aside = (np.arange(len(rows)) * 0.618034) % 1 - 0.5
    texts = [
        f"{plain(kind_text(row['op'], row['message_bytes']))}<br>{fmt.duration(row['dur_ns'])} on rank {row['rank']}"
        for row in rows.to_dict("records")
    ]
    return {
        "type": "scatter", "mode": "markers", "x": (place + 2 * _SPREAD * aside).round(4).tolist(),
        "y": rows["dur_ns"].tolist(),
        "customdata": [[text, slice_href(view, row)] for text, row in zip(texts, rows["slice"].tolist(), strict=True)],
        "hovertemplate": "%{customdata[0]}<extra></extra>", "marker": {"size": 6, "color": f"{color} 60%"},
    }  # fmt: skip


def _told(row: dict[Any, Any]) -> str:
    words = (
        f"<b>{plain(kind_text(row['op'], row['message_bytes']))}</b><br>bus {fmt.bandwidth(row['busbw_bytes_per_s'])}, "
        f"algorithm {fmt.bandwidth(row['algbw_bytes_per_s'])}<br>"
        f"{fmt.counted(int(row['count']), 'time')}, median {fmt.duration(row['latency_ns'])} where least was waited"
    )
    return words if math.isnan(row["link_ratio"]) else f"{words}<br>{fmt.ratio(row['link_ratio'])} of the link"


def _two_lines(op: str, size: int) -> str:
    return f"{plain(op)}<br>{fmt.size(size) if size > 0 else 'no size' if size < 0 else 'nothing moved'}"


def _size_ticks(least: float, most: float) -> list[int]:
    """Powers of ten between two sizes, at most ten."""
    powers = range(math.ceil(math.log10(least)), math.floor(math.log10(most)) + 1)
    return [10**power for power in powers][:: max(1, len(powers) // 6)]
