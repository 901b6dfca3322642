"""Intervals in order of time as few bands: what overlaps, or lies close together where there are too many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """The bands of some intervals that are in order of start; each is of intervals that follow one another.

    - `first` `(m,)`: the position of the first interval of each band.
    - `start_ns`, `end_ns` `(m,)`: where a band begins, and where the last of its intervals ends.
    - `worst` `(m,)`: the position of its longest interval, the first of several.
    """

    first: Array
    start_ns: Array
    end_ns: Array
    worst: Array
    _intervals: int

    @property
    def count(self) -> Array:
        """How many intervals each band is of."""
        return np.diff(np.r_[self.first, self._intervals])

    def reduced(self, values: Array, by: Callable[..., Array]) -> Array:
        """What `by`, the `reduceat` of a ufunc, makes of the values of the intervals of each band."""
        return by(values, self.first) if len(self.first) else values[:0]


def bands(start_ns: Array, end_ns: Array, *, most: int, join: bool) -> Bands:
    """The bands of half-open intervals in order of start, at most `most` (1 at least).

    `join`: intervals that overlap or touch are one band; else each is one of its own. Where there are too many, those
    with the least time between them are put together.
    """
    if not len(start_ns):
        none = np.zeros(0, np.int64)
        return Bands(none, none, none, none, 0)
    apart = start_ns[1:] - np.maximum.accumulate(end_ns)[:-1]
    borders = np.flatnonzero(apart > 0) if join else np.arange(len(apart))
    if len(borders) >= most:
        widest = np.argsort(-apart[borders], kind="stable")[: most - 1]
        borders = np.sort(borders[widest])
    first = np.r_[0, borders + 1]
    dur_ns = end_ns - start_ns
    of = np.repeat(np.arange(len(first)), np.diff(np.r_[first, len(start_ns)]))
    by_length = np.lexsort((-np.arange(len(dur_ns)), dur_ns))
    worst = np.zeros(len(first), np.int64)
    worst[of[by_length]] = by_length  # of several the last one written stays: the longest, and the first of these
    return Bands(first, start_ns[first], np.maximum.reduceat(end_ns, first), worst, len(start_ns))
