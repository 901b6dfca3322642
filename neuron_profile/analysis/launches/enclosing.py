"""Which of some chosen slices a slice lies in."""

from __future__ import annotations

import numpy as np

from trace_format.tables import Slices

Array = np.ndarray


class Enclosing:
    """Finds the innermost of some chosen slices around a slice on the same track, itself included."""

    def __init__(self, slices: Slices, chosen: Array) -> None:
        """`chosen`: row numbers of slices. Around a slice lie its parent, the parent of that, and so on."""
        # narrow numbers: the time goes to looking them up all over memory
        self._around: Array = slices.parent.astype(np.int32 if len(slices) < 1 << 31 else np.int64)
        self._around[chosen] = chosen
        is_chosen = np.zeros(len(slices), bool)
        is_chosen[chosen] = True
        open_rows = np.flatnonzero(self._around >= 0)
        while len(open_rows):
            # each round doubles how far out one looks
            open_rows = open_rows[~is_chosen[self._around[open_rows]]]
            self._around[open_rows] = self._around[self._around[open_rows]]
            open_rows = open_rows[self._around[open_rows] >= 0]

    def innermost(self, rows: Array) -> Array:
        """For each of the slices `rows` the row of the innermost chosen slice around it, -1 for none or for row -1."""
        if len(self._around) == 0:
            return np.full(len(rows), -1, np.int64)
        found = self._around[rows].astype(np.int64)
        found[rows < 0] = -1
        return found


def innermost_around(slices: Slices, rows: Array, is_chosen: Array) -> Array:
    """The same for a few slices, by walking outwards from each: `is_chosen` has one bool for each slice."""
    found = np.array(rows, np.int64)
    open_at = np.flatnonzero(found >= 0)
    while len(open_at):
        open_at = open_at[~is_chosen[found[open_at]]]
        found[open_at] = slices.parent[found[open_at]]
        open_at = open_at[found[open_at] >= 0]
    return found


def slices_at(slices: Slices, track: Array, ts_ns: Array) -> Array:
    """The row of the innermost slice at each moment on its track, -1 for none; a track of -1 has none."""
    found = np.full(len(ts_ns), -1, np.int64)
    for number in np.unique(track[track >= 0]).tolist():
        points = np.flatnonzero(track == number)
        found[points] = slices_of_track_at(slices, number, ts_ns[points])
    return found


def slices_of_track_at(slices: Slices, track: int, ts_ns: Array) -> Array:
    """The row of the innermost slice of one track at each moment, -1 for none."""
    rows = np.flatnonzero(slices.track == track)
    if len(rows) == 0:
        return np.full(len(ts_ns), -1, np.int64)
    before = np.searchsorted(slices.ts_ns[rows], ts_ns, "right") - 1
    found = rows[before]
    found[before < 0] = -1
    open_at = np.flatnonzero(found >= 0)
    while len(open_at):
        row = found[open_at]
        dur_ns = slices.dur_ns[row]
        over = (dur_ns >= 0) & (slices.ts_ns[row] + dur_ns <= ts_ns[open_at])  # what did not finish is never over
        open_at = open_at[over]
        found[open_at] = slices.parent[row[over]]
        open_at = open_at[found[open_at] >= 0]
    return found
