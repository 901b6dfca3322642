"""How the Hotspots page follows the address and the reader."""

from __future__ import annotations

from typing import Any, Final

import dash
from dash import ClientsideFunction, Input, Output, State, dcc, html, no_update

from explorer_app import format as fmt
from explorer_app.web.grid import lead_to_timeline, position, row_id
from explorer_app.web.links import slice_href
from explorer_app.web.message import banner
from explorer_app.web.names import named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.pages.hotspots.answer import answer
from explorer_app.web.pages.hotspots.columns import columns
from explorer_app.web.pages.hotspots.groupings import GROUPINGS, grouping_of
from explorer_app.web.pages.hotspots.rows import hotspot_rows, row_id_of, row_named, slowest_of, slowest_of_id
from explorer_app.web.pages.hotspots.shape import Shape
from explorer_app.web.pages.hotspots.switches import by_links, parts_class, shown_links
from explorer_app.web.pages.hotspots.tree import (
    MOST_NODES,
    name_of_node,
    said_of_node,
    tree_drawn,
    tree_of,
    tree_switches,
)
from explorer_app.web.view import VIEW, View, Views
from neuron_profile import analysis

GRID: Final = "np-hotspots"
NO_ROW_CHOSEN: Final = "Click a row to select it, double-click for its slowest call."


def register_callbacks(app: dash.Dash, views: Views) -> None:
    """Group and show as the address says, and lead from a row or an area to its slowest slice."""
    app.clientside_callback(
        ClientsideFunction("npHotspots", "asked"),
        Output("np-hotspots-grouping", "data"),
        Output("np-hotspots-shape", "data"),
        Input("np-url", "search"),
        State("np-url", "pathname"),
        State("np-hotspots-grouping", "data"),
        State("np-hotspots-shape", "data"),
    )
    _follow_grouping(app, views)
    _follow_shape(app, views)
    _tell_choice(app, views)
    lead_to_timeline(app, views, GRID, slowest_of_id)


def _follow_grouping(app: dash.Dash, views: Views) -> None:
    @app.callback(
        Output(GRID, "rowData"),
        Output(GRID, "columnDefs"),
        Output("np-hotspots-why", "children"),
        Output("np-hotspots-answer", "children"),
        Output("np-question", "children"),
        Input("np-hotspots-grouping", "data"),
        VIEW,
    )
    def fill(asked: Any, asked_view: Any) -> tuple[Any, ...]:
        trace, by = views.of(asked_view).trace, grouping_of(asked)
        why = once(analysis.hotspots, trace, by=by).attrs.get("why")
        return (
            hotspot_rows(trace, by), columns(by), banner(why) if why else None, answer(trace, by),
            f"Which {GROUPINGS[by].plural} take the time?",
        )  # fmt: skip


def _follow_shape(app: dash.Dash, views: Views) -> None:
    @app.callback(
        Output("np-hotspots-show", "children"),
        Output("np-hotspots-by", "children"),
        Output("np-hotspots-tree-switches", "children"),
        Output("np-hotspots-parts", "className"),
        Input("np-hotspots-grouping", "data"),
        Input("np-hotspots-shape", "data"),
        VIEW,
    )
    def switch(asked_by: Any, asked_shape: Any, asked_view: Any) -> tuple[Any, ...]:
        view, by, shape = views.of(asked_view), grouping_of(asked_by), Shape.of(asked_shape)
        of_tree = tree_switches(view, shape, by) if shape.has_tree else None
        return shown_links(view, by, shape), by_links(view, by, shape), of_tree, parts_class(shape)

    @app.callback(Output("np-hotspots-drawn", "children"), Input("np-hotspots-shape", "data"), VIEW)
    def draw(asked: Any, asked_view: Any) -> Any:
        shape = Shape.of(asked)
        return tree_drawn(views.of(asked_view), shape) if shape.has_tree else None


def _tell_choice(app: dash.Dash, views: Views) -> None:
    @app.callback(Output("np-hotspots-chosen", "children"), Input(GRID, "selectedRows"), VIEW)
    def tell(chosen: Any, asked_view: Any) -> Any:
        if isinstance(chosen, dict):  # the server's own choice, which the grid answers with the row
            return no_update
        view = views.of(asked_view)
        row = row_named(view.trace, row_id(chosen[0], "id")) if isinstance(chosen, list) and chosen else None
        if row is None:
            return NO_ROW_CHOSEN
        href = slice_href(view, slowest_of(view.trace, row))
        link = dcc.Link("Slowest call on the timeline", href=href) if href else "no call of it finished"
        return [html.B(named(row.name), title=tooltip(row.name)), html.Span(f"{fmt.duration(row.self_ns)} self"), link]

    @app.callback(
        Output("np-hotspots-node-said", "children"),
        Output(GRID, "selectedRows"),
        Output(GRID, "scrollTo"),
        Input("np-hotspots-node", "data"),
        State("np-hotspots-shape", "data"),
        State("np-hotspots-grouping", "data"),
        VIEW,
        prevent_initial_call=True,
    )
    def tell_node(chosen: Any, asked_shape: Any, asked_by: Any, asked_view: Any) -> tuple[Any, ...]:
        view, by = views.of(asked_view), grouping_of(asked_by)
        shape = Shape.of(asked_shape).settled(view.trace, MOST_NODES)
        number = position(row_id(chosen, "id"), len(tree_of(view.trace, shape)))
        if number < 0:
            return no_update, no_update, no_update
        found = _row_of_node(view, shape, by, number)
        scroll = {"rowId": found} if found else no_update
        return said_of_node(view, shape, number), {"ids": [found] if found else []}, scroll


def _row_of_node(view: View, shape: Shape, by: str, number: int) -> str:
    """The id of the grid's row that counts what an area shows; "" where the grid's rows are of another kind."""
    frame = tree_of(view.trace, shape)
    node = frame.iloc[number]
    if by == "name":
        name = name_of_node(shape, node)
        return row_id_of(view.trace, by, name=name, side=node["side"], category=node["category"])
    if by == "category":
        return row_id_of(view.trace, by, name=node["category"], side=node["side"], category=None)
    if by == "module":
        return row_id_of(view.trace, by, name=node["name"], side=node["side"], category=None)
    return ""
