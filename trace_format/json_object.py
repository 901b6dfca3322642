"""Reads the JSON objects that events carry, whoever wrote them."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec


def json_object(text: bytes) -> dict[str, Any]:
    """The object this text is, as a new dict; empty for no text, and for what is no JSON object."""
    try:
        found = msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, RecursionError):
        found = _as_the_standard_library(text)
    return found if isinstance(found, dict) else {}


def finite(text: str) -> float | str:
    """The number that JSON text states; the text itself where no float is that large."""
    value = float(text)
    return value if math.isfinite(value) else text


def _as_the_standard_library(text: bytes) -> Any:
    """What msgspec refuses for a lone surrogate or a number beyond float64; the standard library takes both."""
    try:
        return json.loads(text.decode("utf-8", "surrogatepass"), parse_float=finite)
    except (ValueError, RecursionError):
        return None
