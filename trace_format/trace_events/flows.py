"""Flow events become rows between slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Annotated

import numpy as np

from trace_format import columns as c
from trace_format.builder import TraceBuilder
from trace_format.nesting import nest
from trace_format.row_order import by_number, order_in_pieces
from trace_format.spill import Spill, release
from trace_format.tables import Slices, Table

Array = np.ndarray

START, STEP, END = range(3)
_SAID = ("kind", "name", "args")  # what a flow is to be shown with, no part of how its events are joined
_ROWS_AT_A_TIME = 1 << 20


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
    as_added, stored = events, events.stored()
    looked_at = FlowEvents({name: column for name, column in stored.items() if name not in _SAID}, events.pool)
    events = FlowEvents(looked_at.take(order).stored(), events.pool)
    release(stored.values())
    row, correlation = _bind(events, slices, tracks_of)
    bound = row >= 0
    cause = _cause_before(events, bound)
    linked = np.flatnonzero(cause >= 0)
    origin = cause[linked]
    effect_added, cause_added = order[linked], order[origin]
    args = as_added.args[effect_added]
    builder["flows"].append(
        len(linked),
        from_slice=row[origin],
        to_slice=row[linked],
        kind=as_added.kind[effect_added],
        flow_id=events.flow_id[linked],
        name=as_added.name[effect_added],
        args=np.where(args > 0, args, as_added.args[cause_added]),
    )
    release(stored.values())
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
    order, bounds = by_number(slices.track)
    release([slices.track])
    lines, place = np.unique(events.line, return_inverse=True)
    by_line = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place, minlength=len(lines)))[:-1])
    for line, mine in zip(lines.tolist(), by_line, strict=True):
        for number in tracks_of(line):
            missing = mine[row[mine] < 0]
            if number >= len(bounds) - 1 or len(missing) == 0:
                continue
            rows = order[bounds[number] : bounds[number + 1]]
            if len(rows) == 0:
                continue
            columns = {name: _taken(slices, name, rows) for name in ("ts_ns", "dur_ns")}
            within = order_in_pieces("slices", columns, _ROWS_AT_A_TIME)
            del columns
            rows = rows if within is None else rows[within]
            del within
            at = _on_track(events, missing, slices, rows)
            found = at >= 0
            row[missing[found]] = rows[at[found]]
            correlation[missing[found]] = _taken(slices, "correlation", rows[at[found]])
    return row, correlation


def _taken(table: Table, name: str, rows: Array) -> Array:
    """A column's values in these rows; those of a spilled table leave memory again, but for these."""
    column = getattr(table, name)
    values = column[rows]
    release([column])
    return values


def _on_track(events: FlowEvents, which: Array, slices: Slices, rows: Array) -> Array:
    """The slice, by its place among the rows of one track, that each of the events `which` binds to; -1 for none."""
    when, ts = events.ts_ns[which], _taken(slices, "ts_ns", rows)
    before = np.searchsorted(ts, when, "left")
    at = np.searchsorted(ts, when, "right") - 1  # the last to start by then: of equal starts, the innermost
    exact = at >= before
    for i in np.flatnonzero(at > before).tolist():
        same = np.flatnonzero(slices.correlation[rows[before[i] : at[i] + 1]] == events.flow_id[which[i]])
        if len(same):
            at[i] = before[i] + same[-1]
    release([slices.correlation])
    walking = np.flatnonzero((at >= 0) & ~exact)
    if len(walking):
        at[walking] = _walked_out(at[walking], when[walking], ts, _taken(slices, "dur_ns", rows))
    following = np.flatnonzero(events.next_slice[which] & ~exact)
    at[following] = np.where(before[following] < len(ts), before[following], -1)
    return at


def _walked_out(at: Array, when: Array, ts: Array, dur: Array) -> Array:
    """From each of these slices of one track the innermost around it, or itself, that is still open; -1 for none."""
    if len(ts) > _ROWS_AT_A_TIME:
        file = Spill()
        ts, dur = file.column([ts], ts.dtype), file.column([dur], dur.dtype)
    parent = nest(np.zeros(len(ts), np.uint32), ts, dur).parent
    out = at.copy()
    walking = np.arange(len(out))
    while len(walking):
        here = out[walking]
        walking = walking[(dur[here] >= 0) & (ts[here] + dur[here] <= when[walking])]
        out[walking] = parent[out[walking]]
        walking = walking[out[walking] >= 0]
    return out
