"""Everything that is known about one slice."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from explorer_app.web.timeline.chain import chain
from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.mention import mention
from explorer_app.web.timeline.source_lines import source_lines
from trace_format.columns import Meaning
from trace_format.tables import Table

MOST_FLOWS = 100
MOST_PARENTS = 200
MOST_FRAMES = 500
MOST_ARGS = 300
LONGEST_VALUE = 20_000
# Larger whole numbers are sent as text: JavaScript would round them.
_EXACT_IN_JAVASCRIPT = 1 << 53

# Shown under names of their own, or the same for every slice.
_NOT_AN_ID = (
    "ts_ns", "dur_ns", "track", "name", "category", "depth", "self_ns", "parent", "stack", "bytes", "flops", "args",
)  # fmt: skip


def slice_details(data: TimelineData, row: int) -> dict[str, Any]:
    """All fields of a slice, ready for JSON; what is unknown is None or not there.

    `start`, `dur`, `self` are nanoseconds, `start` from the start of the trace and `start_ns` on the trace's clock, as
    text. `drawn_dur` is how long it is drawn: to the end of the trace where it did not finish (`dur` None). `parents`
    go outwards. `previous`, `next` are its neighbours on its lane, `child` is its first child.
    `flows_in` lead to it, `flows_out` from it, at most `MOST_FLOWS` each; `flow_count` counts all.
    `chain` goes on from those (see `chain.chain`), `source` says which lines of the program it comes from (see
    `source_lines.source_lines`).
    Texts longer than `LONGEST_VALUE` are cut and end with an ellipsis.
    """
    trace, lanes = data.trace, data.lanes
    slices = trace.slices
    lane, position = _place(data, row)
    flows_in, flows_out = trace.flows.to_slice == row, trace.flows.from_slice == row
    return {
        **mention(data, row),
        "name": _cut(slices.pool.strings[slices.name[row]]),
        "start_ns": str(slices.ts_ns[row]),
        "self": _known(slices.self_ns[row]),
        "bytes": _known(slices.bytes[row]),
        "flops": _known(slices.flops[row]),
        "depth": int(slices.depth[row]),
        "ids": _fields(slices, row, without=_NOT_AN_ID),
        "args": _args(data, row),
        "stack": [_cut(frame) for frame in trace.pool.frames(int(slices.stack[row]))[-MOST_FRAMES:]],
        "source": _plain(source_lines(data, row)),
        "parents": _parents(data, row),
        "previous": int(lanes.row[position - 1]) if position > lanes.offset[lane] else None,
        "next": int(lanes.row[position + 1]) if position + 1 < lanes.offset[lane + 1] else None,
        "child": _first_child(data, row, lane),
        "flows_in": _flows(data, flows_in, trace.flows.from_slice),
        "flows_out": _flows(data, flows_out, trace.flows.to_slice),
        "flow_count": int(np.count_nonzero(flows_in)) + int(np.count_nonzero(flows_out)),
        "chain": chain(data, row),
        "collective": _row_of(trace.collectives, row),
        "compile": _row_of(trace.compiles, row),
    }


def _place(data: TimelineData, row: int) -> tuple[int, int]:
    """The lane of a slice and its position in the lane store."""
    lanes, slices = data.lanes, data.trace.slices
    lane = lanes.lane_of(int(slices.track[row]), int(slices.depth[row]))
    low, high = int(lanes.offset[lane]), int(lanes.offset[lane + 1])
    # rows of one lane ascend with their position
    return lane, low + int(np.searchsorted(lanes.row[low:high], np.uint32(row)))


def _parents(data: TimelineData, row: int) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    while len(out) < MOST_PARENTS and (row := int(data.trace.slices.parent[row])) >= 0:
        out.append(mention(data, row))
    return out


def _first_child(data: TimelineData, row: int, lane: int) -> int | None:
    """The first slice on the lane below that has this one as its parent."""
    lanes, slices = data.lanes, data.trace.slices
    track, depth = int(slices.track[row]), int(slices.depth[row])
    if depth + 1 >= lanes.depths[track]:
        return None
    low, high = int(lanes.offset[lane + 1]), int(lanes.offset[lane + 2])
    at = low + int(np.searchsorted(lanes.start_ns[low:high], slices.ts_ns[row]))
    child = int(lanes.row[at]) if at < high else -1
    return child if child >= 0 and slices.parent[child] == row else None


def _flows(data: TimelineData, mask: np.ndarray, others: np.ndarray) -> list[dict[str, Any]]:
    flows = data.trace.flows
    out = []
    for flow in np.flatnonzero(mask)[:MOST_FLOWS].tolist():
        if (other := int(others[flow])) >= 0:
            out.append({**mention(data, other), "kind": data.label(int(flows.kind[flow]))})
    return out


def _args(data: TimelineData, row: int) -> dict[str, Any]:
    given = data.trace.pool.args(int(data.trace.slices.args[row]))
    return {_cut(name): _plain(value) for name, value in list(given.items())[:MOST_ARGS]}


def _row_of(table: Table, row: int) -> dict[str, Any] | None:
    """The row of another table that describes this slice, as its known fields."""
    found = np.flatnonzero(table.slice == row)
    return _fields(table, int(found[0]), without=("slice",)) if len(found) else None


def _fields(table: Table, row: int, *, without: tuple[str, ...]) -> dict[str, Any]:
    """The known fields of a row by column name, strings and choices as text."""
    out: dict[str, Any] = {}
    for name, column in table.COLUMNS.items():
        value = getattr(table, name)[row]
        if name in without or value == column.unknown or value != value:
            continue
        if column.meaning is Meaning.STRING:
            out[name] = _cut(table.pool.strings[value])
        elif column.meaning is Meaning.CHOICE:
            out[name] = column.choices[value]
        elif column.meaning is Meaning.ARGS:
            out[name] = _plain(table.pool.args(int(value)))
        else:
            out[name] = _plain(value.item())
    return out


def _known(value: Any) -> int | float | None:
    plain = value.item()
    return None if plain == -1 or plain != plain or math.isinf(plain) else plain


def _plain(value: Any) -> Any:
    """A value for JSON: texts cut, whole numbers that JavaScript would round as text."""
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < _EXACT_IN_JAVASCRIPT else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {_cut(str(key)): _plain(inner) for key, inner in list(value.items())[:MOST_ARGS]}
    return [_plain(inner) for inner in list(value)[:MOST_ARGS]]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
