"""The Collectives page: which collective costs the step, and which rank the others wait for."""

from __future__ import annotations

from explorer_app.web.pages.collectives.page import PAGE

__all__ = ["PAGE"]
