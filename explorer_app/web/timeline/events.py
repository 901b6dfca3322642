"""Reading what the canvas told through its stores: it comes from a browser, so it may be anything."""

from __future__ import annotations

from typing import Any

_LARGEST = 1 << 62


def whole_number(event: Any, name: str) -> int | None:
    """A whole number in an event, None where there is none that 64 bits hold twice over."""
    value = event.get(name) if isinstance(event, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST else None
