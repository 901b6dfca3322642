"""The entries of a structured log: a line of metadata, and the indented payload below it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from trace_format.importers.recognition import BOM
from trace_format.importers.trace_event_json.repair import dumped, mended

# glog's prefix: level, month and day, time of day, thread, place in the source (torch/_logging/_internal.py)
HEADER = re.compile(rb"[VIWEC](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9}) (\d{1,20}) ([^\n\]]*)\] ?(?=\{)")
_LONGEST_LINE = 64 << 20
_LONGEST_MENDED = 1 << 20
_LARGEST_PAYLOAD = 16 << 20  # an event is a few hundred bytes; graphs and code are only counted
_LEAP_YEAR = 2024  # the header has no year; in this one every day exists


@dataclass(slots=True)
class Entry:
    """One entry. `since_new_year_ns` is local time; `said` is None where its line is no valid JSON.

    `mends` are the causes of what had to be mended in it. `payload` is its beginning where it is longer than any
    event; `payload_bytes` is what there was.
    """

    since_new_year_ns: int
    said: dict[str, Any] | None
    mends: list[str]
    payload_bytes: int = 0
    _lines: list[bytes] = field(default_factory=list)

    @property
    def payload(self) -> bytes:
        return b"\n".join(self._lines)

    def add(self, line: bytes) -> None:
        """Append a line to the payload."""
        if self.payload_bytes <= _LARGEST_PAYLOAD:
            self._lines.append(line)
        self.payload_bytes += len(line) + 1


def entries(pieces: Iterator[bytes]) -> Iterator[Entry | None]:
    """The entries in the order of the file; None stands for text that belongs to none.

    An entry that begins within a line, where another writer was cut off, is one too.
    """
    entry: Entry | None = None
    for line in _lines(pieces):
        headers = _headers(line)
        before = line[: headers[0].start()] if headers else line
        if before.startswith(b"\t") and entry is not None:
            entry.add(before[1:])
        elif before.strip():
            yield None
        ends = [header.start() for header in headers[1:]] + [len(line)]
        for header, end in zip(headers, ends, strict=False):
            if entry is not None:
                yield entry
            entry = _entry(header, line[header.end() : end])
            if entry is None:
                yield None
    if entry is not None:
        yield entry


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The lines, each cut off where it is longer than any of them may be."""
    parts: list[bytes] = []
    size = 0
    start = BOM
    for piece in pieces:
        first, *others = piece.removeprefix(start).split(b"\n")
        start = b""
        for line in others:
            yield b"".join([*parts, first])
            parts, size, first = [], 0, line
        if size < _LONGEST_LINE:
            parts.append(first)
            size += len(first)
    if size:
        yield b"".join(parts)


def _entry(header: re.Match[bytes], text: bytes) -> Entry | None:
    month, day, hour, minute, second = (int(header[i]) for i in range(1, 6))
    try:
        when = datetime(_LEAP_YEAR, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError:
        return None
    since = when - datetime(_LEAP_YEAR, 1, 1, tzinfo=UTC)
    part_ns = int(header[6].ljust(9, b"0"))
    said, mends = _object(text), list[str]()
    if said is None and len(text) <= _LONGEST_MENDED:
        said, mends = _mended(text)
    return Entry((since.days * 86_400 + since.seconds) * 10**9 + part_ns, said, mends)


def _mended(text: bytes) -> tuple[dict[str, Any] | None, list[str]]:
    """What a line that is almost JSON says, and the causes of what had to be mended in it."""
    try:
        value, mends = mended(text) or (None, [])
        return (json.loads(dumped(value)), mends) if isinstance(value, dict) else (None, [])
    except RecursionError:
        return None, []


def _headers(line: bytes) -> list[re.Match[bytes]]:
    """Where entries begin in a line: at its start, and where something else was cut off and an entry follows."""
    found = list(HEADER.finditer(line))
    if line.startswith(b"\t"):  # what is logged may quote a log; an entry of this one can be read
        return [header for header in found if _object(line[header.end() :]) is not None]
    if len(found) > 1 and found[0].start() == 0 and _object(line[found[0].end() :]) is not None:
        return found[:1]
    return found


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        said = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    return said if isinstance(said, dict) else None
