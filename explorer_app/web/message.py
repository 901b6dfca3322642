"""What a page says when something is missing, went wrong, or must be known before its numbers are believed."""

from __future__ import annotations

from typing import Any

from dash import html


def banner(*words: Any, severity: str = "warn") -> html.Div:
    """A line across the page that stays until its reason is gone. `severity`: warn or error."""
    return html.Div(html.P(list(words)), className=f"np-banner np-{severity}", role="status")


def empty(what: str, why: str) -> html.Div:
    """The place of something that is not there: `what` is missing, `why`, and what would fill it."""
    return html.Div([html.P(what, className="np-empty-what"), html.P(why)], className="np-empty")
