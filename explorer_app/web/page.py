"""What a page of the explorer is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dash

from explorer_app.web.view import View, Views


def _no_callbacks(app: dash.Dash, views: Views) -> None:
    """A page that only shows has nothing to register."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page: where it is, the question it answers, and how it is drawn.

    - `layout(view)` returns the components under the page's heading. It is called for every visit and whenever another
      range is chosen; numbers that take time come through `explorer_app.web.numbers`.
    - `register_callbacks(app, views)` is called once; callbacks are told what is being looked at by `view.VIEW`.
    - `keys`: what the keyboard and the mouse do here, for the key help.
    - `fills_height`: the page takes the rest of the window instead of scrolling.
    - `shows_whole`: the page always shows the whole trace and marks the chosen range in it by itself.
    """

    path: str
    name: str
    question: str
    layout: Callable[[View], Any]
    register_callbacks: Callable[[dash.Dash, Views], None] = _no_callbacks
    keys: tuple[tuple[str, str], ...] = ()
    fills_height: bool = False
    shows_whole: bool = False
