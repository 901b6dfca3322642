"""What is told besides the tables (argument sets, metadata) without what tells who recorded it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from trace_format.json_object import json_object
from trace_format.redaction.pseudonyms import Pseudonyms
from trace_format.redaction.public_words import KEYS

_DEEPEST: Final = 20
# Sentences and lists of names that only a reader of the whole trace needs.
_LEFT_OUT: Final = frozenset({"notes", "generic_operators", "path", "trace_id", "operands"})
_KINDS: Final = {"host": "host", "host_name": "host", "function": "function", "device_model": "device"}


def redacted_arguments(arguments: bytes, pseudonyms: Pseudonyms) -> bytes:
    """An argument set of a pool with its texts replaced; numbers stay."""
    told = json_object(arguments)
    return msgspec.json.encode(redacted_mapping(told, pseudonyms)) if told else b""


def redacted_mapping(told: Mapping[str, Any], pseudonyms: Pseudonyms) -> dict[str, Any]:
    """A mapping as JSON has it with its texts and the keys that are not known replaced; numbers stay."""
    return {
        key if key in KEYS else pseudonyms.text(key, "key"): _redacted(value, pseudonyms, _KINDS.get(key, "text"), 0)
        for key, value in told.items()
        if key not in _LEFT_OUT
    }


def _redacted(value: Any, pseudonyms: Pseudonyms, kind: str, depth: int) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return pseudonyms.text(value, kind)
    if depth >= _DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {
            key if key in KEYS else pseudonyms.text(str(key), "key"): _redacted(
                item, pseudonyms, _KINDS.get(str(key), "text"), depth + 1
            )
            for key, item in value.items()
            if key not in _LEFT_OUT
        }
    if isinstance(value, (list, tuple)):
        return [_redacted(item, pseudonyms, kind, depth + 1) for item in value]
    return None
