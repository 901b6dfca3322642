"""The outermost layer of a trace.pb: tagged, length-delimited, checksummed records."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

Buffer: TypeAlias = bytes | memoryview

MAGIC = b"\x09\x89NRPB\n\x1a\n"
FIRST_RECORD = len(MAGIC)
TRAILER_TAG = 0x79  # field 15, fixed64
TRAILER_BYTES = 9
_CRC_TAG = 0x7D  # field 15, fixed32, of every record message
_CRC_BYTES = 5
_LENGTH_DELIMITED = 2

# Field numbers in message Trace.
HEADER, STRINGS, STACKS, ARG_SETS, BLOCKS, METADATA, INDEX = 2, 3, 4, 5, 6, 7, 14
# Records of later minor versions, kept without being understood.
LATER_FIELDS = range(8, 14)


@dataclass(frozen=True, slots=True)
class Record:
    """Where one record lies: its field number, and the bytes [offset, end) of tag, length and payload."""

    field: int
    offset: int
    payload: int
    end: int


def seal(field: int, message: bytes) -> bytes:
    """The record of an encoded message: tag, length, message, checksum."""
    crc = zlib.crc32(message)
    return b"".join(
        (
            varint(field << 3 | _LENGTH_DELIMITED),
            varint(len(message) + _CRC_BYTES),
            message,
            bytes((_CRC_TAG,)),
            crc.to_bytes(4, "little"),
        )
    )


def unseal(payload: Buffer) -> bytes | None:
    """The encoded message of a record's payload, None where its checksum does not hold."""
    if len(payload) < _CRC_BYTES or payload[-_CRC_BYTES] != _CRC_TAG:
        return None
    message = bytes(payload[:-_CRC_BYTES])  # a copy, so that nothing holds on to the mapped file
    return message if zlib.crc32(message) == int.from_bytes(payload[-4:], "little") else None


def trailer(index_offset: int) -> bytes:
    return bytes((TRAILER_TAG,)) + index_offset.to_bytes(8, "little")


def index_offset(data: Buffer) -> int | None:
    """Where the trailer of a whole file says the index is; None where there is no trailer."""
    if len(data) < FIRST_RECORD + TRAILER_BYTES or data[-TRAILER_BYTES] != TRAILER_TAG:
        return None
    offset = int.from_bytes(data[-8:], "little")
    return offset if FIRST_RECORD <= offset < len(data) - TRAILER_BYTES else None


def record_at(data: Buffer, offset: int) -> Record | None:
    """The record whose tag is at `offset`, None where none fits there whole."""
    tag, at = _read_varint(data, offset)
    if tag is None or tag & 7 != _LENGTH_DELIMITED or tag >> 3 == 0:
        return None
    size, payload = _read_varint(data, at)
    if size is None or size > len(data) - payload:
        return None
    return Record(tag >> 3, offset, payload, payload + size)


def walk(data: Buffer) -> Iterator[Record]:
    """The records in file order, up to the first place where none fits whole."""
    offset = FIRST_RECORD
    while offset < len(data):
        record = record_at(data, offset)
        if record is None:
            return
        yield record
        offset = record.end


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data: Buffer, at: int) -> tuple[int | None, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            return None, at
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    return None, at
