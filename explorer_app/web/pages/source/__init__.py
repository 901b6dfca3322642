"""The Source page: which line of the user's own code takes the time."""

from __future__ import annotations

from explorer_app.web.pages.source.page import PAGE

__all__ = ["PAGE"]
