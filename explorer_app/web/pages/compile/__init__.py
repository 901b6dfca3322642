"""The Compile page: what compiling cost, and whether it was needed."""

from __future__ import annotations

from explorer_app.web.pages.compile.page import PAGE

__all__ = ["PAGE"]
