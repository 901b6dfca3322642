"""The Compare page: what changed from one trace to another, and whether it is real."""

from __future__ import annotations

from explorer_app.web.pages.compare.page import PAGE

__all__ = ["PAGE"]
