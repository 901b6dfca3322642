"""The report on a trace as one HTML file: what a reader of the explorer would look at first, for a mail or a ticket."""

from __future__ import annotations

from explorer_app.reporters.report.page import write_report

__all__ = ["write_report"]
