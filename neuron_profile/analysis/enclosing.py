"""Which of some chosen slices a slice lies in."""

from __future__ import annotations

import numpy as np

from trace_format.nesting import nest
from trace_format.tables import Slices

Array = np.ndarray


class Enclosing:
    """Finds the innermost of the chosen slices that contains a given slice on the same track, itself included."""

    def __init__(self, slices: Slices, chosen: Array) -> None:
        """`chosen`: row numbers of slices, ascending. A slice that did not finish lasts to the end of its track."""
        order = np.argsort(slices.track[chosen], kind="stable")
        self._slices = slices
        self._rows = chosen[order]
        self._track = slices.track[self._rows].astype(np.int64)
        dur_ns = slices.dur_ns[self._rows]
        self._end_ns = _ends(slices.ts_ns[self._rows], dur_ns)
        self._above = nest(self._track, slices.ts_ns[self._rows], dur_ns).parent
        # rows grow with time within a track: (track, row) is the order of (track, start, longer first)
        self._key = self._track * len(slices) + self._rows

    def innermost(self, rows: Array) -> Array:
        """For each of the slices `rows` the row of the innermost chosen slice around it, -1 for none."""
        found = np.full(len(rows), -1, np.int64)
        if len(self._rows) == 0 or len(rows) == 0:
            return found
        track = self._slices.track[rows].astype(np.int64)
        end_ns = _ends(self._slices.ts_ns[rows], self._slices.dur_ns[rows])
        at = np.searchsorted(self._key, track * len(self._slices) + rows, "right") - 1
        at[(at >= 0) & (self._track[at] != track)] = -1
        open_rows = np.flatnonzero(at >= 0)
        while len(open_rows):
            here = at[open_rows]
            around = self._contains(here, rows[open_rows], end_ns[open_rows])
            found[open_rows[around]] = self._rows[here[around]]
            open_rows, here = open_rows[~around], here[~around]
            at[open_rows] = self._above[here]
            open_rows = open_rows[at[open_rows] >= 0]
        return found

    def _contains(self, chosen: Array, rows: Array, end_ns: Array) -> Array:
        """Whether each chosen slice (a position) contains the row beside it; that starts no earlier."""
        starts_inside = self._slices.ts_ns[rows] < self._end_ns[chosen]
        return (self._rows[chosen] == rows) | (starts_inside & (end_ns <= self._end_ns[chosen]))


def slices_at(slices: Slices, track: Array, ts_ns: Array) -> Array:
    """The row of the innermost slice at each moment on its track, -1 for none; a track of -1 has none."""
    found = np.full(len(ts_ns), -1, np.int64)
    for number in np.unique(track[track >= 0]).tolist():
        points = np.flatnonzero(track == number)
        rows = np.flatnonzero(slices.track == number)
        before = np.searchsorted(slices.ts_ns[rows], ts_ns[points], "right") - 1
        found[points] = np.where(before >= 0, rows[before] if len(rows) else -1, -1)
    ends_ns = _ends(slices.ts_ns, slices.dur_ns)
    over = (found >= 0) & (ends_ns[found] <= ts_ns) if len(slices) else np.zeros(len(found), bool)
    while over.any():
        found[over] = slices.parent[found[over]]
        over = (found >= 0) & (ends_ns[found] <= ts_ns)
    return found


def _ends(ts_ns: Array, dur_ns: Array) -> Array:
    return np.where(dur_ns < 0, np.iinfo(np.int64).max, ts_ns + np.maximum(dur_ns, 0))
