"""The card with the operations that take most time."""

from __future__ import annotations

from typing import Any, Final

from dash import dcc

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.links import page_href, slice_href
from explorer_app.web.message import empty
from explorer_app.web.names import named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.table import category_mark, share_bar, table, with_title
from explorer_app.web.theme import category_color
from explorer_app.web.view import View
from neuron_profile import analysis
from neuron_profile.analysis import slowest

_TOP: Final = 10


def operations_card(view: View) -> Any:
    """The first of `analysis.operations`; a name leads to its slowest call."""
    top = once(analysis.operations, view.trace, top=_TOP)
    if top.empty:
        nothing = empty("No operations", "Nothing in this trace has a duration.")
        return card("Top operations", nothing, area="operations")
    rows = []
    for number, row in enumerate(top.to_dict("records")):
        side = "device" if number < top.attrs["device_rows"] else "host"
        category, known = row["category"], row["max_ns"] >= 0
        self_ns, share = (row["self_ns"], row["share_ratio"]) if known else (None, float("nan"))
        rows.append(
            (
                _operation_link(view, row["name"], side, category),
                category_mark(category),
                side,
                with_title(fmt.duration(self_ns), fmt.exact(self_ns, "ns")),
                share_bar(share, fmt.ratio(share), color=category_color(category)),
                fmt.count(row["count"]),
            )
        )
    columns = (
        ("Operation", "name"), ("Category", "text"), ("Side", "text"), ("Self time", "number"),
        ("Share of its side", "bar"), ("Calls", "number"),
    )  # fmt: skip
    body = table(columns, rows, label="The operations with the most self time")
    return card(
        "Top operations",
        body,
        note=dcc.Link("All of them", href=page_href(view, "/hotspots")),
        area="operations",
        flush=True,
    )


def _operation_link(view: View, name: str, side: str, category: str) -> Any:
    row = once(slowest, view.trace, name=name, by="name", side=side, category=category)
    if row < 0:
        return with_title(named(name), tooltip(name))
    title = f"{tooltip(name)}\nShow the slowest call on the timeline"
    return dcc.Link(named(name), href=slice_href(view, row), title=title)
