"""The Hotspots page: which operations take the time."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import dash
import numpy as np
import pandas as pd
from dash import ClientsideFunction, Input, Output, State, dcc, html

from explorer_app import format as fmt
from explorer_app.web.grid import (
    category_column,
    copy_button,
    grid,
    lead_to_timeline,
    name_column,
    number_column,
    position,
    row_id,
    share_column,
    text_column,
    work_rows,
)
from explorer_app.web.links import slice_href
from explorer_app.web.message import banner
from explorer_app.web.names import in_sentence, named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.page import Page
from neuron_profile import analysis
from neuron_profile.analysis import slowest
from trace_format import Trace


class Grouping(NamedTuple):
    """What the rows stand for: in the switch and the heading of the column, and in the question."""

    heading: str
    plural: str


_GROUPINGS: Final = {
    "name": Grouping("Operation", "operations"),
    "category": Grouping("Category", "categories"),
    "op": Grouping("Operator and shapes", "operators and shapes"),
    "module": Grouping("Module", "modules"),
    "source": Grouping("Source line", "source lines"),
    "track": Grouping("Track", "tracks"),
}
_NO_CHOICE = "Click a row to select it, double-click to see its slowest call on the timeline."
_NOTHING: Final = "Nothing: this trace holds no work with a duration."
_TOTAL: Final = (
    "Sum of the durations. By operation and by category a call inside another of the same row counts as well; "
    "otherwise only the outer one does, so that time counts once on each track"
)


def layout(trace: Trace) -> Any:
    """The answer, the switch of what rows stand for, and the grid; the address says by what to group (`?by=module`)."""
    return html.Div(
        [
            dcc.Store(id="np-hotspots-grouping"),
            html.P(_answer(trace, "name"), id="np-hotspots-answer", className="np-answer"),
            html.Section(
                [
                    html.Div(
                        [
                            html.Nav(
                                _switch("name"), id="np-hotspots-by", className="np-switch",
                                **{"aria-label": "What a row stands for"},
                            ),
                            html.Div(_NO_CHOICE, id="np-hotspots-chosen", className="np-note np-chosen", role="status"),
                            copy_button("np-hotspots"),
                        ],
                        className="np-toolbar",
                    ),
                    html.Div(id="np-hotspots-why"),
                    grid("np-hotspots", _columns("name"), empty="Nothing here can be grouped this way.",
                         label="Operations by time"),
                ],
                className="np-card np-grid-card",
            ),
        ],
        className="np-column",
    )  # fmt: skip


def _switch(by: str) -> list[Any]:
    return [
        html.Span(
            dcc.Link(grouping.heading, href=PAGE.path if value == "name" else f"{PAGE.path}?by={value}"),
            **{"aria-current": "true"} if value == by else {},
        )
        for value, grouping in _GROUPINGS.items()
    ]  # fmt: skip


def _columns(by: str) -> list[dict[str, Any]]:
    return [
        name_column("name", _GROUPINGS[by].heading, flex=1, minWidth=220, cellClass="np-mono-cell"),
        category_column(width=118),
        text_column("side", "Side", width=84),
        number_column("self_ns", "Self", "duration", "ns", width=100),
        share_column("share_ratio", "Share of side", width=168),
        number_column("total_ns", "Total", "duration", "ns", about=_TOTAL, width=100),
        number_column("count", "Calls", "count", width=92),
        number_column("mean_ns", "Mean", "duration", "ns", width=96),
        number_column("max_ns", "Max", "duration", "ns", width=96),
    ]


def register_callbacks(app: dash.Dash, trace: Trace) -> None:
    """Group as the address says, fill the grid, and lead from a row to its slowest slice."""
    app.clientside_callback(
        ClientsideFunction("np", "grouping"),
        Output("np-hotspots-grouping", "data"),
        Input("np-url", "search"),
        State("np-url", "pathname"),
    )

    @app.callback(
        Output("np-hotspots", "rowData"),
        Output("np-hotspots", "columnDefs"),
        Output("np-hotspots-why", "children"),
        Output("np-hotspots-answer", "children"),
        Output("np-hotspots-by", "children"),
        Output("np-question", "children"),
        Input("np-hotspots-grouping", "data"),
    )
    def fill(asked: Any) -> tuple[Any, ...]:
        by = asked if isinstance(asked, str) and asked in _GROUPINGS else "name"
        why = once(analysis.hotspots, trace, by=by).attrs.get("why")
        return (
            hotspot_rows(trace, by), _columns(by), banner(why) if why else None, _answer(trace, by), _switch(by),
            f"Which {_GROUPINGS[by].plural} take the time?",
        )  # fmt: skip

    @app.callback(Output("np-hotspots-chosen", "children"), Input("np-hotspots", "selectedRows"))
    def tell(chosen: Any) -> Any:
        row = _row(trace, row_id(chosen[0], "id")) if isinstance(chosen, list) and chosen else None
        if row is None:
            return _NO_CHOICE
        href = slice_href(trace, _slowest(trace, row))
        link = dcc.Link("Slowest call on the timeline", href=href) if href else "no call of it finished"
        return [html.B(named(row.name), title=tooltip(row.name)), html.Span(f"{fmt.duration(row.self_ns)} self"), link]

    def find(chosen: str) -> int:
        row = _row(trace, chosen)
        return -1 if row is None else _slowest(trace, row)

    lead_to_timeline(app, trace, "np-hotspots", find)


class _Row(NamedTuple):
    """What leads from a row of the grid to its slices."""

    by: str
    name: str
    category: str
    side: str
    self_ns: int | None


def hotspot_rows(trace: Trace, by: str) -> list[dict[str, Any]]:
    """The rows of `analysis.hotspots` for the grid, with their side; an id is the grouping and the position."""
    frame = once(analysis.hotspots, trace, by=by)
    numbers = range(len(frame))
    return work_rows(
        frame.assign(
            id=[f"{by}:{number}" for number in numbers],
            side=[_side(number, frame) for number in numbers],
        )
    )


def _side(number: int, frame: pd.DataFrame) -> str:
    return "device" if number < frame.attrs["device_rows"] else "host"


def _row(trace: Trace, chosen: str) -> _Row | None:
    """The row that an id names, None where it names none."""
    by, _, number_text = chosen.partition(":")
    if by not in _GROUPINGS:
        return None
    frame = once(analysis.hotspots, trace, by=by)
    number = position(number_text, len(frame))
    if number < 0:
        return None
    found = frame.iloc[number]
    return _Row(by, found["name"], found["category"], _side(number, frame), _self_ns(found))


def _slowest(trace: Trace, row: _Row) -> int:
    category = row.category if row.by in ("name", "op") else None
    return once(slowest, trace, name=row.name, by=row.by, side=row.side, category=category)


def _self_ns(row: Any) -> int | None:
    """The self time of a row, None where none of its slices finished."""
    return None if row["max_ns"] < 0 else int(row["self_ns"])


def _answer(trace: Trace, by: str) -> Any:
    frame = once(analysis.hotspots, trace, by=by)
    if frame.empty:
        if "why" in frame.attrs:
            return f"Unknown: this trace does not tell its {_GROUPINGS[by].plural}."
        return _NOTHING
    work = frame["category"] != "annotation"  # which is no work, and has no share of it
    on_device = np.arange(len(frame)) < frame.attrs["device_rows"]
    words: list[Any] = []
    for side, rows in (("device", frame[work & on_device]), ("host", frame[work & ~on_device])):
        if rows.empty:
            continue
        row = rows.iloc[0]
        if _self_ns(row) is None:
            words.append(f"No slice on the {side} finished, so how long they took is unknown. ")
            continue
        words += [
            f"On the {side}: ",
            in_sentence(row["name"]),
            f", {fmt.duration(row['self_ns'])} of its own, {fmt.ratio(row['share_ratio'])} of the {side}'s time. ",
        ]
    return words or _NOTHING


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
