"""The card that sets the parts of the step of both traces side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dash import html

from explorer_app import format as fmt
from explorer_app.comparison_text import interval, moved, number_names, part_names, signed, value
from explorer_app.web.breakdown_parts import part_color, stacked
from explorer_app.web.card import card
from explorer_app.web.pages.compare.sides import Sides
from explorer_app.web.table import table, with_title
from neuron_profile.analysis.comparison import Change, Comparison
from neuron_profile.analysis.comparison.samples import COUNTS, IN_BYTES

_COLUMNS: Final = (
    ("Median of a step", "wide"), ("Base", "number"), ("New", "number"), ("Change", "number"), ("Relative", "number"),
    ("95 % interval", "number"),
)  # fmt: skip


def parts_card(sides: Sides) -> Any:
    """Two bars, each the median parts of a step of a trace, and the median of each number with its change."""
    names, of_numbers = part_names(sides.comparison), number_names(sides.comparison)
    steps = {name: _median_parts(sides.comparison, name, names) for name in ("base", "new")}
    longest = max(parts["total_ns"] for parts in steps.values())
    bars = [
        html.Div(
            [
                html.Span(name, className="np-compare-side"),
                html.Div(
                    stacked(parts, names, f"The median parts of a step of the {name}; the table below has the numbers"),
                    style={"width": f"{100 * parts['total_ns'] / longest:.2f}%"}, className="np-compare-length",
                ),
            ],
            className="np-compare-bar",
        )
        for name, parts in steps.items() if longest
    ]  # fmt: skip
    rows = [_row(name, of, names, of_numbers[name]) for name, of in sides.comparison.numbers.items()]
    body = table(_COLUMNS, rows, label="The numbers of a step, base against new")
    return card("The step and its parts", *bars, body, note="bars: the median of each part, on one scale")


def _row(name: str, of: Change, names: Any, called: str) -> tuple[Any, ...]:
    part = f"{name}_ns"
    label = _mark(part, names[part]) if part in names else html.B(called.strip())
    unit = "" if name in COUNTS else "B" if name in IN_BYTES else "ns"
    difference = (
        f"{of.difference:+,.0f}" if name in COUNTS else moved(of.difference) if unit == "ns" else
        f"{'+' if of.difference > 0 else '-'}{fmt.size(abs(of.difference))}"
    )  # fmt: skip
    real = {"className": "np-compare-real", "title": "The whole interval is on one side of no change"}
    return (
        label,
        with_title(value(name, of.base), fmt.exact(of.base, unit)),
        with_title(value(name, of.new), fmt.exact(of.new, unit)),
        html.Span(difference if of.difference else "–", **(real if of.is_real and not of.is_point else {})),
        signed(of.ratio) if of.difference else "",
        with_title("–", "Too few samples to know their noise") if of.is_point else interval(of),
    )


def _mark(part: str, name: str) -> html.Span:
    swatch = html.Span(className="np-swatch", style={"background": part_color(part)})
    return html.Span([swatch, name], className="np-category")


def _median_parts(comparison: Comparison, side: str, names: Mapping[str, str]) -> dict[str, int]:
    """The medians that the table has of one side, as {total_ns, parts...}: the total is the sum of the parts."""
    parts = dict.fromkeys(names, 0)
    for name, of in comparison.numbers.items():
        if f"{name}_ns" in names:
            parts[f"{name}_ns"] = round(getattr(of, side))
    return {"total_ns": sum(parts.values()), **parts}
