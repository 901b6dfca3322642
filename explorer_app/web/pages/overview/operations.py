"""The card with the operations that take most time."""

from __future__ import annotations

from typing import Any, Final

from dash import dcc

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.links import slice_href
from explorer_app.web.message import empty
from explorer_app.web.names import named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.table import category_mark, share_bar, table, with_title
from explorer_app.web.theme import category_color
from neuron_profile import analysis
from neuron_profile.analysis import slowest
from trace_format import Trace

_TOP: Final = 10


def operations_card(trace: Trace) -> Any:
    """The first operations of the hotspots; a name leads to its slowest call."""
    top = once(analysis.hotspots, trace, top=_TOP)
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
                _operation_link(trace, row["name"], side, category),
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
    return card("Top operations", body, note=dcc.Link("All of them", href="/hotspots"), area="operations", flush=True)


def _operation_link(trace: Trace, name: str, side: str, category: str) -> Any:
    row = once(slowest, trace, name=name, by="name", side=side, category=category)
    if row < 0:
        return with_title(named(name), tooltip(name))
    title = f"{tooltip(name)}\nShow the slowest call on the timeline"
    return dcc.Link(named(name), href=slice_href(trace, row), title=title)
