"""The sections with the operations and the categories that take the time."""

from __future__ import annotations

from typing import Any

from explorer_app import format as fmt
from explorer_app.reporters.report.markup import Markup, element, named, told
from explorer_app.reporters.report.parts import category, nothing, section, share_bar, stacked_bar, table
from explorer_app.web.theme import category_color
from neuron_profile.analysis import Summary

_LONGEST_NAME = 96
_COLUMNS = (
    ("Operation", "name"), ("Category", "text"), ("Side", "text"), ("Self time", "number"),
    ("Share of its side", "bar"), ("Calls", "number"), ("Mean", "number"), ("p50", "number"), ("p95", "number"),
    ("Longest", "number"),
)  # fmt: skip


def operations(summary: Summary) -> Markup:
    """The operations with most self time, those of devices first."""
    frame = summary.hotspots
    if frame.empty:
        return section("Hotspots", nothing(frame.attrs.get("why") or "Nothing in this trace has a duration."))
    device_rows = frame.attrs["device_rows"]
    rows = [
        (
            named(row["name"], _LONGEST_NAME), category(row["category"]), "device" if number < device_rows else "host",
            told(fmt.duration(row["self_ns"]), fmt.exact(row["self_ns"], "ns")),
            share_bar(row["share_ratio"], category_color(row["category"])), fmt.count(row["count"]),
            *(fmt.duration(row[f"{name}_ns"]) for name in ("mean", "p50", "p95", "max")),
        )
        for number, row in enumerate(frame.to_dict("records"))
    ]  # fmt: skip
    return section("Hotspots", table(_COLUMNS, rows, "Operations by self time"), note="by self time")


def categories(summary: Summary) -> Markup:
    """The self time of each side by category; each bar adds up to its side."""
    frame = summary.time_by_category
    if frame.empty:
        return section("Time by category", nothing("Nothing in this trace has a duration."))
    content: list[Markup] = []
    for side in ("device", "host"):
        rows = frame[frame["side"] == side].to_dict("records")
        content += (
            _side(side, rows) if rows else [element("h3", side), nothing(f"No events of a {side} in this trace.")]
        )
    return section("Time by category", *content, note="self time")


def _side(side: str, rows: list[dict[Any, Any]]) -> list[Markup]:
    whole_ns = sum(row["self_ns"] for row in rows)
    parts = {row["category"].replace("_", " "): (row["self_ns"], category_color(row["category"])) for row in rows}
    cells = [
        (
            category(row["category"]), told(fmt.duration(row["self_ns"]), fmt.exact(row["self_ns"], "ns")),
            fmt.ratio(row["share_ratio"]), fmt.count(row["count"]),
        )
        for row in rows
    ]  # fmt: skip
    columns = (("Category", "wide"), ("Self time", "number"), ("Share", "number"), ("Slices", "number"))
    head = element("h3", side, element("span", told(fmt.duration(whole_ns), fmt.exact(whole_ns, "ns")), _class="note"))
    return [head, stacked_bar(parts, f"Self time on the {side}"), table(columns, cells, f"Categories of the {side}")]
