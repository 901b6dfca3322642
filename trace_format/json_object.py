"""Reads the JSON objects that events carry, whoever wrote them."""

from __future__ import annotations

import json
from typing import Any

import msgspec


def json_object(text: bytes) -> dict[str, Any]:
    """The object this text is, as a new dict; empty for no text, and for what is no JSON object."""
    try:
        found = msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, RecursionError):
        found = _as_the_standard_library(text)
    return found if isinstance(found, dict) else {}


def _as_the_standard_library(text: bytes) -> Any:
    """What msgspec refuses for a lone surrogate or a number beyond float64; the standard library takes both."""
    try:
        return json.loads(text.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
