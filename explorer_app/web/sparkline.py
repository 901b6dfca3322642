"""Sparklines: how a number changed, small enough to stand in a line of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dash import html

_MOST_BARS: Final = 40
_LEAST_HEIGHT: Final = 4  # per cent, so that a value of 0 is still a place


def sparkline(values: Sequence[float], *, label: str, color: str = "var(--np-accent)") -> html.Div | None:
    """A bar for each value, from 0 up; of many neighbours the largest. None for fewer than two known values.

    A negative or unknown (NaN) value has no bar. `label` says in words what is shown.
    """
    known = [value for value in values if value >= 0]
    if len(known) < 2:
        return None
    merged = -(-len(values) // _MOST_BARS)
    heights = [max((v for v in values[i : i + merged] if v >= 0), default=-1) for i in range(0, len(values), merged)]
    top = max(known) or 1
    bars = [
        html.Span(style={"height": f"{max(100 * height / top, _LEAST_HEIGHT):.0f}%", "background": color})
        if height >= 0
        else html.Span()
        for height in heights
    ]
    return html.Div(bars, className="np-spark", role="img", title=label, **{"aria-label": label})
