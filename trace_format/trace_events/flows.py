"""Flow events become rows between slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.nesting import nest

Array = np.ndarray

START, STEP, END = range(3)


@dataclass(slots=True)
class FlowEvents:
    """Flow events as columns `(n,)`: `role` START, STEP or END; `key` equal for what belongs together;
    `next_slice` where the event means the next slice to start rather than the one around it."""

    line: Array
    ts_ns: Array
    role: Array
    key: Array
    flow_id: Array
    kind: Array
    name: Array
    args: Array
    next_slice: Array

    @classmethod
    def joined(cls, parts: list[FlowEvents]) -> FlowEvents:
        return cls(*(_joined(parts, name) for name in cls.__slots__))


@dataclass(slots=True)
class Targets:
    """The slices flows may bind to, as columns `(n,)`; `row` is the slice's number in the builder."""

    track: Array
    ts_ns: Array
    dur_ns: Array
    correlation: Array
    row: Array

    @classmethod
    def joined(cls, parts: list[Targets]) -> Targets:
        return cls(*(_joined(parts, name) for name in cls.__slots__))


def _joined(parts: Sequence[FlowEvents | Targets], name: str) -> Array:
    return np.concatenate([np.zeros(0, np.int64), *(getattr(part, name) for part in parts)])


def link(events: FlowEvents, targets: Targets, tracks_of: Callable[[int], list[int]], builder: TraceBuilder) -> None:
    """Add the flows to the builder, and what could not be joined to its report.

    An event binds to the slice that starts at its time on its line (of several: the one whose correlation is the
    flow's id, else the innermost), else to the innermost slice around it. Every end joins the last start or step of
    its key before it; where clocks disagree and the start comes later, the first start. A flow event that no other one
    answers and that lies on the slice whose correlation is its id says nothing the slice does not: it counts as kept.
    """
    order = np.lexsort((events.role, events.ts_ns, events.key))
    events = FlowEvents(*(getattr(events, name)[order] for name in FlowEvents.__slots__))
    events.next_slice = events.next_slice.astype(bool)
    row, correlation = _bind(events, targets, tracks_of)
    bound = row >= 0
    cause = _cause_before(events, bound)
    linked = np.flatnonzero(cause >= 0)
    origin = cause[linked]
    builder["flows"].append(
        len(linked),
        from_slice=row[origin],
        to_slice=row[linked],
        kind=events.kind[linked],
        flow_id=events.flow_id[linked],
        name=events.name[linked],
        args=np.where(events.args[linked] > 0, events.args[linked], events.args[origin]),
    )
    used = np.zeros(len(row), bool)
    used[linked] = used[origin] = True
    said_by_slice = bound & (correlation == events.flow_id) & (events.flow_id >= 0)
    lost: Counter[str] = builder.report.left_out
    for mask, cause_text in (
        (~used & ~bound, "flow event without a slice"),
        (~used & bound & ~said_by_slice & (events.role == START), "flow start without an end"),
        (~used & bound & ~said_by_slice & (events.role != START), "flow end without a start"),
    ):
        if mask.any():
            lost[cause_text] += int(mask.sum())


def _cause_before(events: FlowEvents, bound: Array) -> Array:
    """For each bound end or step, the row of the start or step it follows from; -1 elsewhere.

    Rows are in order of key and time.
    """
    rows = np.arange(len(bound))
    first = np.r_[True, events.key[1:] != events.key[:-1]] if len(rows) else np.zeros(0, bool)
    key_start = np.maximum.accumulate(np.where(first, rows, 0))
    gives = bound & (events.role != END)
    last = np.r_[-1, np.maximum.accumulate(np.where(gives, rows, -1))[:-1]] if len(rows) else rows
    cause = np.where(last >= key_start, last, -1)
    starts = np.flatnonzero(bound & (events.role == START))
    late = np.flatnonzero((cause < 0) & bound & (events.role == END))
    if len(starts) and len(late):
        place = np.searchsorted(starts, late)
        there = place < len(starts)
        later = starts[np.minimum(place, len(starts) - 1)]
        same = there & (events.key[later] == events.key[late])
        cause[late[same]] = later[same]
    return np.where(bound & (events.role != START), cause, -1)


def _bind(events: FlowEvents, targets: Targets, tracks_of: Callable[[int], list[int]]) -> tuple[Array, Array]:
    """The slice of each event and its correlation, -1 where there is none."""
    row = np.full(len(events.line), -1, np.int64)
    correlation = np.full(len(events.line), -1, np.int64)
    order = np.lexsort((-targets.dur_ns - (targets.dur_ns < 0) * np.int64(2**62), targets.ts_ns, targets.track))
    track, ts, dur = targets.track[order], targets.ts_ns[order], targets.dur_ns[order]
    corr, rows = targets.correlation[order], targets.row[order]
    bounds = np.searchsorted(track, np.arange(int(track[-1]) + 2)) if len(track) else np.zeros(1, np.int64)
    lines, place = np.unique(events.line, return_inverse=True)
    by_line = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place, minlength=len(lines)))[:-1])
    for line, mine in zip(lines.tolist(), by_line, strict=True):
        for number in tracks_of(line):
            if number + 1 >= len(bounds):
                continue
            missing = mine[row[mine] < 0]
            first, last = int(bounds[number]), int(bounds[number + 1])
            if len(missing) == 0 or first == last:
                continue
            part = slice(first, last)
            at = _on_track(events, missing, ts[part], dur[part], corr[part])
            found = at >= 0
            row[missing[found]] = rows[first + at[found]]
            correlation[missing[found]] = corr[first + at[found]]
    return row, correlation


def _on_track(events: FlowEvents, which: Array, ts: Array, dur: Array, correlation: Array) -> Array:
    """The slice, by its place on one track, that each of the events `which` binds to; -1 for none."""
    when = events.ts_ns[which]
    before = np.searchsorted(ts, when, "left")
    at = np.searchsorted(ts, when, "right") - 1  # the last to start by then: of equal starts, the innermost
    exact = at >= before
    for i in np.flatnonzero(at > before).tolist():
        same = np.flatnonzero(correlation[before[i] : at[i] + 1] == events.flow_id[which[i]])
        if len(same):
            at[i] = before[i] + same[-1]
    walking = np.flatnonzero((at >= 0) & ~exact)
    parent = nest(np.zeros(len(ts), np.int64), ts, dur).parent if len(walking) else ts
    while len(walking):
        here = at[walking]
        walking = walking[(dur[here] >= 0) & (ts[here] + dur[here] <= when[walking])]
        at[walking] = parent[at[walking]]
        walking = walking[at[walking] >= 0]
    following = np.flatnonzero(events.next_slice[which] & ~exact)
    at[following] = np.where(before[following] < len(ts), before[following], -1)
    return at
