"""Protobuf bytes by hand: single fields, and many messages of one shape at once.

A varint may be longer than it needs to be, which lets all messages of a batch have the same length.
"""

from __future__ import annotations

import numpy as np

from trace_format.exporters.byte_rows import ByteRows
from trace_format.exporters.plain_text import plain
from trace_format.trace_pb.wire import varint

Array = np.ndarray

VARINT, FIXED64, BYTES = 0, 1, 2
_BITS, _MASK, _MORE = 7, 0x7F, 0x80
_ALL_64 = 2**64 - 1


def tag(field: int, wire_type: int) -> bytes:
    return varint(field << 3 | wire_type)


def number(field: int, value: int) -> bytes:
    """An integer field; a negative one as its two's complement in 64 bits."""
    return tag(field, VARINT) + varint(value & _ALL_64)


def double(field: int, value: float) -> bytes:
    return tag(field, FIXED64) + np.float64(value).tobytes()


def sized(field: int, *parts: bytes) -> bytes:
    """A message, string or bytes field made of these parts."""
    data = b"".join(parts)
    return tag(field, BYTES) + varint(len(data)) + data


def text(field: int, value: str) -> bytes:
    """A string field. Perfetto ends a string at a zero byte, so the sign for one stands in its place."""
    return sized(field, plain(value).replace("\0", "\N{SYMBOL FOR NULL}").encode())


class Batch(ByteRows):
    """Messages of one shape, put together field by field."""

    def varints(self, values: Array) -> None:
        """Append a varint to each message; negative ones as their two's complement in 64 bits."""
        bits = values.astype(np.int64, copy=False).view(np.uint64)
        width = max(1, -(-int(bits.max(initial=0)).bit_length() // _BITS))
        out = np.empty((self.rows, width), np.uint8)
        for i in range(width):
            septet = (bits >> np.uint64(_BITS * i)).astype(np.uint8) & np.uint8(_MASK)
            out[:, i] = septet if i == width - 1 else septet | np.uint8(_MORE)
        self.columns(out)

    def words(self, values: Array) -> None:
        """Append 8 bytes to each message: those of a float64 or int64 column."""
        self.columns(np.ascontiguousarray(values).view(np.uint8).reshape(self.rows, 8))

    def message(self, field: int, inner: Batch, tail_sizes: Array | None = None) -> None:
        """Append a field that holds the messages of `inner`; `tail_sizes` are the bytes that follow each one."""
        self.put(tag(field, BYTES))
        if tail_sizes is None:
            self.put(varint(inner.size))
        else:
            self.varints(tail_sizes + inner.size)
        self.add(inner)
