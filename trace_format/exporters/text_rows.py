"""Numbers as JSON text, many at a time.

A number shorter than others of its batch is filled up with NUL, which no JSON text holds; `joined` takes it out
of the finished text.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from trace_format.exporters.byte_rows import ByteRows

Array = np.ndarray

_NS_PER_US = np.uint64(1000)
_TEN = np.uint64(10)
_FRACTION_DIGITS = 3
_ZERO, _MINUS = ord("0"), ord("-")


class TextRows(ByteRows):
    """Pieces of JSON text of one shape."""

    def integers(self, values: Array) -> None:
        """Append an int64 to each piece."""
        self._sign(values)
        self._digits(_magnitude(values))

    def naturals(self, values: Array) -> None:
        """Append a uint64 to each piece."""
        self._digits(values)

    def microseconds(self, ts_ns: Array) -> None:
        """Append nanoseconds to each piece as exact decimal microseconds."""
        self._sign(ts_ns)
        whole, part = np.divmod(_magnitude(ts_ns), _NS_PER_US)
        self._digits(whole)
        self.put(b".")
        self.columns(_decimal(part, _FRACTION_DIGITS) + np.uint8(_ZERO))

    def _sign(self, values: Array) -> None:
        negative = values < 0
        if negative.any():
            self.columns(np.where(negative, np.uint8(_MINUS), np.uint8(0))[:, None])

    def _digits(self, magnitude: Array) -> None:
        digits = _decimal(magnitude, len(str(int(magnitude.max(initial=0)))))
        shown = np.logical_or.accumulate(digits > 0, axis=1)
        shown[:, -1] = True
        self.columns(np.where(shown, digits + np.uint8(_ZERO), np.uint8(0)))


def joined(*columns: list[bytes]) -> bytes:
    """The texts of all columns row by row, one behind the other, without what fills numbers up."""
    return b"".join(chain.from_iterable(zip(*columns, strict=True))).translate(None, b"\0")


def _magnitude(values: Array) -> Array:
    return np.abs(values.astype(np.int64, copy=False)).view(np.uint64)  # right for the lowest int64 too, by its bits


def _decimal(values: Array, digits: int) -> Array:
    """The last decimal digits of each value as numbers, `(n, digits) uint8`."""
    out = np.empty((len(values), digits), np.uint8)
    for place in range(digits - 1, -1, -1):
        rest = values // _TEN
        out[:, place] = values - rest * _TEN
        values = rest
    return out
