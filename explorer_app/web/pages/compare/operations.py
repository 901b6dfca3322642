"""The grid of the operations that changed."""

from __future__ import annotations

from typing import Any, Final

from dash import dcc, html

from explorer_app import format as fmt
from explorer_app.comparison_text import LARGEST_SHARE, moved
from explorer_app.web.card import card
from explorer_app.web.grid import (
    copy_button,
    grid,
    grid_height_px,
    name_column,
    number_column,
    position,
    rows_of,
    text_column,
)
from explorer_app.web.links import slice_href
from explorer_app.web.names import named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.pages.compare.sides import Sides
from explorer_app.web.view import View
from neuron_profile.analysis import slowest

GRID: Final = "np-compare-operations"
CHOSEN: Final = "np-compare-chosen"
NO_CHOICE: Final = "Click a row for its slices in both traces; double-click to see it on the timeline."
_MOST_ROWS: Final = 5000
_LEAST_PX: Final = 160  # room for what is said where there are no rows
_UNCHANGED: Final = "No operation changed by more than 2 % of itself and 0.1 % of the step."


def operations_card(sides: Sides) -> Any:
    """A row for each operation that changed, the largest change of its self time in a step first."""
    frame = sides.comparison.operations.head(_MOST_ROWS)
    shown = frame.assign(ratio=frame["ratio"].where(frame["ratio"].abs() < LARGEST_SHARE))
    columns = [
        name_column("name", "Operation", flex=1, minWidth=200, cellClass="np-mono-cell"),
        text_column("side", "Side", width=84),
        text_column("what", "Kind", width=84, headerTooltip="slower, faster, new or gone"),
        number_column("base_ns", "Base", "duration", "ns", about="Self time in a step", width=100),
        number_column("new_ns", "New", "duration", "ns", about="Self time in a step", width=100),
        number_column("difference_ns", "Change", "duration", "ns", width=104),
        number_column(
            "ratio", "Relative", "ratio", about=f"Change over base; not told from {LARGEST_SHARE:.0%} on", width=96
        ),
        number_column("base_count", "Calls, base", "count", about="In a step", width=104),
        number_column("new_count", "Calls, new", "count", about="In a step", width=104),
    ]
    told = html.Div(NO_CHOICE, id=CHOSEN, className="np-note np-chosen", role="status")
    body = [
        html.Div([told, copy_button(GRID)], className="np-toolbar"),
        html.Div(
            grid(GRID, columns, rows=rows_of(shown), empty=_UNCHANGED, label="Operations by change"),
            className="np-compare-grid",
            style={"maxHeight": f"{max(grid_height_px(len(frame)), _LEAST_PX)}px"},
        ),
    ]
    return card("Operations by change of self time", *body, note=_counted(sides), flush=True)


def _counted(sides: Sides) -> str:
    found = sides.comparison.operations["what"].value_counts()
    return ", ".join(f"{fmt.count(int(found[what]))} {what}" for what in ("slower", "faster", "new", "gone")
                     if what in found)  # fmt: skip


def told_of(sides: Sides, row_id: str) -> Any:
    """The chosen operation, and where its slowest call is in each trace."""
    frame = sides.comparison.operations
    number = position(row_id, len(frame))
    if number < 0:
        return NO_CHOICE
    row = frame.iloc[number]
    links = [
        dcc.Link(f"slowest in the {name}", href=href)
        for name, view in (("base", sides.base), ("new trace", sides.new))
        if (href := slice_href(view, _slowest(view, row["name"], row["side"])))
    ]
    return [html.B(named(row["name"]), title=tooltip(row["name"])), html.Span(moved(row["difference_ns"])), *links]


def href_of(sides: Sides, row_id: str) -> str:
    """The timeline at the slowest call of an operation: in the new trace, of one that is gone in the base."""
    frame = sides.comparison.operations
    number = position(row_id, len(frame))
    if number < 0:
        return ""
    row = frame.iloc[number]
    view = sides.base if row["what"] == "gone" else sides.new
    return slice_href(view, _slowest(view, row["name"], row["side"]))


def _slowest(view: View, name: str, side: str) -> int:
    """The longest slice behind a row; operations are told apart by shapes only where those were recorded."""
    found = once(slowest, view.trace, name=name, by="op", side=side)
    return found if found >= 0 else once(slowest, view.trace, name=name, by="name", side=side)
