"""The entries of a structured log: a line of metadata, and the indented payload below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

# glog's prefix: level, month and day, time of day, thread, place in the source (torch/_logging/_internal.py)
HEADER = re.compile(rb"[VIWEC](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9}) (\d+) ([^\n\]]*)\] ?(?=\{)")
_LONGEST_LINE = 64 << 20
_LEAP_YEAR = 2024  # the header has no year; in this one every day exists


@dataclass(slots=True)
class Entry:
    """One entry. `since_new_year_ns` is local time; `said` is None where its line is no valid JSON."""

    since_new_year_ns: int
    thread: int
    said: dict[str, Any] | None
    payload: bytes


def entries(pieces: Iterator[bytes]) -> Iterator[Entry | None]:
    """The entries in the order of the file; None stands for a line that belongs to none."""
    entry: Entry | None = None
    payload: list[bytes] = []
    for line in _lines(pieces):
        if line.startswith(b"\t") and entry is not None:
            payload.append(line[1:])
            continue
        if entry is not None:
            entry.payload = b"\n".join(payload)
            yield entry
        payload = []
        header = HEADER.match(line)
        entry = _entry(header, line[header.end() :]) if header else None
        if entry is None and line.strip():
            yield None
    if entry is not None:
        entry.payload = b"\n".join(payload)
        yield entry


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()[:_LONGEST_LINE]
        yield from lines
    if rest:
        yield rest


def _entry(header: re.Match[bytes], text: bytes) -> Entry | None:
    month, day, hour, minute, second = (int(header[i]) for i in range(1, 6))
    try:
        when = datetime(_LEAP_YEAR, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError:
        return None
    since = when - datetime(_LEAP_YEAR, 1, 1, tzinfo=UTC)
    part_ns = int(header[6].ljust(9, b"0"))
    try:
        said = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        said = None
    since_ns = (since.days * 86_400 + since.seconds) * 10**9 + part_ns
    return Entry(since_ns, int(header[7]), said if isinstance(said, dict) else None, b"")
