"""Text every JSON reader takes: some, Perfetto's among them, refuse a whole file for one lone surrogate in it."""

from __future__ import annotations

import json
import re

import msgspec

from trace_format.json_object import finite

_SURROGATE = re.compile("[\ud800-\udfff]")


def is_plain(text: str) -> bool:
    """Whether the text is Unicode that any program can hold: no surrogates."""
    return text.isascii() or _SURROGATE.search(text) is None


def plain(text: str) -> str:
    """The text with each lone surrogate replaced and each pair of them joined."""
    return text if is_plain(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def plain_object(args: bytes) -> str | None:
    """An argument set's text if any program can read it; None if it is no JSON object or holds surrogates."""
    try:
        return args.decode() if not args or isinstance(msgspec.json.decode(args), dict) else None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def readable_object(args: bytes) -> str:
    """An argument set as a JSON object any program can read: surrogates replaced, empty where it is none at all."""
    found = plain_object(args)
    if found is not None:
        return found
    try:
        value = json.loads(args, parse_float=finite)
    except (ValueError, RecursionError):
        return "{}"
    return json.dumps(json.loads(plain(json.dumps(value, ensure_ascii=False)))) if isinstance(value, dict) else "{}"
