"""Which part of each slice lies in which window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Overlaps:
    """Slices and the windows they lie in, as columns `(m,)`; one on a border has a row for each of its windows.

    - `rows`: numbers of slices, first those that lie whole in their window; `window`: its number.
    - `share`: of the others what part (0..1) is in it, `(others,)`.
    """

    rows: Array
    window: Array
    share: Array

    def part(self, numbers: Array) -> Array:
        """Of a number of each slice the part that falls in each row's window, `(m,) float64`."""
        out = numbers[self.rows].astype(np.float64)
        out[len(out) - len(self.share) :] *= self.share
        return out


def overlaps(begin: Array, stop: Array, start: Array, end: Array) -> Overlaps:
    """Which slices [start, end) lie in which of the windows [begin, stop), which are disjoint and in order.

    A slice that takes no time lies in the window of its start.
    """
    if len(begin) == 0:
        return Overlaps(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    first = np.searchsorted(stop, start, "right")  # the window that ends after the slice starts
    at = np.minimum(first, len(begin) - 1)
    whole = (start >= begin[at]) & (end <= stop[at]) & (start < stop[at])
    inner, border = np.flatnonzero(whole), np.flatnonzero(~whole)
    beyond = np.searchsorted(begin, end[border], "left")
    count = np.maximum(beyond - first[border], 0)
    rows = np.repeat(border, count)
    window = first[rows] + np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    inside = np.minimum(end[rows], stop[window]) - np.maximum(start[rows], begin[window])
    share = inside / np.maximum(end[rows] - start[rows], 1)
    return Overlaps(np.r_[inner, rows], np.r_[at[inner], window], share)
