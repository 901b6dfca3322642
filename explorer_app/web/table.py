"""Small tables that need no sorting: a few rows of text and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html

from explorer_app.web.theme import category_color


def table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], *, label: str) -> html.Table:
    """A table of `rows`; each column is (heading, kind), kind one of text, name, number, bar, wide.

    Numbers are right-aligned, names are cut with an ellipsis, names and wide columns take what is left. A column that
    needs no heading, like one of links, has "". `label` says to a screen reader what the table holds.
    """
    classes = [f"np-{kind}" for _, kind in columns]
    head = html.Tr([_heading(name, c) for (name, _), c in zip(columns, classes, strict=True)])
    body = [html.Tr([html.Td(cell, className=c) for cell, c in zip(row, classes, strict=True)]) for row in rows]
    return html.Table([html.Thead(head), html.Tbody(body)], className="np-table", **{"aria-label": label})


def _heading(name: str, class_name: str) -> Any:
    return html.Th(name, className=class_name, scope="col") if name else html.Td(className=class_name)


def with_title(shown: Any, title: str) -> html.Span:
    """Something shown whose exact value or full text is in its tooltip."""
    return html.Span(shown, title=title)


def category_name(category: str) -> str:
    """The category as people write it: "host op"."""
    return category.replace("_", " ")


def category_mark(category: str) -> html.Span:
    """The category's name beside its colour."""
    swatch = html.Span(className="np-swatch", style={"background": category_color(category)})
    return html.Span([swatch, category_name(category)], className="np-category")


def share_bar(ratio: float, shown: str, *, color: str = "var(--np-accent)") -> html.Span:
    """A bar as long as `ratio` of its cell, with the number beside it. An unknown ratio has no bar."""
    width = f"{100 * min(max(ratio, 0.0), 1.0):.2f}%" if ratio == ratio else "0"
    track = html.Span(html.Span(style={"width": width, "background": color}), className="np-bar")
    return html.Span([track, html.Span(shown, className="np-bar-number")], className="np-share")
