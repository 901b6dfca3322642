"""Sums and percentiles over groups of rows, exact in int64."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

Array = np.ndarray

# A table of one entry for every possible key may be this many times as long as the rows are many.
_SPARSEST = 4
_SMALL = 1 << 20
_BITS = 63  # of a number of int64 that is not negative


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows that have the same values in some columns, as groups numbered from 0.

    - `of_row`: the group of each row, shape `(n,) int64`.
    - `values`: for each of the columns its value in each group.
    """

    of_row: Array
    values: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.values[0])

    def count(self, rows: Array | None = None) -> Array:
        """The number of rows in each group, of those `rows` alone where given."""
        return np.bincount(self.of_row if rows is None else self.of_row[rows], minlength=len(self))

    def sum(self, numbers: Array, rows: Array | None = None) -> Array:
        """The sum of int64 `numbers` in each group, those of `rows` alone where given."""
        out = np.zeros(len(self), np.int64)
        if rows is None:
            np.add.at(out, self.of_row, numbers)
        else:
            np.add.at(out, self.of_row[rows], numbers[rows])
        return out

    def max(self, numbers: Array, *, least: int) -> Array:
        """The largest of int64 `numbers` in each group, `least` where there is no larger."""
        out = np.full(len(self), least, np.int64)
        np.maximum.at(out, self.of_row, numbers)
        return out


def group(columns: Sequence[Array], sizes: Sequence[int]) -> Groups:
    """The groups of rows that agree in all columns; column i holds whole numbers from 0 to below `sizes[i]`.

    Groups are in order of the first column, then the second, and so on. Empty input gives no groups.
    """
    key = columns[0].astype(np.int64)
    space = int(sizes[0])
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        key *= size
        key += column
        space *= int(size)
    if space <= max(_SMALL, _SPARSEST * len(key)):
        used = np.zeros(space, bool)
        used[key] = True
        keys = np.flatnonzero(used)
        number = np.zeros(space, np.int64)
        number[keys] = np.arange(len(keys))
        of_row = number[key]
    else:
        # by hashing: sorting all rows takes ten times as long where the groups are few
        of_row, found = pd.factorize(key)
        order = np.argsort(found)
        keys, number = found[order], np.empty(len(found), np.int64)
        number[order] = np.arange(len(found))
        of_row = number[of_row]
    values: list[Array] = []
    rest = keys
    for size in reversed(sizes):
        values.append(rest % size)
        rest = rest // size
    return Groups(of_row, tuple(reversed(values)))


def percentiles(of_row: Array, groups: int, numbers: Array, percents: Sequence[int]) -> list[Array]:
    """For each of the percents the smallest number of each group that so many percent of its numbers do not exceed.

    Shapes `(groups,) int64`, -1 for a group without numbers. `of_row` is the group of each row, -1 for a row that
    does not count; neither does a number that is negative. They are numbers that occur (nearest rank), not between two.
    """
    bits = int(numbers.max(initial=0)).bit_length()
    if groups.bit_length() + bits <= _BITS:
        # one column sorts several times as fast as two; what does not count is negative, and so comes first
        key = np.left_shift(of_row, bits, dtype=np.int64)
        key |= numbers
        key.sort()
        first = np.searchsorted(key, np.arange(groups + 1) << bits)
        ordered = key
    else:
        some = np.flatnonzero((of_row >= 0) & (numbers >= 0))
        order = some[np.lexsort((numbers[some], of_row[some]))]
        first = np.searchsorted(of_row[order], np.arange(groups + 1))
        ordered, bits = numbers[order], _BITS
    count = np.diff(first)
    out = []
    for percent in percents:
        rank = np.maximum(-(-percent * count // 100), 1) - 1
        found = np.full(groups, -1, np.int64)
        some = np.flatnonzero(count)
        found[some] = ordered[(first[:-1] + rank)[some]] & ((1 << bits) - 1)
        out.append(found)
    return out
