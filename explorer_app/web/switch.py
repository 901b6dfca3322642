"""Switches: a few ways to look at something, of which the address names one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dash import dcc, html


def switch(choices: Mapping[str, str], chosen: str, href: Callable[[str], str], *, label: str) -> html.Nav:
    """Links side by side, `choices` being values and what they are called; `href(value)` is where each leads.

    `label` says to a screen reader what is chosen.
    """
    return html.Nav(switch_links(choices, chosen, href), className="np-switch", **{"aria-label": label})


def switch_links(choices: Mapping[str, str], chosen: str, href: Callable[[str], str]) -> list[Any]:
    """The links alone, for a switch that is already on the page."""
    return [
        html.Span(dcc.Link(name, href=href(value)), **{"aria-current": "true"} if value == chosen else {})
        for value, name in choices.items()
    ]
