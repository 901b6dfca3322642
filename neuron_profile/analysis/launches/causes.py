"""What caused a slice and what it caused, link by link: flows that the source tells of, and launches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from neuron_profile.analysis.arguments import slice_row, whole_number
from neuron_profile.analysis.derived import kept_with_the_trace
from neuron_profile.analysis.launches.launching import launching_slice
from neuron_profile.analysis.texts import table
from trace_format import Trace

Array = np.ndarray

LAUNCH: Final = "launch"
UPSTREAM: Final = "upstream"
DOWNSTREAM: Final = "downstream"
# Deeper nesting than any program has; parents never go in a circle.
_MOST_AROUND: Final = 10_000


def causes(trace: Trace, row: int, *, most: int = 24, most_of_one: int = 8) -> pd.DataFrame:
    """The links that lead to a slice and from it, nearest first.

    Upstream: the links to the slice, or where it has none those to the nearest slice around it that has some; then
    likewise from where they come, and so on. Downstream: the links from the slice and from the slices in it, then from
    those that they lead to. At most `most` links in each direction, of one slice the earliest `most_of_one`; a slice
    that was reached already is not reached again.

    Columns: direction (`UPSTREAM` or `DOWNSTREAM`), distance (1: of the slice itself), from_slice, to_slice, kind (the
    source's name for the flow, or `LAUNCH` for what only correlation or external ids tell). `attrs`: left_out
    ({direction: links that were found and are beyond these limits}).
    Raises ValueError for a row that there is not, and for limits below 0.
    """
    row = slice_row(trace, row)
    most, most_of_one = (
        whole_number(name, value, least=0) for name, value in (("most", most), ("most_of_one", most_of_one))
    )
    links = _links(trace)
    rows: list[tuple[str, int, int, int, str]] = []
    left_out: dict[str, int] = {}
    looks: tuple[tuple[str, _Look], ...] = ((UPSTREAM, _upstream), (DOWNSTREAM, _downstream))
    for direction, look in looks:
        walk = _Walk(trace, links, row, most, most_of_one)
        walk.go(look, to_causes=direction == UPSTREAM)
        rows += [
            (direction, distance, int(links.cause[link]), int(links.effect[link]), links.kind(trace, link))
            for distance, link in walk.found
        ]
        left_out[direction] = walk.left_out
    frame = table(rows, ["direction", "distance", "from_slice", "to_slice", "kind"])
    frame.attrs = {"left_out": left_out}
    return frame


@dataclass(frozen=True, slots=True, eq=False)
class _Links:
    """All links, in order of the track and the start of their cause; columns `(n,) int64`.

    - `cause`, `effect`: rows of slices; `flow`: the row of the flow, -1 for a launch.
    - `track`, `ts_ns`: of the cause.
    - `by_effect`: the positions of the links in order of their effect, and `effects` those effects.
    """

    cause: Array
    effect: Array
    flow: Array
    track: Array
    ts_ns: Array
    by_effect: Array
    effects: Array

    def kind(self, trace: Trace, link: int) -> str:
        """What a link is called."""
        flow = int(self.flow[link])
        return trace.pool.strings[int(trace.flows.kind[flow])] if flow >= 0 else LAUNCH


_Look = Callable[[Trace, _Links, int], Array]


@kept_with_the_trace
def _links(trace: Trace) -> _Links:
    flows, slices = trace.flows, trace.slices
    known = np.flatnonzero((flows.from_slice >= 0) & (flows.to_slice >= 0))
    launched_by = launching_slice(trace)
    launched = np.flatnonzero(launched_by >= 0)
    cause = np.concatenate([flows.from_slice[known].astype(np.int64), launched_by[launched]])
    effect = np.concatenate([flows.to_slice[known].astype(np.int64), launched])
    flow = np.concatenate([known, np.full(len(launched), -1)])
    # a launch that the source tells of as a flow too is that flow, which comes first
    order = np.lexsort((flow < 0, effect, cause, slices.ts_ns[cause], slices.track[cause]))
    cause, effect, flow = cause[order], effect[order], flow[order]
    again = (cause[1:] == cause[:-1]) & (effect[1:] == effect[:-1]) & (flow[1:] < 0)
    kept = np.r_[True, ~again][: len(cause)]
    cause, effect, flow = cause[kept], effect[kept], flow[kept]
    by_effect = np.argsort(effect, kind="stable")
    track = slices.track[cause].astype(np.int64)
    return _Links(cause, effect, flow, track, slices.ts_ns[cause], by_effect, effect[by_effect])


class _Walk:
    """Follows links from slice to slice until there are enough: `found` are their distances and positions."""

    def __init__(self, trace: Trace, links: _Links, row: int, most: int, most_of_one: int) -> None:
        self._trace, self._links, self._row = trace, links, row
        self._most, self._most_of_one = most, most_of_one
        self.found: list[tuple[int, int]] = []
        self.left_out = 0

    def go(self, look: _Look, *, to_causes: bool) -> None:
        others = self._links.cause if to_causes else self._links.effect
        seen, ahead, distance = {self._row}, [self._row], 0
        while ahead:
            distance += 1
            beyond: list[int] = []
            for at in ahead:
                found = look(self._trace, self._links, at)
                self.left_out += max(len(found) - self._most_of_one, 0)
                for link in found[: self._most_of_one].tolist():
                    other = int(others[link])
                    if other in seen:
                        continue
                    if len(self.found) >= self._most:
                        self.left_out += 1
                        continue
                    seen.add(other)
                    self.found.append((distance, link))
                    beyond.append(other)
            ahead = beyond


def _upstream(trace: Trace, links: _Links, row: int) -> Array:
    """The links to a slice, or to the nearest around it that has any."""
    parent = trace.slices.parent
    for _ in range(_MOST_AROUND):
        low, high = np.searchsorted(links.effects, row, "left"), np.searchsorted(links.effects, row, "right")
        if high > low or parent[row] < 0:
            return links.by_effect[low:high]
        row = int(parent[row])
    return links.by_effect[:0]


def _downstream(trace: Trace, links: _Links, row: int) -> Array:
    """The links from a slice and from the slices in it, in order of time."""
    slices = trace.slices
    track, ts_ns, dur_ns = (int(column[row]) for column in (slices.track, slices.ts_ns, slices.dur_ns))
    low, high = (int(np.searchsorted(links.track, track, side)) for side in ("left", "right"))
    first, last = np.searchsorted(links.ts_ns[low:high], [ts_ns, ts_ns + max(dur_ns, 1)])
    inside = np.arange(low + int(first), high if dur_ns < 0 else low + int(last))
    # rows of a track ascend with time, and what lies around a slice that begins with it has a smaller one
    return inside[links.cause[inside] >= row]
