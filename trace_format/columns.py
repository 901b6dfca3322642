"""What a column of a table is: its dtype, its meaning, and the value that stands for unknown."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np


class Meaning(Enum):
    """How a column's numbers are to be read."""

    TIME = "absolute nanoseconds on the clock named in the trace's metadata"
    DURATION = "nanoseconds"
    NUMBER = "a number in the unit its name states"
    FLAG = "true or false"
    CHOICE = "index into the column's `choices`"
    ROW = "row number of another table, -1 for none"
    STRING = "index into `pool.strings`, 0 for the empty string"
    STACK = "index into `pool.stacks`, 0 for the empty stack"
    ARGS = "index into `pool.arg_sets`, 0 for no arguments"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table's schema.

    `unknown` is the value of a row that says nothing about this column; a column that is
    `unknown` throughout takes no memory and no bytes on disk. A `derived` column is computed
    from the others when it is first asked for and is never stored.
    """

    dtype: np.dtype[Any]
    meaning: Meaning
    unknown: float
    choices: tuple[str, ...] = ()
    derived: bool = False
    references: str = ""

    def filled(self, rows: int) -> np.ndarray:
        """A read-only column of `rows` unknowns that takes no memory, whatever `rows` is."""
        return constant_column(self.unknown, rows, self.dtype)


def constant_column(value: Any, rows: int, dtype: np.dtype[Any]) -> np.ndarray:
    """A read-only column of `rows` times `value` that takes no memory."""
    return np.broadcast_to(np.asarray(value, dtype=dtype), (rows,))


def is_constant(column: np.ndarray) -> bool:
    """Whether the column is one value repeated without memory (see `constant_column`)."""
    return column.ndim == 1 and len(column) > 0 and column.strides == (0,)


def time() -> Column:
    return Column(np.dtype("<i8"), Meaning.TIME, 0)


def duration(*, derived: bool = False) -> Column:
    return Column(np.dtype("<i8"), Meaning.DURATION, -1, derived=derived)


def integer(*, unknown: int = -1, dtype: str = "<i8", derived: bool = False) -> Column:
    return Column(np.dtype(dtype), Meaning.NUMBER, unknown, derived=derived)


def real() -> Column:
    return Column(np.dtype("<f8"), Meaning.NUMBER, float("nan"))


def flag() -> Column:
    return Column(np.dtype("?"), Meaning.FLAG, 0)


def choice(*choices: str) -> Column:
    return Column(np.dtype("u1"), Meaning.CHOICE, choices.index("other") if "other" in choices else 0, choices)


def row_of(table: str, *, derived: bool = False) -> Column:
    return Column(np.dtype("<i8"), Meaning.ROW, -1, derived=derived, references=table)


def string() -> Column:
    return Column(np.dtype("<u4"), Meaning.STRING, 0)


def stack() -> Column:
    return Column(np.dtype("<u4"), Meaning.STACK, 0)


def args() -> Column:
    return Column(np.dtype("<u4"), Meaning.ARGS, 0)
