"""The Hotspots page: which operations take the time."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import dash
import dash_mantine_components as dmc
import pandas as pd
from dash import Input, Output, dcc, html

from explorer_app import format as fmt
from explorer_app.web.grid import (
    category_column,
    copy_button,
    grid,
    lead_to_timeline,
    number_column,
    position,
    rows_of,
    share_column,
    text_column,
)
from explorer_app.web.links import slice_href
from explorer_app.web.message import banner
from explorer_app.web.numbers import once
from explorer_app.web.page import Page
from neuron_profile import analysis
from neuron_profile.analysis import slowest
from trace_format import Trace

_GROUPINGS: Final = {
    "name": "Operation", "category": "Category", "op": "Operator and shapes", "module": "Module",
    "source": "Source line", "track": "Track",
}  # fmt: skip
_NO_CHOICE = "Click a row to select it, double-click to see its slowest call on the timeline."


def layout(trace: Trace) -> Any:
    """The answer, the switch of what rows stand for, and the grid."""
    columns = [
        text_column("name", _GROUPINGS["name"], flex=1, minWidth=220, cellClass="np-mono-cell"),
        category_column(width=118),
        text_column("side", "Side", width=84),
        number_column("self_ns", "Self", "duration", "ns", width=100),
        share_column("share_ratio", "Share of side", width=168),
        number_column("total_ns", "Total", "duration", "ns", width=100),
        number_column("count", "Calls", "count", width=92),
        number_column("mean_ns", "Mean", "duration", "ns", width=96),
        number_column("max_ns", "Max", "duration", "ns", width=96),
    ]
    switch = dmc.SegmentedControl(
        id="np-hotspots-by",
        value="name",
        data=[{"value": value, "label": label} for value, label in _GROUPINGS.items()],
        size="xs",
        transitionDuration=0,
        className="np-switch",
        **{"aria-label": "What a row stands for"},
    )
    return html.Div(
        [
            html.P(_answer(trace), className="np-answer"),
            html.Section(
                [
                    html.Div(
                        [
                            switch,
                            html.Div(_NO_CHOICE, id="np-hotspots-chosen", className="np-note np-chosen", role="status"),
                            copy_button("np-hotspots"),
                        ],
                        className="np-toolbar",
                    ),
                    html.Div(id="np-hotspots-why"),
                    grid("np-hotspots", columns, empty="Nothing here can be grouped this way.",
                         label="Operations by time"),
                ],
                className="np-card np-grid-card",
            ),
        ],
        className="np-column",
    )  # fmt: skip


def register_callbacks(app: dash.Dash, trace: Trace) -> None:
    """Fill the grid, and lead from a row to its slowest slice."""

    @app.callback(
        Output("np-hotspots", "rowData"),
        Output("np-hotspots-why", "children"),
        Input("np-hotspots-by", "value"),
    )
    def fill(by: str) -> tuple[list[dict[str, Any]], Any]:
        if by not in _GROUPINGS:
            return [], None
        why = once(analysis.hotspots, trace, by=by).attrs.get("why")
        return hotspot_rows(trace, by), banner(why) if why else None

    @app.callback(Output("np-hotspots-chosen", "children"), Input("np-hotspots", "selectedRows"))
    def tell(chosen: list[dict[str, Any]] | None) -> Any:
        row = _row(trace, str(chosen[0]["id"])) if chosen else None
        if row is None:
            return _NO_CHOICE
        href = slice_href(trace, _slowest(trace, row))
        link = dcc.Link("Slowest call on the timeline", href=href) if href else "no call of it finished"
        return [html.B(row.name, title=row.name), html.Span(f"{fmt.duration(row.self_ns)} self"), link]

    def find(row_id: str) -> int:
        row = _row(trace, row_id)
        return -1 if row is None else _slowest(trace, row)

    lead_to_timeline(app, trace, "np-hotspots", find)


class _Row(NamedTuple):
    """What leads from a row of the grid to its slices."""

    by: str
    name: str
    category: str
    side: str
    self_ns: int


def hotspot_rows(trace: Trace, by: str) -> list[dict[str, Any]]:
    """The rows of `analysis.hotspots` for the grid, with their side; an id is the grouping and the position."""
    frame = once(analysis.hotspots, trace, by=by)
    numbers = range(len(frame))
    return rows_of(
        frame.assign(
            id=[f"{by}:{number}" for number in numbers],
            side=[_side(number, frame) for number in numbers],
        )
    )


def _side(number: int, frame: pd.DataFrame) -> str:
    return "device" if number < frame.attrs["device_rows"] else "host"


def _row(trace: Trace, row_id: str) -> _Row | None:
    """The row that an id names, None where it names none."""
    by, _, number_text = row_id.partition(":")
    if by not in _GROUPINGS:
        return None
    frame = once(analysis.hotspots, trace, by=by)
    number = position(number_text, len(frame))
    if number < 0:
        return None
    found = frame.iloc[number]
    return _Row(by, found["name"], found["category"], _side(number, frame), int(found["self_ns"]))


def _slowest(trace: Trace, row: _Row) -> int:
    category = row.category if row.by in ("name", "op") else None
    return once(slowest, trace, name=row.name, by=row.by, side=row.side, category=category)


def _answer(trace: Trace) -> str:
    frame = once(analysis.hotspots, trace, by="name")
    if frame.empty:
        return "Nothing: this trace holds no work with a duration."
    device_rows = frame.attrs["device_rows"]
    sides = [("device", 0)] if device_rows else []
    sides += [("host", device_rows)] if device_rows < len(frame) else []
    words = []
    for side, first in sides:
        row = frame.iloc[first]
        words.append(
            f"On the {side}: {row['name']}, {fmt.duration(row['self_ns'])} of its own, "
            f"{fmt.ratio(row['share_ratio'])} of the {side}'s time."
        )
    return " ".join(words)


PAGE = Page(
    path="/hotspots",
    name="Hotspots",
    question="Which operations take the time?",
    layout=layout,
    register_callbacks=register_callbacks,
    keys=(
        ("Click", "select a row"),
        ("Double click", "show its slowest call on the timeline"),
        ("Click a heading", "sort; with Ctrl by several columns"),
    ),
    fills_height=True,
)
