"""The table under the timeline: what happened in the measured range."""

from __future__ import annotations

from typing import Any

import dash
import numpy as np
from dash import ClientsideFunction, Input, Output, State, html, no_update

from explorer_app import format as fmt
from explorer_app.web.grid import (
    category_column,
    copy_button,
    grid,
    name_column,
    number_column,
    position,
    row_id,
    share_column,
    work_rows,
)
from explorer_app.web.timeline.events import whole_number
from explorer_app.web.view import VIEW, Views
from neuron_profile import analysis
from trace_format import CATEGORIES, Trace

_MOST_ROWS = 1000
_GRID = "np-timeline-range-grid"


def range_card() -> html.Section:
    """The card, hidden until a range is measured."""
    columns = [
        name_column("name", "Operation", flex=1, minWidth=180, cellClass="np-mono-cell"),
        category_column(width=118),
        number_column("self_ns", "Self", "duration", "ns", width=92),
        share_column("share_ratio", "Share of side", width=160),
        number_column("total_ns", "Total", "duration", "ns", width=92),
        number_column("count", "Calls", "count", width=84),
        number_column("mean_ns", "Mean", "duration", "ns", width=88),
        number_column("max_ns", "Max", "duration", "ns", width=88),
    ]
    head = html.Div(
        [
            html.H2(id="np-timeline-range-title"),
            html.Div(id="np-timeline-range-note", className="np-note"),
            copy_button(_GRID),
        ],
        className="np-card-head",
    )
    table = grid(_GRID, columns, empty="No slice has any part in this range.", label="Operations in the range")
    return html.Section([head, table], id="np-timeline-range-card", className="np-card np-timeline-range", hidden=True)


def register_range_callbacks(app: dash.Dash, views: Views) -> None:
    """Fill the table when a range is measured. A click on a row shows its name on the canvas, a double click its
    longest slice."""

    @app.callback(
        Output("np-timeline-range-card", "hidden"),
        Output("np-timeline-range-title", "children"),
        Output("np-timeline-range-note", "children"),
        Output(_GRID, "rowData"),
        Input("np-timeline-range", "data"),
        VIEW,
        prevent_initial_call=True,
    )
    def sum_up(chosen: Any, asked: Any) -> tuple[bool, str, str, list[dict[str, Any]]]:
        trace = views.of(asked).whole
        found = _range(trace, chosen)
        if found is None:
            return True, "", "", []
        start_ns, end_ns = found
        work = analysis.range_summary(trace, start_ns, end_ns)
        offset_ns = start_ns - (trace.time_range_ns or (0, 0))[0]
        title = f"{fmt.duration(end_ns - start_ns)} from {fmt.duration(offset_ns)}"
        return False, title, _note(work), work_rows(work.head(_MOST_ROWS))

    @app.callback(
        Output("np-timeline-go", "data"),
        Input(_GRID, "cellDoubleClicked"),
        State("np-timeline-range", "data"),
        VIEW,
        prevent_initial_call=True,
    )
    def find_longest(clicked: Any, chosen: Any, asked: Any) -> Any:
        trace = views.of(asked).whole
        found = _range(trace, chosen)
        if found is None:
            return no_update
        work = analysis.range_summary(trace, *found)
        number = position(row_id(clicked, "rowId"), len(work))
        if number < 0:
            return no_update
        row = work.iloc[number]
        return {"id": longest_in_range(trace, row["name"], row["category"], *found)}

    app.clientside_callback(
        ClientsideFunction("npTimeline", "find"),
        Output("np-timeline-found", "data"),
        Input(_GRID, "selectedRows"),
        prevent_initial_call=True,
    )


def longest_in_range(trace: Trace, name: str, category: str, start_ns: int, end_ns: int) -> int:
    """The slice of this name and category that is longest inside [start_ns, end_ns); -1 for none."""
    slices = trace.slices
    rows = np.flatnonzero(
        (slices.name == trace.pool.strings.find(name))
        & (slices.category == CATEGORIES.index(category))
        & (slices.ts_ns < end_ns)
        & (slices.ts_ns + np.maximum(slices.dur_ns, 0) >= start_ns)
    )
    if not len(rows):
        return -1
    stops = np.minimum(slices.ts_ns[rows] + slices.dur_ns[rows], end_ns)
    return int(rows[np.argmax(stops - np.maximum(slices.ts_ns[rows], start_ns))])


def _range(trace: Trace, chosen: Any) -> tuple[int, int] | None:
    """The range that the browser sent, on the trace's clock."""
    start, end = whole_number(chosen, "start"), whole_number(chosen, "end")
    if start is None or end is None or not start < end:
        return None
    origin_ns = (trace.time_range_ns or (0, 0))[0]
    return origin_ns + start, origin_ns + end


def _note(work: Any) -> str:
    if not len(work):
        return "no work in this range"
    words = [f"{fmt.counted(int(work['count'].sum()), 'slice')} of {fmt.counted(len(work), 'name')}"]
    for side in ("device", "host"):
        if work.attrs[f"{side}_self_ns"]:
            words.append(f"{side} {fmt.duration(work.attrs[f'{side}_self_ns'])}")
    if len(work) > _MOST_ROWS:
        words.append(f"the first {fmt.count(_MOST_ROWS)} names shown")
    return " · ".join(words)
