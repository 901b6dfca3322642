"""The Hotspots page: its parts; `following` fills them."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from explorer_app.web.grid import SORT_KEY, copy_button, grid
from explorer_app.web.page import Page
from explorer_app.web.pages.hotspots.answer import answer
from explorer_app.web.pages.hotspots.columns import columns
from explorer_app.web.pages.hotspots.following import GRID, NO_ROW_CHOSEN, register_callbacks
from explorer_app.web.pages.hotspots.groupings import FIRST_GROUPING
from explorer_app.web.pages.hotspots.shape import Shape
from explorer_app.web.pages.hotspots.switches import by_links, parts_class, shown_links
from explorer_app.web.pages.hotspots.tree import NO_AREA_CHOSEN, PATH
from explorer_app.web.view import View


def layout(view: View) -> Any:
    """The answer, the switches, the grid, and the place of the tree; the address says by what to group and how to show
    it (`?by=module&show=icicle`)."""
    return html.Div(
        [
            dcc.Store(id="np-hotspots-grouping"),
            dcc.Store(id="np-hotspots-shape"),
            dcc.Store(id="np-hotspots-node"),
            html.P(answer(view.trace, FIRST_GROUPING), id="np-hotspots-answer", className="np-answer"),
            html.Div(
                [_grid_card(view), _tree_card()],
                id="np-hotspots-parts",
                className=parts_class(Shape()),
            ),
        ],
        className="np-column",
    )


def _grid_card(view: View) -> html.Section:
    bar = [
        html.Nav(shown_links(view, FIRST_GROUPING, Shape()), id="np-hotspots-show", className="np-switch",
                 **{"aria-label": "How operations are shown"}),
        html.Nav(by_links(view, FIRST_GROUPING, Shape()), id="np-hotspots-by", className="np-switch",
                 **{"aria-label": "What a row stands for"}),
        html.Div(NO_ROW_CHOSEN, id="np-hotspots-chosen", className="np-note np-chosen", role="status"),
        copy_button(GRID),
    ]  # fmt: skip
    return html.Section(
        [
            html.Div(bar, className="np-toolbar"),
            html.Div(id="np-hotspots-why"),
            grid(GRID, columns(FIRST_GROUPING), empty="Nothing here can be grouped this way.",
                 label="Operations by time"),
        ],
        className="np-card np-grid-card",
    )  # fmt: skip


def _tree_card() -> html.Section:
    bar = [
        html.Div(id="np-hotspots-tree-switches", className="np-hotspots-switches"),
        html.Div(NO_AREA_CHOSEN, id="np-hotspots-node-said", className="np-note np-chosen", role="status"),
    ]
    parts = [html.Div(bar, className="np-toolbar"), html.Div(id="np-hotspots-drawn", className="np-hotspots-drawn")]
    return html.Section(parts, id="np-hotspots-tree", className="np-card np-grid-card")


PAGE = Page(
    path=PATH,
    name="Hotspots",
    question="Which operations take the time?",
    layout=layout,
    register_callbacks=register_callbacks,
    keys=(
        ("Click", "select a row, or an area of the icicle or treemap"),
        ("Double click a row", "show its slowest call on the timeline"),
        ("Double click an area", "go into it; on the first one, back out"),
        SORT_KEY,
    ),
    fills_height=True,
)
