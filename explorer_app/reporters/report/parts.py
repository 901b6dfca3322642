"""The pieces that every section of the report is made of: sections, tables, bars, facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from explorer_app import format as fmt
from explorer_app.reporters.report.markup import Content, Markup, element, joined
from explorer_app.web.theme import category_color

_SHARE_WIDTH: Final = 100


def section(title: str, *content: Content, note: Content = "") -> Markup:
    """A part of the report under a heading."""
    beside = element("span", note, _class="note") if note else Markup()
    return element("section", element("h2", title, beside), *content)


def nothing(why: str) -> Markup:
    """What stands where there is nothing to show: why, and what would fill it."""
    return element("p", why, _class="dim")


def table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Content]], label: str) -> Markup:
    """A table; a column is its heading and the class of its cells: "name", "text", "number" or "bar"."""
    head = element("tr", *(element("th", title, _class=kind, scope="col") for title, kind in columns))
    body = [
        element("tr", *(element("td", cell, _class=kind) for cell, (_, kind) in zip(row, columns, strict=True)))
        for row in rows
    ]
    made = element("table", element("thead", head), element("tbody", *body), aria_label=label)
    return element("div", made, _class="wide")


def facts(pairs: Sequence[tuple[str, Content]]) -> Markup:
    """Names and values."""
    return element(
        "dl", *(joined((element("dt", name), element("dd", value))) for name, value in pairs), _class="facts"
    )


def stacked_bar(parts: Mapping[str, tuple[int, str]], label: str) -> Markup:
    """A bar cut in proportion: name -> (length in ns, colour). Its parts add up to its whole."""
    whole = sum(length for length, _ in parts.values())
    if not whole:
        return Markup()
    cut = [
        element(
            "span",
            title=f"{name}: {fmt.duration(length)}, {fmt.ratio(length / whole)}",
            style=f"width:{100 * length / whole:.4f}%;background:{color}",
        )
        for name, (length, color) in parts.items()
    ]
    return element("div", *cut, _class="stacked", role="img", aria_label=label)


def mark(text: Content, color: str) -> Markup:
    """A name with the colour that stands for it."""
    return element("span", element("i", style=f"background:{color}"), text, _class="mark")


def category(name: str) -> Markup:
    """A category with its colour."""
    return mark(name.replace("_", " "), category_color(name))


def share_bar(share: float, color: str) -> Markup:
    """A share of 1 as a bar and as text; text alone where it is unknown."""
    if not 0 <= share <= 1:
        return joined((fmt.ratio(share),))
    bar = element("i", style=f"width:{_SHARE_WIDTH * share:.2f}%;background:{color}")
    return element("span", element("span", bar, _class="track"), fmt.ratio(share), _class="share")
