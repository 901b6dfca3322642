"""In which order the rows of a table go."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from trace_format.columns import constant_column
from trace_format.spill import release
from trace_format.tables import BY_TRACK

Array = np.ndarray

_SAMPLES_PER_PIECE = 64
_UNFINISHED_FIRST = np.iinfo(np.int64).min


def order_of_rows(table: str, columns: Mapping[str, Array]) -> Array | None:
    """The row order of a table given by its columns, None where the rows are in it already or the table is empty."""
    if "ts_ns" not in columns:
        return None
    keys = _keys(table, columns, slice(None))
    if table in BY_TRACK and "track" in columns:
        keys.append(columns["track"])
    return None if _sorted_by(keys) else np.lexsort(keys)


def order_in_pieces(table: str, columns: Mapping[str, Array], rows_at_a_time: int) -> Array | None:
    """The same as `order_of_rows` as uint32, found by looking at about so many rows at a time.

    Rows of one track at one moment are one piece, however many they are.
    """
    if "ts_ns" not in columns:
        return None
    rows = len(columns["ts_ns"])
    track = columns["track"] if table in BY_TRACK and "track" in columns else constant_column(0, rows, np.dtype("<u4"))
    order, bounds = by_number(track, rows_at_a_time)
    first = 0
    while first < rows:
        number = int(np.searchsorted(bounds, first + rows_at_a_time, "right")) - 1
        last = int(bounds[number])
        if last > first:
            pieces = np.array([0, last - first])
        else:
            last = int(bounds[number + 1])
            pieces = _split_by_time(columns["ts_ns"], order[first:last], rows_at_a_time)
        for begin, end in pairwise((first + pieces).tolist()):
            part = order[begin:end]
            keys = [*_keys(table, columns, part), track[part]]
            if not _sorted_by(keys):
                part[:] = part[np.lexsort(keys)]
            release([*columns.values()])
        first = last
    return None if bool((order[1:] > order[:-1]).all()) else order


def by_number(numbers: Array, rows_at_a_time: int = 1 << 20) -> tuple[Array, Array]:
    """The rows in order of small numbers, equal ones in the order in which they come, and where each number begins.

    The rows `(n,)` are uint32, the beginnings `(m + 2,)` int64 for numbers up to m; the last is the end.
    """
    if not len(numbers):
        return np.zeros(0, np.uint32), np.zeros(1, np.int64)
    most = int(numbers.max()) + 1
    narrow = np.uint16 if most <= 1 << 16 else np.uint32  # numpy sorts 16-bit keys by radix, ten times faster
    ranges = [slice(at, at + rows_at_a_time) for at in range(0, len(numbers), rows_at_a_time)]
    counts = np.zeros(most, np.int64)
    for here in ranges:
        counts += np.bincount(numbers[here], minlength=most)
    bounds = np.r_[0, np.cumsum(counts)]
    following = bounds[:-1].copy()
    order = np.empty(len(numbers), np.uint32)
    for here in ranges:
        part = numbers[here].astype(narrow)
        local = np.argsort(part, kind="stable")
        count = np.bincount(part, minlength=most)
        place = following - np.cumsum(count) + count
        order[np.arange(len(part)) + place[part[local]]] = local + here.start
        following += count
    return order, bounds


def _split_by_time(ts_ns: Array, rows: Array, rows_at_a_time: int) -> Array:
    """Put the rows into pieces of about so many, each later than the one before; where each begins, and the end."""
    sample = np.sort(ts_ns[rows[:: max(1, rows_at_a_time // _SAMPLES_PER_PIECE)]])
    pivots = np.unique(sample[::_SAMPLES_PER_PIECE])
    piece = np.empty(len(rows), np.uint32)
    for at in range(0, len(rows), rows_at_a_time):
        here = slice(at, at + rows_at_a_time)
        piece[here] = np.searchsorted(pivots, ts_ns[rows[here]], "right")
        release([ts_ns])
    order, bounds = by_number(piece, rows_at_a_time)
    rows[:] = rows[order]
    return bounds


def _keys(table: str, columns: Mapping[str, Array], rows: Array | slice) -> list[Array]:
    """What orders these rows of one track, the last key first, as numpy.lexsort has it."""
    ts = columns["ts_ns"][rows]
    if table != "slices":
        return [ts]
    dur = columns["dur_ns"][rows] if "dur_ns" in columns else constant_column(-1, len(ts), ts.dtype)
    return [np.where(dur < 0, _UNFINISHED_FIRST, -dur), ts]


def _sorted_by(keys: list[Array]) -> bool:
    """Whether rows are in lexicographic order of the keys, the last one first (as numpy.lexsort has it)."""
    equal = np.ones(max(len(keys[0]) - 1, 0), bool)
    for key in reversed(keys):
        before, after = key[:-1], key[1:]
        if bool((equal & (after < before)).any()):
            return False
        equal &= after == before
    return True
