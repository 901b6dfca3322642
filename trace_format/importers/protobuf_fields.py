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
        key, at = varint(message, at)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise ValueError(f"field 0 before byte {at}")
        if wire == VARINT:
            value, at = varint(message, at)
            yield number, value, message[:0]
            continue
        if wire == BYTES:
            size, at = varint(message, at)
        elif wire in _FIXED_SIZES:
            size = _FIXED_SIZES[wire]
        else:
            raise ValueError(f"wire type {wire} before byte {at}")
        if size > end - at:
            raise ValueError(f"a field of {size} bytes where {end - at} are left")
        part = message[at : at + size]
        at += size
        yield number, 0 if wire == BYTES else int.from_bytes(part, "little"), part if wire == BYTES else message[:0]


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
                at += _size_of_field(message, at)
    except IndexError:
        return found, f"cut off after byte {end}"
    except ValueError as error:
        return found, str(error)
    return found, ""


def _size_of_field(message: bytes, at: int) -> int:
    """How many bytes the field at `at` takes. Raises ValueError where it is none."""
    key, inside = varint(message, at)
    wire = key & 7
    if key >> 3 == 0:
        raise ValueError(f"field 0 before byte {inside}")
    if wire == VARINT:
        return varint(message, inside)[1] - at
    if wire in _FIXED_SIZES:
        size = _FIXED_SIZES[wire]
    elif wire == BYTES:
        size, inside = varint(message, inside)
    else:
        raise ValueError(f"wire type {wire} before byte {inside}")
    if size > len(message) - inside:
        raise ValueError(f"a field of {size} bytes where {len(message) - inside} are left")
    return inside + size - at


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
