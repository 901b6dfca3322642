"""Flow events become rows between slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Annotated

import numpy as np

from trace_format import columns as c
from trace_format.builder import TraceBuilder, order_of_rows
from trace_format.nesting import nest
from trace_format.spill import release
from trace_format.tables import Slices, Table

Array = np.ndarray

START, STEP, END = range(3)


class FlowEvents(Table):
    """Flow events: those of one `group` and `identity` belong together."""

    NAME = "flow events"
    line: Annotated[Array, c.integer(unknown=0, dtype="<u4")]
    ts_ns: Annotated[Array, c.time()]
    role: Annotated[Array, c.integer(unknown=0, dtype="u1")]  # START, STEP or END
    group: Annotated[Array, c.integer(unknown=0, dtype="<u4")]
    identity: Annotated[Array, c.integer()]
    flow_id: Annotated[Array, c.integer()]
    kind: Annotated[Array, c.string()]
    name: Annotated[Array, c.string()]
    args: Annotated[Array, c.args()]
    next_slice: Annotated[Array, c.flag()]  # it means the next slice to start rather than the one around it


def link(
    events: FlowEvents,
    slices: Slices,
    tracks_of: Callable[[int], list[int]],
    builder: TraceBuilder,
    lost: Counter[str],
) -> None:
    """Add the flows to the builder, and what could not be joined to `lost`, by cause. `slices` are the builder's.

    An event binds to the slice that starts at its time on its line (of several: the one whose correlation is the
    flow's id, else the innermost), else to the innermost slice around it. Every end joins the last start or step of
    its key before it; where clocks disagree and the start comes later, the first start. A flow event that no other one
    answers and that lies on the slice whose correlation is its id says nothing the slice does not: it counts as kept.
    """
    order = np.lexsort((events.role, events.ts_ns, events.identity, events.group))
    ordered = FlowEvents(events.take(order).stored(), events.pool)
    release(events.stored().values())
    events = ordered
    row, correlation = _bind(events, slices, tracks_of)
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
    changes = (events.group[1:] != events.group[:-1]) | (events.identity[1:] != events.identity[:-1])
    first = np.r_[True, changes] if len(rows) else np.zeros(0, bool)
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
        same = there & (key_start[later] == key_start[late])
        cause[late[same]] = later[same]
    return np.where(bound & (events.role != START), cause, -1)


def _bind(events: FlowEvents, slices: Slices, tracks_of: Callable[[int], list[int]]) -> tuple[Array, Array]:
    """The slice of each event and its correlation, -1 where there is none."""
    row = np.full(len(events), -1, np.int64)
    correlation = np.full(len(events), -1, np.int64)
    order = np.argsort(slices.track, kind="stable")
    if len(order) < 2**32:
        order = order.astype(np.uint32)  # it stays while all else is looked up in parts
    last_row = np.cumsum(np.bincount(slices.track))
    lines, place = np.unique(events.line, return_inverse=True)
    by_line = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place, minlength=len(lines)))[:-1])
    for line, mine in zip(lines.tolist(), by_line, strict=True):
        for number in tracks_of(line):
            missing = mine[row[mine] < 0]
            if number >= len(last_row) or len(missing) == 0:
                continue
            rows = order[last_row[number - 1] if number else 0 : last_row[number]]
            if len(rows) == 0:
                continue
            within = order_of_rows("slices", {name: _taken(slices, name, rows) for name in ("ts_ns", "dur_ns")})
            rows = rows if within is None else rows[within]
            del within
            ts, dur, track_correlation = (_taken(slices, name, rows) for name in ("ts_ns", "dur_ns", "correlation"))
            at = _on_track(events, missing, ts, dur, track_correlation)
            found = at >= 0
            row[missing[found]] = rows[at[found]]
            correlation[missing[found]] = track_correlation[at[found]]
    return row, correlation


def _taken(table: Table, name: str, rows: Array) -> Array:
    """A column's values in these rows; those of a spilled table leave memory again, but for these."""
    column = getattr(table, name)
    values = column[rows]
    release([column])
    return values


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
