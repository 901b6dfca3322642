"""What a page of the explorer is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dash

from trace_format import Trace


def _no_callbacks(app: dash.Dash, trace: Trace) -> None:
    """A page that only shows has nothing to register."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page: where it is, the question it answers, and how it is drawn.

    - `layout(trace)` returns the components under the page's heading. It is called for every visit;
      numbers that take time come through `explorer_app.web.numbers`.
    - `register_callbacks(app, trace)` is called once.
    - `keys`: what the keyboard and the mouse do here, for the key help.
    - `fills_height`: the page takes the rest of the window instead of scrolling.
    """

    path: str
    name: str
    question: str
    layout: Callable[[Trace], Any]
    register_callbacks: Callable[[dash.Dash, Trace], None] = _no_callbacks
    keys: tuple[tuple[str, str], ...] = ()
    fills_height: bool = False
