"""Cards: a titled frame, and the small one that holds a single number."""

from __future__ import annotations

from typing import Any

from dash import html


def card(title: str, *children: Any, note: Any = None, area: str = "", flush: bool = False) -> html.Section:
    """A frame with a heading; `note` stands at the right of the heading, dimmed.

    `area` names the place in the page's grid; `flush` lets the content touch the frame.
    """
    heading = html.Div([html.H2(title), html.Div(note, className="np-note")], className="np-card-head")
    body = html.Div(list(children), className="np-card-body np-flush" if flush else "np-card-body")
    return html.Section([heading, body], className="np-card", style={"gridArea": area} if area else {})


def figure(label: str, value: str, *, exact: str = "", note: Any = "") -> html.Div:
    """One number for people with its label; the exact value is in the tooltip."""
    number, _, unit = value.partition(" ")
    shown = [html.Span(number, className="np-figure-number"), html.Span(f" {unit}", className="np-figure-unit")]
    return html.Div(
        [
            html.Div(label, className="np-figure-label"),
            html.Div(shown if unit else shown[:1], className="np-figure-value", title=exact or value),
            html.Div(note, className="np-figure-note"),
        ],
        className="np-card np-figure",
    )


def facts(rows: list[tuple[str, Any]]) -> html.Dl:
    """A list of names and values, one below the other."""
    return html.Dl([part for name, value in rows for part in (html.Dt(name), html.Dd(value))], className="np-facts")
