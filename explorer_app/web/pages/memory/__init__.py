"""The Memory page and its cards."""

from __future__ import annotations

from explorer_app.web.pages.memory.page import PAGE

__all__ = ["PAGE"]
