"""The grid of collectives: a row for each operation, type, size and group."""

from __future__ import annotations

from typing import Any, Final

from dash import html

from explorer_app.web.card import card
from explorer_app.web.grid import (
    copy_button,
    grid,
    grid_height_px,
    name_column,
    number_column,
    rows_of,
    share_column,
    text_column,
)
from explorer_app.web.numbers import once
from neuron_profile import analysis
from trace_format import Trace

GRID: Final = "np-collectives"
_HEIGHT_PX: Final = 460
_MOST_ROWS: Final = 5000
_ALGBW: Final = "Message size over the median time of the rank that waited least"
_LINK: Final = "busbw over the rate of the link"
_BUSBW: Final = "algbw times the factor of nccl-tests: comparable with the rate of a link whatever the operation"


def every_card(trace: Trace) -> Any:
    """One row for each operation, element type, message size and group, most exposed first."""
    frame = once(analysis.collectives, trace)
    frame = frame.assign(number=range(len(frame)), category="collective").head(_MOST_ROWS)
    frame = frame.assign(
        message_bytes=frame["message_bytes"].where(frame["message_bytes"] >= 0),
        ranks=frame["ranks"].where(frame["ranks"] >= 0),
        dtype=frame["dtype"].where(frame["dtype"] != ""), id=frame["number"].astype(str),
    ).sort_values(["exposed_ns", "total_ns"], ascending=False, kind="stable", na_position="last")  # fmt: skip
    groups, linked = frame["group"].nunique(), frame["link_ratio"].notna().any()
    columns = [
        name_column("op", "Operation", flex=1, minWidth=120, cellClass="np-mono-cell"),
        text_column("dtype", "Type", width=84),
        number_column("message_bytes", "Size", "size", "B", width=88),
        *([name_column("group", "Group", width=80)] if groups > 1 else []),
        number_column("ranks", "Ranks", "count", width=68),
        number_column("count", "Count", "count", width=72),
        number_column("exposed_ns", "Exposed", "duration", "ns", about="With nothing computed meanwhile", width=88),
        share_column("overlap_ratio", "Under compute", width=164),
        number_column("median_ns", "Median", "duration", "ns", about="Waiting for other ranks included", width=88),
        number_column("p95_ns", "p95", "duration", "ns", width=88),
        number_column("wait_ns", "Waiting", "duration", "ns", about="For the last rank", width=88),
        number_column("algbw_bytes_per_s", "algbw", "bandwidth", "B/s", about=_ALGBW, width=88),
        number_column("busbw_bytes_per_s", "busbw", "bandwidth", "B/s", about=_BUSBW, width=88),
        *([number_column("link_ratio", "Of link", "ratio", about=_LINK, width=84)] if linked else []),
        number_column("outliers", "Outliers", "count", width=80,
                      about="Far above the median: by 5 standard deviations of its usual noise and 0.1 ms"),
    ]  # fmt: skip
    body = html.Div(
        grid(GRID, columns, rows=rows_of(frame), empty="No collectives.", label="Collectives by exposed time"),
        style={"height": f"min({grid_height_px(len(frame))}px, {_HEIGHT_PX}px)"},
    )
    return card("By operation, type and size", body, note=copy_button(GRID), flush=True)
