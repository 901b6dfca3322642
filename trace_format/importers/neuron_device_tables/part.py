"""Rows of a table whose values can be anything, and what they are as numbers and as text."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

Array = np.ndarray
Row = dict[str, Any]

_LONGEST_NUMBER = 20  # characters of 64 bits
UNREADABLE = np.iinfo(np.int64).min  # where a column has to be an integer and the row has none


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows of one table, `name` and columns as in AWS's JSON. A row has the columns that say something."""

    name: str
    rows: list[Row]

    def __len__(self) -> int:
        return len(self.rows)

    def has(self, column: str) -> bool:
        return any(column in row for row in self.rows)

    def values(self, column: str) -> list[Any]:
        return [row.get(column) for row in self.rows]

    def integers(self, column: str, unknown: int = -1) -> Array:
        """`(n,) int64`; `unknown` where a row has no whole number of 64 bits."""
        values = self.values(column)
        if set(map(type, values)) == {int}:
            try:
                return np.array(values, np.int64)
            except OverflowError:
                pass
        return np.array([_integer(value, unknown) for value in values], np.int64)

    def reals(self, column: str) -> Array:
        """`(n,) float64`; NaN where a row has no number."""
        return np.array([_real(value) for value in self.values(column)], np.float64)

    def texts(self, column: str) -> list[str]:
        """What the rows say in words; "" where they say nothing."""
        return [value if type(value) is str else text_of(value) for value in self.values(column)]

    def where(self, mask: Array) -> Part:
        """The rows that the mask chooses."""
        if mask.all():
            return self
        return Part(self.name, [row for row, wanted in zip(self.rows, mask.tolist(), strict=True) if wanted])


def _integer(value: Any, unknown: int) -> int:
    if isinstance(value, str):
        value = int(value) if value.removeprefix("-").isdecimal() and len(value) <= _LONGEST_NUMBER else None
    elif isinstance(value, float):
        value = math.floor(value) if math.isfinite(value) else None
    if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return value
    return unknown


def _real(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    return math.nan


def text_of(value: Any) -> str:
    """A value in words: text as it is, nothing as "", all else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else encoded(value).decode("utf-8", "surrogatepass")


def encoded(value: Any) -> bytes:
    """A value as JSON in UTF-8, keys in order."""
    try:
        return msgspec.json.encode(value, order="sorted")
    except (UnicodeEncodeError, OverflowError):  # lone surrogates and numbers beyond 64 bits
        text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
        return text.encode("utf-8", "surrogatepass")
