"""Joins the records of starts with those of ends: within a key, the first that began is the first that ends."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray

# A record that waits for its other half.
PENDING = np.dtype([("key", "<i8"), ("ps", "<i8"), ("value", "<u4"), ("end", "?")])
_MOST_WAITING = 1 << 21


def fifo_pairs(key: Array, time: Array, is_end: Array) -> tuple[Array, Array, Array]:
    """The rows of starts, the rows of their ends, and the rows without a partner, each `(m,) int64`.

    Within a key, in order of time: an end closes the oldest start that is open, and has no partner if none is. At the
    same time starts come first, then the order of the rows counts.
    """
    rows = len(key)
    if not rows:
        none = np.zeros(0, np.int64)
        return none, none, none
    order = np.lexsort((is_end, time, key))
    ends, keys = is_end[order], key[order]
    first = np.concatenate(([True], keys[1:] != keys[:-1]))
    group = np.cumsum(first) - 1
    open_now = np.cumsum(np.where(ends, -1, 1))
    before_group = np.where(ends[first], open_now[first] + 1, open_now[first] - 1)
    # How many starts are open if ends without one count too; its lowest so far says how many of those there were.
    # Each group lies so far below the one before that its running minimum begins anew.
    below = group * (rows + 1)
    lowest = np.minimum.accumulate(np.minimum(open_now - before_group[group], 0) - below) + below
    before = np.where(first, 0, np.concatenate(([0], lowest[:-1])))
    closes = ends & (lowest == before)
    closed_in_group = np.bincount(group[closes], minlength=group[-1] + 1)
    started = np.cumsum(~ends)
    started_before_group = started[first] - ~ends[first]
    paired = ~ends & (started - started_before_group[group] <= closed_in_group[group])
    return order[paired], order[closes], np.sort(order[~(paired | closes)])


@dataclass
class Pairing:
    """Joins records that come piece by piece; what has no partner yet waits for the next piece.

    `unpaired_starts`, `unpaired_ends`: how many were given up, because too many waited; `waiting` has the rest.
    """

    waiting: Array = field(default_factory=lambda: np.zeros(0, PENDING))
    unpaired_starts: int = 0
    unpaired_ends: int = 0

    def join(self, records: Array) -> tuple[Array, Array]:
        """The starts and their ends among these records (of `PENDING`) and those that waited."""
        together = np.concatenate((self.waiting, records))
        starts, ends, rest = fifo_pairs(together["key"], together["ps"], together["end"])
        waiting = together[rest]
        self._give_up(waiting[:-_MOST_WAITING])
        self.waiting = waiting[-_MOST_WAITING:]
        return together[starts], together[ends]

    def finish(self, *, keep: Array | bool = False) -> Array:
        """Give up what still waits, but for those of `keep` (a mask), which are returned."""
        kept = np.broadcast_to(np.asarray(keep), len(self.waiting))
        self._give_up(self.waiting[~kept])
        found, self.waiting = self.waiting[kept], self.waiting[:0]
        return found

    def _give_up(self, records: Array) -> None:
        ends = int(records["end"].sum())
        self.unpaired_ends += ends
        self.unpaired_starts += len(records) - ends
