"""Reads the packets of a Perfetto trace, by the protobuf rules alone."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Fields = list[tuple[int, Any]]


@dataclass
class PerfettoFile:
    """What a file says: descriptors by uuid, and track events as dicts in file order, names put in."""

    tracks: dict[int, dict[int, Any]] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)


def read(path: Path) -> PerfettoFile:
    out = PerfettoFile()
    interned: dict[int, dict[int, str]] = {}
    for number, packet in fields(path.read_bytes()):
        assert number == 1
        said = dict(fields(packet))
        assert said[10] == 1  # one sequence
        if 12 in said:
            for kind, entry in fields(said[12]):
                values = dict(fields(entry))
                interned.setdefault(kind, {})[values[1]] = values[2].decode()
        if 60 in said:
            track = dict(fields(said[60]))
            assert track.get(5, track[1]) in {*out.tracks, track[1]}, "a parent comes before its children"
            out.tracks[track[1]] = track
        if 11 in said:
            out.events.append(_event(_signed(said[8]), fields(said[11]), interned))
    return out


def _event(ts_ns: int, said: Iterator[tuple[int, Any]], interned: dict[int, dict[int, str]]) -> dict[str, Any]:
    event: dict[str, Any] = {"ts_ns": ts_ns, "args": {}, "out": [], "in": []}
    for number, value in said:
        if number == 9:
            event["type"] = {1: "begin", 2: "end", 3: "instant", 4: "counter"}[value]
        elif number == 11:
            event["track"] = value
        elif number == 10:
            event["name"] = interned[2][value]
        elif number == 3:
            event["category"] = interned[1][value]
        elif number == 44:
            event["value"] = value.unpack("<d")
        elif number == 47:
            event["out"].append(value.unpack("<Q"))
        elif number == 48:
            event["in"].append(value.unpack("<Q"))
        elif number == 4:
            argument = dict(fields(value))
            name = interned[3][argument.pop(1)]
            ((kind, found),) = argument.items()
            decode = {
                2: bool, 3: int, 4: _signed, 5: lambda v: v.unpack("<d"), 6: bytes.decode, 17: interned.get(29, {}).get,
            }[kind]  # fmt: skip
            event["args"][name] = decode(found)
        else:
            raise AssertionError(f"field {number}")
    return event


class Word(bytes):
    """Eight bytes whose type only the schema knows."""

    def unpack(self, code: str) -> Any:
        return struct.unpack(code, self)[0]


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Field number and value of every field of a message."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag & 7 == 0:
            value, at = _varint(data, at)
            yield tag >> 3, value
        elif tag & 7 == 1:
            yield tag >> 3, Word(data[at : at + 8])
            at += 8
        else:
            assert tag & 7 == 2
            size, at = _varint(data, at)
            assert at + size <= len(data)
            yield tag >> 3, data[at : at + size]
            at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            assert shift <= 70
            return value & (2**64 - 1), at


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value
