"""The parts of a breakdown as a bar and as a table, in colours that are theirs everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dash import html

from explorer_app import format as fmt
from explorer_app.breakdown_text import PART_CATEGORIES
from explorer_app.web.table import table, with_title
from explorer_app.web.theme import category_color

SMALL_RATIO: Final = 0.005


def part_color(part: str) -> str:
    """The colour of a part as a CSS value."""
    return category_color(PART_CATEGORIES[part])


def parts_table(
    parts: Mapping[str, int], names: Mapping[str, str], *, label: str, small_ratio: float = SMALL_RATIO
) -> html.Table:
    """A row for each part, and one for those together that are less than `small_ratio` of the whole."""
    total_ns = parts["total_ns"]
    large = [name for name in names if parts[name] and parts[name] >= small_ratio * total_ns]
    rows = [(part_mark(name, names), *_numbers(parts[name], total_ns)) for name in large]
    small = {name: parts[name] for name in names if parts[name] and name not in large}
    if small:
        words = "; ".join(f"{names[name]}: {fmt.duration(length_ns)}" for name, length_ns in small.items())
        rows.append((with_title("the rest", words), *_numbers(sum(small.values()), total_ns)))
    return table((("Part", "wide"), ("Time", "number"), ("Share", "number")), rows, label=label)


def stacked(parts: Mapping[str, int], names: Mapping[str, str], label: str) -> html.Div:
    """The whole time as one bar, cut in proportion; `label` says in words what is shown."""
    cut = [
        html.Span(
            title=f"{names[name]}: {fmt.duration(parts[name])}, {fmt.ratio(parts[name] / parts['total_ns'])}",
            style={"flexGrow": parts[name], "background": part_color(name)},
        )
        for name in names
        if parts[name]
    ]
    return html.Div(cut, className="np-stacked", role="img", **{"aria-label": label})


def _numbers(length_ns: int, total_ns: int) -> tuple[Any, str]:
    return with_title(fmt.duration(length_ns), fmt.exact(length_ns, "ns")), fmt.ratio(length_ns / total_ns)


def part_mark(name: str, names: Mapping[str, str]) -> html.Span:
    """The name of a part beside its colour."""
    swatch = html.Span(className="np-swatch", style={"background": part_color(name)})
    return html.Span([swatch, names[name]], className="np-category")
