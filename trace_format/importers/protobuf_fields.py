"""Walks a protobuf message whose schema is known only in part."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {FIXED64: 8, FIXED32: 4}
_LONGEST_VARINT = 10  # bytes: 64 bits in groups of seven


def fields(message: memoryview) -> Iterator[tuple[int, int, memoryview]]:
    """Number, integer value and bytes of each field, in their order; a field has one or the other, else 0 or empty.

    Each byte is looked at once and nothing is copied. Raises ValueError at the first byte that belongs to no field;
    what came before it has been yielded.
    """
    at, end = 0, len(message)
    while at < end:
        number, wire, begin, at = _field(message, at)
        if wire == BYTES:
            yield number, 0, message[begin:at]
        elif wire == VARINT:
            yield number, varint(message, begin)[0], message[:0]
        else:
            yield number, int.from_bytes(message[begin:at], "little"), message[:0]


def places(message: bytes, number: int, most: int) -> tuple[array[int], str]:
    """Begin and end of each field of this number that holds bytes, one after the other, and why it stops early ("").

    It stops at the first byte that belongs to no field, or after `most` fields. For messages of millions of fields.
    """
    found = array("q")
    at, end, key = 0, len(message), number << 3 | BYTES
    try:
        while at < end:
            if message[at] == key:
                size = message[at + 1]
                at += 2
                if size >= 0x80:
                    size, at = varint(message, at - 1)
                if size > end - at:
                    raise ValueError(f"a field of {size} bytes where {end - at} are left")
                if len(found) == 2 * most:
                    return found, f"only the first {most} are read"
                found.append(at)
                at += size
                found.append(at)
            else:
                at = _field(message, at)[3]
    except IndexError:
        return found, f"cut off after byte {end}"
    except ValueError as error:
        return found, str(error)
    return found, ""


def _field(message: memoryview | bytes, at: int) -> tuple[int, int, int, int]:
    """Number and wire type of the field at `at`, where its value begins and where it ends.

    Raises ValueError where it is none.
    """
    key, begin = varint(message, at)
    number, wire = key >> 3, key & 7
    if number == 0:
        raise ValueError(f"field 0 before byte {begin}")
    if wire == VARINT:
        return number, wire, begin, varint(message, begin)[1]
    if wire == BYTES:
        size, begin = varint(message, begin)
    elif wire in _FIXED_SIZES:
        size = _FIXED_SIZES[wire]
    else:
        raise ValueError(f"wire type {wire} before byte {begin}")
    if size > len(message) - begin:
        raise ValueError(f"a field of {size} bytes where {len(message) - begin} are left")
    return number, wire, begin, begin + size


def varints(packed: memoryview) -> list[int]:
    """The integers of a packed repeated field. Raises ValueError where the last one is cut off."""
    at, out = 0, []
    while at < len(packed):
        value, at = varint(packed, at)
        out.append(value)
    return out


def varint(message: memoryview | bytes, at: int) -> tuple[int, int]:
    """The integer at `at`, below 2**64, and the place behind it. Raises ValueError where it is cut off or too long."""
    value = 0
    for place in range(at, min(at + _LONGEST_VARINT, len(message))):
        byte = message[place]
        value |= (byte & 0x7F) << 7 * (place - at)
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, place + 1
    raise ValueError(f"an integer that is cut off or too long at byte {at}")
