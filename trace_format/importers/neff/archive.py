"""Walks the gzipped tar archive of a NEFF in memory and keeps the members that are asked for."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from trace_format.errors import LimitExceededError

_BLOCK_BYTES = 512
_PIECE_BYTES = 1 << 20
_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f\x8b"
_LONGEST_NAME_BYTES = 1 << 16  # of a member that gives another its name
# POSIX ustar, and what GNU tar and pax added: the type flag of a header
_FILES, _FOLDER, _LONG_NAME, _LONG_LINK, _PAX, _PAX_FOR_ALL = (b"0", b"\0", b"7"), b"5", b"L", b"K", b"x", b"g"
_REFUSED = {b"1": "link", b"2": "link", b"3": "device", b"4": "device", b"6": "device"}  # these carry no data
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:")
_PAX_RECORD = re.compile(rb"(\d{1,6}) ([^=\n]{1,64})=")


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """How much an archive may make a reader unpack and keep; far above any real NEFF."""

    members: int = 1 << 18
    names_bytes: int = 64 << 20  # of all names together
    kept_bytes: int = 1 << 30  # of all members that are kept
    always_bytes: int = 2 << 30  # any archive may unpack to this,
    expansion: int = 100  # and beyond it to this for each of its bytes so far (real ones: about ten)


@dataclass(slots=True)
class Archive:
    """What an archive holds: `kept` by name, the sizes of other members, the names of refused ones by cause."""

    kept: dict[str, bytes] = field(default_factory=dict)
    not_read: dict[str, int] = field(default_factory=dict)
    refused: dict[str, list[str]] = field(default_factory=dict)
    members: int = 0
    damage: str = ""  # what kept it from being read to its end


@dataclass(slots=True)
class _Member:
    name: str
    size: int
    type: bytes


class _EndedError(Exception):
    """The archive cannot be read beyond this; the message says why."""


def read_archive(
    pieces: Iterator[bytes], most_bytes: Callable[[str], int], *, path: Any, limits: ArchiveLimits | None = None
) -> Archive:
    """The archive whose compressed bytes come in `pieces`, up to where it ends or is damaged.

    `most_bytes(name)` is how large a member of this name may be to be kept; 0: it is not wanted. Nothing is written.
    Raises LimitExceededError where the archive is a bomb.
    """
    limits = limits or ArchiveLimits()
    stream = _Unpacked(pieces, limits, path)
    archive = Archive()
    kept_bytes = names_bytes = 0
    try:
        for member in _members(stream):
            archive.members += 1
            names_bytes += len(member.name)
            if archive.members > limits.members or names_bytes > limits.names_bytes:
                raise LimitExceededError(
                    f"holds more than {limits.members} members, or {limits.names_bytes} bytes of their names, which no "
                    "real NEFF does: not read",
                    path=path,
                )
            wrong = _wrong(member, archive)
            most = 0 if wrong else most_bytes(member.name)
            if most and member.size > min(most, limits.kept_bytes - kept_bytes):
                wrong = "too large to be read"
            if wrong:
                archive.refused.setdefault(wrong, []).append(member.name)
            elif most:
                archive.kept[member.name] = stream.take(member.size)
                kept_bytes += member.size
                stream.skip(-member.size % _BLOCK_BYTES)
                continue
            else:
                archive.not_read[member.name] = member.size
            stream.skip(_padded(member))
        stream.finish()
    except _EndedError as ended:
        archive.damage = str(ended)
    return archive


def _wrong(member: _Member, archive: Archive) -> str:
    """Why a member is refused, "" if it is not."""
    if member.type in _REFUSED:
        return f"a {_REFUSED[member.type]} and no file"
    if member.type not in _FILES:
        return "of an unknown kind"
    if not member.name:
        return "without a name"
    if _ABSOLUTE.match(member.name) or ".." in re.split(r"[/\\]", member.name):
        return "named to lie outside the archive"
    if member.name in archive.kept or member.name in archive.not_read:
        return "of a name that came before"
    return ""


def _members(stream: _Unpacked) -> Iterator[_Member]:
    """The members; whoever takes one reads or skips its data before the next."""
    long_name = ""
    for_all: dict[str, str] = {}
    for_next: dict[str, str] = {}
    while True:
        at = stream.position
        block = stream.take(_BLOCK_BYTES)
        if not any(block):
            return  # what follows is padding
        member = _header(block, at)
        if member.type in (_LONG_NAME, _LONG_LINK, _PAX, _PAX_FOR_ALL):
            if member.size > _LONGEST_NAME_BYTES:
                raise _EndedError(f"the archive is damaged: a name of {member.size} bytes at byte {at}")
            data = stream.take(_padded(member))[: member.size]
            if member.type == _LONG_NAME:
                long_name = data.split(b"\0", 1)[0].decode("utf-8", "replace")
            elif member.type != _LONG_LINK:
                target = for_next if member.type == _PAX else for_all
                target.update(_pax_records(data))
            continue
        known = for_all | for_next
        name = known.get("path") or long_name or member.name
        size = known.get("size", "")
        member.name = name.removeprefix("./")
        if size:
            if not size.isdecimal() or len(size) > 19:
                raise _EndedError(f"the archive is damaged: a size that is no number at byte {at}")
            member.size = int(size)
        long_name, for_next = "", {}
        if member.type != _FOLDER and not (member.type in _FILES and name.endswith("/")):
            yield member


def _header(block: bytes, at: int) -> _Member:
    told = _number(block[148:156])
    if told != sum(block[:148]) + 8 * 0x20 + sum(block[156:]):
        raise _EndedError(f"the archive is damaged: the header at byte {at} does not match its checksum")
    size = _number(block[124:136])
    if size < 0:
        raise _EndedError(f"the archive is damaged: a size that is no number at byte {at}")
    name = block[:100].split(b"\0", 1)[0]
    prefix = block[345:500].split(b"\0", 1)[0] if block[257:263] == b"ustar\0" else b""
    whole = prefix + b"/" + name if prefix else name
    return _Member(whole.decode("utf-8", "replace"), size, block[156:157])


def _number(text: bytes) -> int:
    """A number of a header, octal or (GNU) binary; -1 where it is neither."""
    if text[0] == 0x80:
        return int.from_bytes(text[1:], "big") if not any(text[1:-8]) else -1
    digits = text.replace(b"\0", b" ").strip()
    try:
        return int(digits or b"0", 8)
    except ValueError:
        return -1


def _pax_records(data: bytes) -> dict[str, str]:
    """The records of a pax header that are used here, up to the first that is damaged."""
    out = {}
    at = 0
    while found := _PAX_RECORD.match(data, at):
        end = at + int(found[1])
        if end <= found.end() or end > len(data):
            break
        if found[2] in (b"path", b"size"):
            out[found[2].decode()] = data[found.end() : end - 1].decode("utf-8", "replace")
        at = end
    return out


def _padded(member: _Member) -> int:
    """How many bytes of data follow the header."""
    if member.type in _REFUSED:
        return 0
    return member.size + -member.size % _BLOCK_BYTES


class _Unpacked:
    """The decompressed bytes in their order, never more than a megabyte beyond what is taken.

    Raises _EndedError where they end early or are damaged, LimitExceededError where they are far more than they were.
    """

    def __init__(self, pieces: Iterator[bytes], limits: ArchiveLimits, path: Any) -> None:
        self.position = 0
        self._pieces, self._limits, self._path = pieces, limits, path
        self._packed_bytes = 0
        self._inflater = zlib.decompressobj(_GZIP_WINDOW)
        self._pending = b""
        self._ready = memoryview(b"")

    def take(self, size: int) -> bytes:
        out = bytearray()
        while len(out) < size:
            out += self._next(size - len(out))
        return bytes(out)

    def skip(self, size: int) -> None:
        while size > 0:
            size -= len(self._next(size))

    def finish(self) -> None:
        """Read what is left, so that the checksum at the end of the stream is checked."""
        while not self._inflater.eof:
            self.position += len(self._ready)
            self._inflate()

    def _next(self, most: int) -> memoryview:
        """The next bytes, at least one."""
        while not self._ready:
            self._inflate()
        part, self._ready = self._ready[:most], self._ready[most:]
        self.position += len(part)
        return part

    def _inflate(self) -> None:
        if self._inflater.eof:
            self._pending = self._inflater.unused_data or self._packed()
            if self._pending[:2] != _GZIP_MAGIC:
                raise _EndedError(f"the archive ends early, after {self.position} bytes of it")
            self._inflater = zlib.decompressobj(_GZIP_WINDOW)
        self._pending = self._pending or self._packed()
        if not self._pending:
            raise _EndedError(f"the file ends early, after {self.position} bytes of its archive")
        try:
            piece = self._inflater.decompress(self._pending, _PIECE_BYTES)
        except zlib.error as error:
            raise _EndedError(f"the gzip stream is damaged, after {self.position} bytes of the archive") from error
        self._pending = self._inflater.unconsumed_tail
        self._ready = memoryview(piece)
        room = max(self._limits.always_bytes, self._limits.expansion * self._packed_bytes)
        if self.position + len(piece) > room:
            raise LimitExceededError(
                f"unpacks to more than {room} bytes, which no real NEFF of its size does: not read", path=self._path
            )

    def _packed(self) -> bytes:
        piece = next(self._pieces, b"")
        self._packed_bytes += len(piece)
        return piece
