"""Arguments of events as debug annotations, encoded once for each argument set."""

from __future__ import annotations

import json

import msgspec

from trace_format.exporters.perfetto import wire
from trace_format.exporters.perfetto.packet import ANNOTATIONS
from trace_format.exporters.plain_text import plain, readable_object

# Fields of DebugAnnotation (perfetto/protos/perfetto/trace/track_event/debug_annotation.proto).
_NAME_IID, _BOOL, _UINT, _INT, _DOUBLE, _STRING = 1, 2, 3, 4, 5, 6
_DECODER = msgspec.json.Decoder(dict[str, msgspec.Raw])
_SCALARS = {b"true": wire.number(_BOOL, 1), b"false": wire.number(_BOOL, 0)}


class Annotations:
    """The encoded arguments of argument sets, and the names they use.

    `names`: each argument name -> the id it is referred to by, in order of first use. Ids start at 1.
    """

    def __init__(self) -> None:
        self.names: dict[str, int] = {}

    def name_id(self, name: str) -> int:
        return self.names.setdefault(name, len(self.names) + 1)

    def encoded(self, args: bytes) -> bytes:
        """An argument set as fields of a TrackEvent; nested values as JSON text
        (legacy_json_value would let Perfetto take them apart, but version 52 crashes on it)."""
        if not args:
            return b""
        try:
            found = _DECODER.decode(args)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            found = _DECODER.decode(readable_object(args))
        return b"".join(
            wire.sized(ANNOTATIONS, wire.number(_NAME_IID, self.name_id(plain(name))), _value(bytes(value)))
            for name, value in found.items()
        )


def _value(text: bytes) -> bytes:
    """A JSON value as the value of a DebugAnnotation."""
    first = text[:1]
    if first == b'"':
        return wire.text(_STRING, json.loads(text))
    if first in b"-0123456789":
        return _number(text)
    return _SCALARS.get(text) or wire.sized(_STRING, text)


def _number(text: bytes) -> bytes:
    value = json.loads(text)
    if isinstance(value, float):
        return wire.double(_DOUBLE, value)
    if -(2**63) <= value < 2**63:
        return wire.number(_INT, value)
    return wire.number(_UINT, value) if 0 <= value < 2**64 else wire.sized(_STRING, text)
