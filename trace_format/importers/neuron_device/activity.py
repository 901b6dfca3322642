"""Counters worked out from instructions and packets: how busy an engine is, how much moves, how many are under way.

Times are int64 picoseconds since the first run began. Rows come in any order, chunk by chunk; memory is bounded:

- Activity is the covered fraction of 1024 equal parts of the profile.
- A step function (throughput, packets under way) has a point wherever it changes, up to 100,000 of them; beyond that
  it is the mean of 65,536 equal parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray

ACTIVITY_PARTS = 1024
MOST_POINTS = 100_000
COARSE_PARTS = 1 << 16
_MOST_PENDING = 1 << 20  # intervals


@dataclass
class Coverage:
    """How much of each of up to 1024 equal parts of [start_ps, end_ps) is covered by intervals, overlaps once.

    Exact as long as fewer than a million separate intervals wait for those that may still join them.
    """

    start_ps: int
    end_ps: int
    _begin: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    _end: Array = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        self.edges_ps = equal_parts(self.start_ps, self.end_ps, ACTIVITY_PARTS)
        self._covered = np.zeros(len(self.edges_ps) - 1, np.int64)

    def add(self, start: Array, duration: Array) -> None:
        """Add intervals, `(n,) int64` each."""
        self._begin, self._end = _merged(
            np.concatenate((self._begin, start)), np.concatenate((self._end, start + duration))
        )
        self._settle(len(self._begin) - _MOST_PENDING)

    def ratio(self) -> Array:
        """`(parts,) float64`, 0 to 1."""
        self._settle(len(self._begin))
        return np.minimum(self._covered / np.diff(self.edges_ps), 1.0)

    def _settle(self, count: int) -> None:
        """Count the first intervals, and forget them."""
        if count > 0:
            self._covered += _covered(self.edges_ps, self._begin[:count], self._end[:count])
            self._begin, self._end = self._begin[count:], self._end[count:]


@dataclass
class Steps:
    """A step function over [start_ps, end_ps), given by what begins and what it adds while it lasts."""

    start_ps: int
    end_ps: int
    _times: list[Array] = field(default_factory=list)
    _changes: list[Array] = field(default_factory=list)
    _points: int = 0

    def __post_init__(self) -> None:
        self._edges = equal_parts(self.start_ps, self.end_ps, COARSE_PARTS)
        self._width = (self._edges[-1] - self._edges[0]) / (len(self._edges) - 1)
        self._slope, self._offset = np.zeros((2, len(self._edges) + 1))

    def add(self, start: Array, duration: Array, amount: Array) -> None:
        """Add what is `amount` in all, spread evenly over the time it takes; what takes no time is left out here."""
        lasting = duration > 0
        start, duration, amount = start[lasting], duration[lasting], amount[lasting]
        level = amount / duration
        self._change(np.concatenate((start, start + duration)), np.concatenate((level, -level)))

    def add_level(self, start: Array, duration: Array) -> None:
        """Add 1 while each lasts."""
        self.add(start, duration, duration.astype(np.float64))

    def points(self) -> tuple[Array, Array]:
        """When the function changes, `(n,) int64` ascending, and what it is from then on."""
        if self._points > MOST_POINTS:
            return self._edges[:-1], np.maximum(np.diff(self._integral()) / self._width, 0.0)
        if not self._points:
            return np.zeros(0, np.int64), np.zeros(0)
        times, changes = np.concatenate(self._times), np.concatenate(self._changes)
        order = np.argsort(times, kind="stable")
        times, changes = times[order], changes[order]
        under_way = np.cumsum(np.sign(changes))
        value = np.where(under_way > 0, np.cumsum(changes), 0.0)  # sums of floats do not end at 0 by themselves
        last = np.append(times[1:] != times[:-1], True)
        return times[last], np.maximum(value[last], 0.0)

    def _change(self, times: Array, changes: Array) -> None:
        self._points += len(times)
        if self._points <= MOST_POINTS:
            self._times.append(times)
            self._changes.append(changes)
        else:
            self._times, self._changes = [], []
        at = (np.clip(times, self._edges[0], self._edges[-1]) - self._edges[0]) / self._width
        first = np.ceil(at).astype(np.int64)  # the first edge after it
        self._slope += np.bincount(first, changes, len(self._slope))
        self._offset += np.bincount(first, changes * at, len(self._offset))

    def _integral(self) -> Array:
        """The area under the function up to each edge."""
        place = np.arange(len(self._edges))
        slope, offset = np.cumsum(self._slope)[: len(place)], np.cumsum(self._offset)[: len(place)]
        return (slope * place - offset) * self._width


def equal_parts(start: int, end: int, parts: int) -> Array:
    """The edges of up to `parts` equal parts of [start, end), none shorter than 1; `(parts + 1,) int64`."""
    length = max(end - start, 1)
    parts = min(parts, length)
    if length * parts < 2**63:
        edges: Array = start + length * np.arange(parts + 1, dtype=np.int64) // parts
        return edges
    return start + np.array([length * number // parts for number in range(parts + 1)], np.int64)


def _merged(begin: Array, end: Array) -> tuple[Array, Array]:
    """The union of intervals as disjoint ones in order; empty ones are gone."""
    some = np.flatnonzero(end > begin)
    order = some[np.argsort(begin[some], kind="stable")]
    if not len(order):
        return begin[:0], end[:0]
    begin, reach = begin[order], np.maximum.accumulate(end[order])
    first = np.append(True, begin[1:] > reach[:-1])
    return begin[first], reach[np.append(first[1:], True)]


def _covered(edges: Array, begin: Array, end: Array) -> Array:
    """How much of each part disjoint intervals in order cover."""
    before = np.append(0, np.cumsum(end - begin)[:-1])
    place = np.searchsorted(begin, edges, "right") - 1
    last = np.maximum(place, 0)
    up_to = before[last] + np.clip(edges - begin[last], 0, (end - begin)[last])
    return np.diff(up_to)
