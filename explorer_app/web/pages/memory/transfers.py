"""The card with the sizes of transfers, and what the small ones cost."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
from dash import dcc, html

from explorer_app import format as fmt
from explorer_app.web import subject
from explorer_app.web.card import card
from explorer_app.web.chart import chart, plain, value_axis
from explorer_app.web.links import slice_href
from explorer_app.web.message import banner, empty
from explorer_app.web.names import named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.pages.memory.channels import channel_name
from explorer_app.web.table import table, with_title
from explorer_app.web.theme import category_color
from explorer_app.web.view import View
from neuron_profile import analysis

_HEIGHT_PX: Final = 220
_MOST_SMALL: Final = 4  # channels with a row of their own
_MOST_MAKERS: Final = 5
_MOST_SERIES: Final = 5
_COLORS: Final = tuple(map(category_color, ("memcpy", "compute", "collective", "compile", "host_op", "other")))
_NO_TRANSFERS: Final = "The trace holds no copies and no DMA packets with a size."
_NOTICEABLE: Final = 0.001  # of the time looked at
_WIDEST_BYTES: Final = 1 << 62


def transfers_card(view: View) -> Any:
    """How large transfers are, what the small ones would save at a useful size, and who makes them."""
    found = once(analysis.transfer_sizes, view.trace)
    if found.histogram.empty:
        return card("Sizes of transfers", empty("No transfers", _NO_TRANSFERS))
    small = found.small.to_dict("records")
    told = _small(small, found.small, subject.duration_ns(view.trace))
    body = [*told, _chart(found.histogram), *_makers(view, found.makers)]
    count = int(found.histogram["count"].sum())
    note = f"{fmt.counted(count, 'transfer')}, {fmt.size(int(found.histogram['bytes'].sum()))}"
    return card("Sizes of transfers", *body, note=note)


def _small(rows: list[dict[Any, Any]], frame: pd.DataFrame, whole_ns: int) -> list[Any]:
    """A warning for each channel that would save a noticeable time; where none would, a word on the first."""
    noticed = [row for row in rows if row["saved_active_ns"] >= _NOTICEABLE * whole_ns]
    if noticed or not rows:
        return [banner(*_told(row, frame)) for row in noticed[:_MOST_SMALL]]
    others = f" {fmt.counted(len(rows) - 1, 'channel')} more have small ones." if len(rows) > 1 else ""
    return [html.P([*_told(rows[0], frame), others], className="np-dim")]


def _told(row: dict[Any, Any], frame: pd.DataFrame) -> list[Any]:
    """What the small transfers of a channel cost."""
    saved_ns = row["saved_active_ns"]
    would = (
        f" Of the {fmt.duration(row['active_ns'])} in which one was under way, larger ones would save about "
        f"{fmt.duration(saved_ns)} (est.: the same bytes at {fmt.bandwidth(row['useful_bytes_per_s'])}, "
        f"{row['model']})."
        if saved_ns >= 0
        else " What larger ones would save is not known: no rate of larger ones is."
    )
    name = channel_name({**row, "side": "device"}, frame.assign(side="device"))
    said = (
        f"{fmt.count(row['count'])} transfers ({fmt.ratio(row['count_ratio'])}) are smaller than "
        f"{_binary(row['small_below_bytes'])}: they take {fmt.ratio(row['time_ratio'])} of the time for "
        f"{fmt.ratio(row['bytes_ratio'])} of the bytes."
    )
    return [html.B(f"Small transfers, {name}: "), said + would]


def _chart(histogram: pd.DataFrame) -> html.Div:
    key = ["rank", "device", "core", "direction", "queue"]
    sums = histogram.groupby(key, sort=False)["count"].sum().sort_values(ascending=False, kind="stable")
    first = min(int(size) for size in histogram["at_least_bytes"])
    last = max(int(size) for size in histogram["at_least_bytes"])
    bins = [0] * (first == 0) + [1 << bit for bit in range(max(first, 1).bit_length() - 1, last.bit_length())]
    of_channel = dict(list(histogram.groupby(key, sort=False)))
    data = []
    rest = [0] * len(bins)
    for number, channel in enumerate(sums.index):
        rows = of_channel[channel].set_index("at_least_bytes")
        counts = [int(rows["count"].get(size, 0)) for size in bins]
        if number >= _MOST_SERIES:
            rest = [a + b for a, b in zip(rest, counts, strict=True)]
            continue
        row: dict[Any, Any] = {**dict(zip(key, channel, strict=True)), "side": "device"}
        name = channel_name(row, histogram.assign(side="device"))
        told = [
            f"{name}, {_between(size)}: {fmt.counted(count, 'transfer')}, {fmt.size(rows['bytes'].get(size, 0))}, "
            f"{fmt.duration(rows['dur_ns'].get(size, 0))}"
            for size, count in zip(bins, counts, strict=True)
        ]
        data.append(_bars(name, bins, counts, told, _COLORS[number]))
    if any(rest):
        told = [f"others, {_between(size)}: {fmt.counted(n, 'transfer')}" for size, n in zip(bins, rest, strict=True)]
        data.append(_bars("others", bins, rest, told, _COLORS[-1]))
    highest = max(sum(bar["y"][place] for bar in data) for place in range(len(bins)))
    layout = {
        "barmode": "stack", "bargap": 0.1, "showlegend": True, "legend": {"x": 1, "xanchor": "right", "y": 1.02},
        "xaxis": {"type": "category", "title": {"text": "bytes, at least"}, "fixedrange": True},
        "yaxis": {**value_axis(highest, fmt.count), "title": {"text": "transfers"}},
    }  # fmt: skip
    label = "How many transfers there are of each size"
    return chart("transfers", {"data": data, "layout": layout}, height_px=_HEIGHT_PX, window_ratio=0.2, label=label)


def _bars(name: str, bins: list[int], counts: list[int], told: list[str], color: str) -> dict[str, Any]:
    return {
        "type": "bar", "name": plain(name), "x": [_binary(size) for size in bins], "y": counts,
        "customdata": [plain(text) for text in told], "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"color": color},
    }  # fmt: skip


def _between(size: int) -> str:
    below = 2 * size if size else 1
    return f"{_binary(size)} to below {_binary(below)}" if below < _WIDEST_BYTES else f"{_binary(size)} and more"


def _binary(size: int) -> str:
    """A power of two as people say it: "4 KiB"."""
    unit = max((size.bit_length() - 1) // 10, 0)
    return f"{size >> 10 * unit} {('B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB')[unit]}"


def _makers(view: View, makers: pd.DataFrame) -> list[Any]:
    if makers.empty:
        return []
    rows = [
        (
            dcc.Link(named(row["what"]), href=slice_href(view, int(row["slice"])),
                     title=f"{tooltip(row['what'])}\nShow the longest on the timeline"),
            channel_name({**row, "side": "device"}, makers.assign(side="device")),
            fmt.count(row["count"]),
            fmt.size(row["bytes"]),
            with_title(fmt.duration(row["dur_ns"]), fmt.exact(row["dur_ns"], "ns")),
        )
        for row in makers.head(_MOST_MAKERS).to_dict("records")
    ]  # fmt: skip
    columns = (("Who makes the small ones", "name"), ("Over", "text"), ("Transfers", "number"), ("Bytes", "number"),
               ("Time", "number"))  # fmt: skip
    return [table(columns, rows, label="Who makes the small transfers")]
