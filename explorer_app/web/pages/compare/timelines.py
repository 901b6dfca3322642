"""The card of two timelines, aligned on a step, that move together (drawn by assets/pages/np_compare.js)."""

from __future__ import annotations

from typing import Any, Final

from dash import html

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.links import TIMELINE_PATH, page_href
from explorer_app.web.message import empty
from explorer_app.web.names import named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.pages.compare.sides import Sides
from explorer_app.web.view import View
from neuron_profile import analysis

CANVASES: Final = "np-compare-canvases"
_NOTE: Final = "aligned on the start of the median step of each; what moves one moves the other"


def timelines_card(sides: Sides) -> Any:
    """The timelines of both whole traces; in words where one has nothing to draw."""
    title = "Timelines"
    for view, name in ((sides.base, "base"), (sides.new, "new trace")):
        if not len(view.whole.slices):
            return card(title, empty("Nothing to draw", f"The {name} has no slices."))
    lines = [_timeline(view, name) for view, name in ((sides.base, "base"), (sides.new, "new"))]
    return card(title, html.Div(lines, id=CANVASES, className="np-compare-timelines"), note=_NOTE, flush=True)


def _timeline(view: View, name: str) -> html.Div:
    trace = view.whole
    step = once(analysis.median_step, trace)
    start_ns, end_ns = step or trace.time_range_ns or (0, 1)
    origin_ns = trace.time_range_ns[0] if trace.time_range_ns else 0
    title = view.opened.title
    head = html.Div(
        [
            html.B(name), html.Span(named(title), title=tooltip(title), className="np-compare-title"),
            html.Span(f"median step {fmt.duration(end_ns - start_ns)}", className="np-dim"),
            html.Span(className="np-compare-selected np-dim", role="status"),
            html.Div(className="np-timeline-search"),
        ],
        className="np-compare-head",
    )  # fmt: skip
    canvas = html.Div(
        className="np-timeline-canvas",
        **{
            "data-trace": view.opened.key, "data-aligned": str(start_ns - origin_ns),
            "data-step": str(end_ns - start_ns), "data-timeline": page_href(view, TIMELINE_PATH),
            "data-side": name,
        },
    )  # fmt: skip
    return html.Div([head, canvas], className="np-compare-timeline")
