"""The Device page and its cards."""

from __future__ import annotations

from explorer_app.web.pages.device.page import PAGE

__all__ = ["PAGE"]
