"""How a column of a block becomes bytes and comes back."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import zstandard

from trace_format.columns import Column, Meaning, is_constant
from trace_format.proto import trace_pb2 as pb

Array = np.ndarray

_TYPES = {
    np.dtype("?"): pb.BOOL,
    np.dtype("u1"): pb.U8,
    np.dtype("<u4"): pb.U32,
    np.dtype("<i4"): pb.I32,
    np.dtype("<i8"): pb.I64,
    np.dtype("<u8"): pb.U64,
    np.dtype("<f8"): pb.F64,
}
DTYPES = {number: dtype for dtype, number in _TYPES.items()}
_UNSIGNED: dict[int, np.dtype[Any]] = {1: np.dtype("u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4"), 8: np.dtype("<u8")}
# Ids that grow along a track, where differences are smaller than values.
_GROWING = frozenset(
    ("correlation", "external_id", "event_index", "record_function_id", "sequence_number", "python_id",
     "python_parent_id", "flow_id", "from_slice", "to_slice", "slice", "total_bytes", "seq")
)  # fmt: skip
# A row stored by place costs its place too, so it pays only where most rows are unknown.
_SPARSE_SHARE = 0.25
_ZSTD_LEVEL = 1


class ColumnError(ValueError):
    """A stored column contradicts itself."""


class Encoder:
    """Encodes columns of blocks; keeps its compressor between them."""

    def __init__(self) -> None:
        self._zstd = zstandard.ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=True, write_content_size=True)

    def compress(self, *parts: bytes) -> tuple[pb.Codec, list[bytes]]:
        """The codec and the parts stored with it: zstandard where that is smaller in sum, else as they are."""
        packed: list[bytes] = [self._zstd.compress(part) if part else b"" for part in parts]
        if sum(map(len, packed)) < sum(map(len, parts)):
            return pb.ZSTD, packed
        return pb.RAW, list(parts)

    def column(self, name: str, values: Array, spec: Column | None) -> pb.Column | None:
        """The stored form of a column `(rows,)`, None where every row is unknown and nothing is to be stored."""
        type_number = _TYPES[values.dtype]
        unknown = None if spec is None else _bits(np.asarray([spec.unknown], values.dtype))[0]
        bits = _bits(values)
        if is_constant(values) or bool((bits == bits[0]).all()):
            if unknown is not None and bits[0] == unknown:
                return None
            return pb.Column(name=name, type=type_number, transform=pb.CONSTANT, base=bits_of(values[:1]))
        out = pb.Column(name=name, type=type_number)
        places = b""
        if unknown is not None:
            known = np.flatnonzero(bits != unknown)
            if len(known) < _SPARSE_SHARE * len(bits):
                out.count = len(known)
                out.fill = int(unknown)
                places = known.astype("<u2").tobytes()
                bits = bits[known]
        signed = values.dtype.kind == "i"
        data = _transform(out, bits, signed=signed, delta=_delta_wanted(name, spec), split=_split_wanted(spec))
        codec, (packed, packed_places) = self.compress(data, places)
        out.codec = codec
        out.data, out.places = packed, packed_places
        return out


def _delta_wanted(name: str, spec: Column | None) -> bool:
    return name in _GROWING or (spec is not None and spec.meaning is Meaning.TIME)


def _split_wanted(spec: Column | None) -> bool:
    return spec is not None and spec.meaning is Meaning.DURATION


def _transform(out: pb.Column, bits: Array, *, signed: bool, delta: bool, split: bool) -> bytes:
    """Choose the transform, note it in `out`, and return the stored integers."""
    if delta and len(bits) > 1:
        wide = _widened(bits)
        steps = (wide[1:] - wide[:-1]).view(np.int64)
        step = steps.min()
        out.transform, out.base, out.step = pb.DELTA, int(wide[0]), int(step) % 2**64
        stored = steps.view(np.uint64) - np.uint64(out.step)
        out.width = _bytes_for(int(stored.max()))
        return _planes(stored, out.width)
    lowest = bits.view(np.dtype(f"<i{bits.dtype.itemsize}")).min() if signed else bits.min()
    base = _bits(np.asarray([lowest]))[0]
    stored = bits - base
    out.base = int(_widened(np.asarray([base], bits.dtype))[0])
    width = _bytes_for(int(stored.max()))
    if width == 0:
        out.transform = pb.CONSTANT
        return b""
    if split:
        out.transform, out.width = pb.SPLIT, width
        return _planes(stored, width)
    out.transform, out.width = pb.PLAIN, next(w for w in _UNSIGNED if w >= width)
    return stored.astype(_UNSIGNED[out.width]).tobytes()


def _bits(values: Array) -> Array:
    """The values as unsigned integers of their own width (signed ones by their bits)."""
    return values.view(_UNSIGNED[values.dtype.itemsize])


def _widened(bits: Array) -> Array:
    """The same integers modulo 2^64."""
    return bits.astype(np.uint64)


def _bytes_for(largest: int) -> int:
    return (largest.bit_length() + 7) // 8


def _planes(stored: Array, width: int) -> bytes:
    if width == 0:
        return b""
    narrow = np.ascontiguousarray(stored.astype(_UNSIGNED[next(w for w in _UNSIGNED if w >= width)]))
    by_byte = narrow.view(np.uint8).reshape(len(narrow), narrow.dtype.itemsize)
    return by_byte[:, :width].T.tobytes()


@cache
def _decompressor() -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor()


def decompress(data: bytes, codec: int, raw_size: int) -> bytes:
    """`raw_size` bytes. Raises ColumnError where the stored bytes do not make exactly these."""
    if codec == pb.RAW:
        raw = data
    elif codec == pb.ZSTD:
        try:
            if zstandard.frame_content_size(data) != raw_size:
                raise ColumnError("a compressed part does not have the size it should have")
            raw = _decompressor().decompress(data, max_output_size=raw_size)
        except zstandard.ZstdError as error:
            raise ColumnError(f"a compressed part does not decompress ({error})") from error
    else:
        raise ColumnError(f"codec {codec} is not known to this version")
    if len(raw) != raw_size:
        raise ColumnError("a stored part does not have the size it should have")
    return raw


def constant_value(column: pb.Column) -> int | None:
    """The 64-bit value that every row of a stored column has, None where rows differ."""
    return column.base if column.transform == pb.CONSTANT and column.count == 0 else None


def bits_of(value: Array) -> int:
    """The 64-bit stored form of a column's one value, given as an array `(1,)`."""
    return int(_widened(_bits(value))[0])


def from_bits(value: int, dtype: np.dtype[Any]) -> Array:
    """A stored 64-bit value as a scalar array of the column's type."""
    return np.asarray([value], np.uint64).astype(_UNSIGNED[dtype.itemsize]).view(dtype)[0]


def decode_column(column: pb.Column, out: Array) -> None:
    """Write the rows of a stored column into `out` `(rows,)`. Raises ColumnError where it contradicts itself."""
    rows = len(out)
    if DTYPES.get(column.type) != out.dtype:
        raise ColumnError(f"column {column.name!r} has type {column.type}, which is not its own")
    bits = out.view(_UNSIGNED[out.dtype.itemsize])
    if column.count == 0:
        _decode_values(column, bits)
    else:
        if column.count > rows:
            raise ColumnError(f"column {column.name!r} stores more rows than its block has")
        places = np.frombuffer(decompress(column.places, column.codec, 2 * column.count), "<u2")
        if int(places.max()) >= rows:
            raise ColumnError(f"column {column.name!r} names a row beyond its block")
        bits[:] = np.asarray([column.fill], np.uint64).astype(bits.dtype)
        values = np.empty(column.count, bits.dtype)
        _decode_values(column, values)
        bits[places] = values
    if out.dtype == np.dtype("?") and rows and int(bits.max()) > 1:
        raise ColumnError(f"column {column.name!r} holds a flag that is neither 0 nor 1")


def _decode_values(column: pb.Column, out: Array) -> None:
    count, width = len(out), column.width
    base = np.asarray([column.base], np.uint64).astype(out.dtype)
    if column.transform == pb.CONSTANT:
        out[:] = base
    elif column.transform == pb.PLAIN:
        if width not in _UNSIGNED or width > out.dtype.itemsize:
            raise ColumnError(f"column {column.name!r} stores integers of {width} bytes")
        np.add(np.frombuffer(decompress(column.data, column.codec, count * width), _UNSIGNED[width]), base, out=out)
    elif column.transform == pb.SPLIT:
        np.add(_from_planes(column, count, out.dtype), base, out=out)
    elif column.transform == pb.DELTA:
        out[0] = base[0]
        if count > 1:
            steps = _from_planes(column, count - 1, np.dtype("<u8"))
            steps += np.uint64(column.step)
            np.cumsum(steps, out=steps)
            steps += np.uint64(column.base)
            out[1:] = steps
    else:
        raise ColumnError(f"transform {column.transform} is not known to this version")


def _from_planes(column: pb.Column, count: int, dtype: np.dtype[Any]) -> Array:
    """The stored integers `(count,)` in a new array."""
    width = column.width
    if width > dtype.itemsize:
        raise ColumnError(f"column {column.name!r} stores integers of {width} bytes")
    out = np.zeros(count, dtype)
    if width:
        planes = np.frombuffer(decompress(column.data, column.codec, count * width), np.uint8).reshape(width, count)
        by_byte = out.view(np.uint8).reshape(count, dtype.itemsize)
        for i in range(width):
            by_byte[:, i] = planes[i]
    return out
