"""The Timeline page: what happened when, and what caused it."""

from __future__ import annotations

from explorer_app.web.page import Page
from explorer_app.web.timeline.keys import KEYS
from explorer_app.web.timeline.page import layout, register_callbacks

PAGE = Page(
    path="/timeline",
    name="Timeline",
    question="What happened when, and what caused it?",
    layout=layout,
    register_callbacks=register_callbacks,
    keys=KEYS,
    fills_height=True,
    shows_whole=True,
)
