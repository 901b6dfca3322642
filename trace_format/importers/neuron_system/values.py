"""Values of decoded JSON in the one form that columns take: files have numbers as text too, and null."""

from __future__ import annotations

from typing import Any

_INT64 = 2**63


def integer(value: Any) -> int | None:
    """The whole number that a value is, also written as text or with a fraction of 0; None for any other."""
    if type(value) is int:  # nearly always, and asked for a dozen times for each event
        return value if -_INT64 <= value < _INT64 else None
    if isinstance(value, str):
        digits = value.strip()
        if not digits.removeprefix("-").isdecimal() or not digits.isascii() or len(digits) > 20:
            return None
        value = int(digits)
    if isinstance(value, float):
        if not value.is_integer():
            return None
        value = int(value)
    return value if type(value) is int and -_INT64 <= value < _INT64 else None


def number(value: Any) -> float | None:
    """The number that a value is; None for text, true and false, and everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None


def text(value: Any) -> str:
    """A value as text; "" for none."""
    if isinstance(value, str):
        return value
    return "" if value is None else str(value)
