"""The Hotspots page: which operations take the time, as a grid and as a tree of the calls that lead to them."""

from __future__ import annotations

from explorer_app.web.pages.hotspots.page import PAGE

__all__ = ["PAGE"]
