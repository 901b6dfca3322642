"""Foreign text made safe for a cell of a table that a spreadsheet opens."""

from __future__ import annotations

from typing import Final

# A spreadsheet takes a cell that begins so for a formula: OWASP, "CSV Injection".
_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_cell(text: str) -> str:
    """The text, with an apostrophe in front of what a spreadsheet would take for a formula."""
    return f"'{text}" if text.startswith(_FORMULAS) else text
