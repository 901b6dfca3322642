"""The Timeline page around the canvas: search, legend, details of a slice, summary of a range.

The canvas (assets/timeline/*.js) draws by itself and fetches from `/_trace` (see `routes`). It tells the page what the
reader decided through three stores, one for each kind of event:

    np-timeline-slice   {"id": row, "merged": count} or null
    np-timeline-range   {"start": ns, "end": ns} or null, from the start of the trace
    np-timeline-view    {"start": ns, "end": ns}

The page tells the canvas to go to a slice through `np-timeline-go`, {"id": row}. The address holds the view:
`?t0=…&t1=…` in nanoseconds of the trace's clock, `&slice=…` selects a slice (see `explorer_app.web.links`).
"""

from __future__ import annotations

from typing import Any

import dash
import numpy as np
from dash import ClientsideFunction, Input, Output, dcc, html

from explorer_app import format as fmt
from explorer_app.web.message import banner, empty
from explorer_app.web.numbers import once
from explorer_app.web.table import category_mark
from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.details import slice_details
from explorer_app.web.timeline.details_panel import details_panel, no_such_slice, nothing_selected
from explorer_app.web.timeline.events import whole_number
from explorer_app.web.timeline.headings import MOST_TRACKS, tracks_with_content
from explorer_app.web.timeline.range_summary import range_card, register_range_callbacks
from explorer_app.web.view import VIEW, View, Views
from trace_format import CATEGORIES, Trace

_STORES = ("slice", "range", "view", "go")
# Callbacks that only act in the browser must have an output; nothing is ever put into these.
_SINKS = ("mounted", "went", "found")


def layout(view: View) -> Any:
    """The page under its heading; in words where the trace has nothing to draw."""
    trace = view.whole
    if not (len(trace.slices) or len(trace.instants) or len(trace.counters)):
        return empty(
            "Nothing to draw",
            "This trace has no slices, instants or counters: nothing was recorded while the profiler ran, or the "
            "import left everything out (see the Overview).",
        )
    details = html.Aside(
        html.Div(nothing_selected(), id="np-timeline-details", className="np-card-body"),
        className="np-card np-timeline-details",
        **{"aria-label": "Details of the selected slice"},
    )
    notes = html.Section(className="np-card np-timeline-notes", hidden=True, **{"aria-label": "Notes"})
    return html.Div(
        [
            *_left_out(trace),
            html.Div(
                [
                    html.Div([_frame(view), range_card()], className="np-timeline-main"),
                    html.Div([details, notes], className="np-timeline-side"),
                ],
                className="np-timeline-body",
            ),
            *(dcc.Store(id=f"np-timeline-{name}") for name in _STORES + _SINKS),
        ],
        className="np-timeline",
    )


def register_callbacks(app: dash.Dash, views: Views) -> None:
    """Start the canvas when its element appears; show the selected slice and sum up the measured range."""
    app.clientside_callback(
        ClientsideFunction("npTimeline", "mount"),
        Output("np-timeline-mounted", "data"),
        Input("np-timeline-canvas", "id"),
    )
    app.clientside_callback(
        ClientsideFunction("npTimeline", "go"),
        Output("np-timeline-went", "data"),
        Input("np-timeline-go", "data"),
        prevent_initial_call=True,
    )
    register_range_callbacks(app, views)

    @app.callback(
        Output("np-timeline-details", "children"),
        Input("np-timeline-slice", "data"),
        VIEW,
        prevent_initial_call=True,
    )
    def show_slice(chosen: Any, asked: Any) -> Any:
        view = views.of(asked)
        trace = view.whole
        row = whole_number(chosen, "id")
        if row is None or row < 0:
            return nothing_selected()
        if row >= len(trace.slices):
            return no_such_slice(row)
        details = slice_details(once(TimelineData, trace), row)
        return details_panel(view, details, merged=whole_number(chosen, "merged") or 1)


def _left_out(trace: Trace) -> list[Any]:
    tracks = len(tracks_with_content(trace))
    if tracks <= MOST_TRACKS:
        return []
    return [banner(f"The first {fmt.count(MOST_TRACKS)} of {fmt.count(tracks)} tracks are shown.")]


def _frame(view: View) -> html.Section:
    trace = view.whole
    bar = html.Div(
        [
            html.Div(className="np-timeline-search"),
            html.Div(_legend(trace), className="np-timeline-legend", role="group", **{"aria-label": "Colours"}),
            html.Div(className="np-timeline-warnings", role="group", **{"aria-label": "Warnings"}),
            html.Div(className="np-timeline-tools"),
        ],
        className="np-timeline-bar",
    )
    canvas = html.Div(
        id="np-timeline-canvas", className="np-timeline-canvas", **{"data-trace": view.opened.key}
    )  # fmt: skip
    return html.Section([bar, canvas], className="np-card np-timeline-frame")


def _legend(trace: Trace) -> list[Any]:
    """The categories that occur, the most frequent first."""
    slices_of = np.bincount(trace.slices.category, minlength=len(CATEGORIES))
    used = [i for i in np.argsort(-slices_of, kind="stable").tolist() if slices_of[i]]
    return [html.Span(category_mark(CATEGORIES[i]), title=fmt.counted(int(slices_of[i]), "slice")) for i in used]
