"""Which slices lie inside another of the same label, so that their time is not counted twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.grouping import group

Array = np.ndarray

_MOST_KEYS = 1 << 16  # numpy sorts what 16 bits hold by counting
_KEY_SPACE = 2**62


@dataclass(frozen=True, slots=True)
class Placing:
    """Where slices lie, as columns `(n,)`: track, start, and the row of the slice around each, -1 for none.

    Rows of one track are in order of (start, longer first).
    """

    track: Array
    ts_ns: Array
    parent: Array


def slices_inside_their_like(label: Array, has_time: Array, dur_ns: Array, placing: Placing) -> Array:
    """The rows `(m,) int64`, ascending, of slices that lie whole inside another of the same label and track.

    Only slices that have a time (`has_time`) lie inside, or have others inside them. Empty input gives no rows.
    """
    parent = placing.parent
    inner = has_time & (parent >= 0)
    rows = np.flatnonzero(inner)
    around = parent[rows]
    directly = (label[around] == label[rows]) & has_time[around]
    inner[rows] = directly
    # Most are found by now. Of the others only those with something around them can lie in one of the same label that
    # is farther out, and then they lie in an outermost one, which is among these others too.
    open_rows = rows[~directly]
    if len(open_rows) == 0:
        return np.flatnonzero(inner)
    tracks = np.zeros(int(placing.track.max()) + 1, bool)
    tracks[placing.track[open_rows]] = True
    labels = np.zeros(int(label.max()) + 1, bool)
    labels[label[open_rows]] = True
    rows = np.flatnonzero(has_time & ~inner & tracks[placing.track])
    rows = rows[labels[label[rows]]]
    inner[rows[_in_an_earlier_one(label[rows], placing.track[rows], placing.ts_ns[rows] + dur_ns[rows])]] = True
    return np.flatnonzero(inner)


def _in_an_earlier_one(label: Array, track: Array, end_ns: Array) -> Array:
    """Positions of those that end no later than an earlier one of the same label and track; in order of start."""
    groups = group((track, label), (int(track.max()) + 1, int(label.max()) + 1))
    key = groups.of_row
    order = np.argsort(key.astype(np.uint16) if len(groups) <= _MOST_KEYS else key, kind="stable")
    key, end_ns = key[order], end_ns[order]
    # the groups laid one behind the other on one axis, so that the latest end so far is that in the group
    least = int(end_ns.min())
    span = int(end_ns.max()) - least + 1
    if len(groups) * span < _KEY_SPACE:
        place = end_ns - least + key * span
    else:
        ends, rank = np.unique(end_ns, return_inverse=True)
        place = rank + key * len(ends)
    latest = np.maximum.accumulate(place)
    return order[1:][(latest[:-1] >= place[1:]) & (key[1:] == key[:-1])]
