"""The card that divides the time of each side into categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import html

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.message import empty
from explorer_app.web.numbers import once
from explorer_app.web.table import category_mark, category_name, table, with_title
from explorer_app.web.theme import category_color
from neuron_profile import analysis
from trace_format import Trace


def categories_card(trace: Trace) -> Any:
    """One bar for the device and one for the host, each adding up to the self time of its side."""
    if once(analysis.time_by_category, trace).empty:
        return card("Time by category", empty("No work", "Nothing in this trace has a duration."), area="categories")
    sides: list[Any] = []
    for side in ("device", "host"):
        rows = work_of_side(trace, side)
        if rows:
            sides += _side(side, rows)
        else:
            sides += [html.H3(side.capitalize()), html.P(f"no events of a {side} in this trace", className="np-dim")]
    return card("Time by category", *sides, note="self time", area="categories")


def work_of_side(trace: Trace, side: str) -> list[dict[Any, Any]]:
    """The rows of `analysis.time_by_category` of a side; self time and share are None where no slice finished."""
    by_category, longest = once(analysis.time_by_category, trace), once(analysis.hotspots, trace, by="category")
    device_rows = longest.attrs["device_rows"]
    of_side = longest.iloc[:device_rows] if side == "device" else longest.iloc[device_rows:]
    unknown = set(of_side.loc[of_side["max_ns"] < 0, "category"])
    rows: list[dict[Any, Any]] = by_category[by_category["side"] == side].to_dict("records")
    return [row | {"self_ns": None, "share_ratio": None} if row["category"] in unknown else row for row in rows]


def _side(side: str, rows: Sequence[Mapping[Any, Any]]) -> list[Any]:
    known = [row["self_ns"] for row in rows if row["self_ns"] is not None]
    whole_ns = sum(known) if known else None
    total = with_title(fmt.duration(whole_ns), fmt.exact(whole_ns, "ns"))
    cells = [
        (
            category_mark(row["category"]),
            with_title(fmt.duration(row["self_ns"]), fmt.exact(row["self_ns"], "ns")),
            fmt.ratio(row["share_ratio"]),
        )
        for row in rows
    ]
    columns = (("Category", "wide"), ("Self time", "number"), ("Share", "number"))
    return [
        html.H3([side.capitalize(), html.Span(total, className="np-note")]),
        _stacked_bar(side, rows),
        table(columns, cells, label=f"Time by category on the {side}"),
    ]


def _stacked_bar(side: str, rows: Sequence[Mapping[Any, Any]]) -> html.Div:
    """The whole self time of a side as one bar, cut in proportion."""
    parts = [
        html.Span(
            title=f"{category_name(row['category'])}: {fmt.duration(row['self_ns'])}, {fmt.ratio(row['share_ratio'])}",
            style={"flexGrow": row["self_ns"], "background": category_color(row["category"])},
        )
        for row in rows
        if row["self_ns"]
    ]
    label = f"Self time on the {side} by category; the table below has the numbers"
    return html.Div(parts, className="np-stacked", role="img", **{"aria-label": label})
