"""What happened on a host track, and how the rows of a trace are made of it: slices, instants, collectives, flows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from trace_format.builder import TraceBuilder
from trace_format.importers.neuron_system.event_types import COLLECTIVE, category, collective_op
from trace_format.limits import LATEST_NS, LONGEST_NS
from trace_format.tables import CATEGORIES

SEQUENCE, PARENT = "nrta_seq_id", "parent_id"  # the kinds of flows, by the ids that link them
_OP_KEYS = ("cc_op", "op", "operation", "enc_op")


@dataclass(slots=True)
class Activity:
    """One event. `dur_ns`: -1 for one that did not finish, None for a moment.

    `level` orders cause and effect (0 framework, 1 runtime, 2 hardware); ids are -1 where there is none.
    """

    name: str
    kind: str
    track: int
    process: int
    level: int
    start_ns: int
    dur_ns: int | None
    source_category: str = ""
    category: str = ""  # "": that of its kind
    id: int = -1
    parent_id: int = -1
    sequence: Sequence[int] = ()
    bytes: int = -1
    args: dict[str, Any] = field(default_factory=dict)

    @property
    def problem(self) -> str:
        """Why no row can be made of it; "" where one can."""
        if abs(self.start_ns) > LATEST_NS:
            return "event whose time no clock shows"
        if self.dur_ns is not None and self.dur_ns > LONGEST_NS:
            return "event longer than 104 days"
        return ""


def add_activities(builder: TraceBuilder, activities: Sequence[Activity]) -> None:
    """Add a row for each activity, a row of collectives for each whose operation is told, and the flows between them.

    `correlation` holds the sequence number by which the framework, the runtime and the hardware name one request;
    `event_index` the source's id of the event.
    """
    spans = [a for a in activities if a.dur_ns is not None]
    first = _add(builder, "slices", spans, dur_ns=[a.dur_ns for a in spans])
    _add(builder, "instants", [a for a in activities if a.dur_ns is None])
    _add_collectives(builder, first, spans)
    _add_flows(builder, first, spans)


def _add(builder: TraceBuilder, table: str, rows: Sequence[Activity], **columns: Any) -> int:
    if not rows:
        return builder[table].rows
    if table == "slices":
        columns["bytes"] = [a.bytes for a in rows]
        columns["correlation"] = [a.sequence[0] if a.sequence else -1 for a in rows]
    return builder[table].append(
        len(rows),
        ts_ns=[a.start_ns for a in rows],
        track=[a.track for a in rows],
        name=builder.pool.strings.ids([a.name for a in rows]),
        category=[CATEGORIES.index(a.category or category(a.kind)) for a in rows],
        source_category=builder.pool.strings.ids([a.source_category for a in rows]),
        event_index=[a.id for a in rows],
        args=builder.pool.arg_sets.ids([json.dumps(a.args).encode() if a.args else b"" for a in rows]),
        **columns,
    )


def _add_collectives(builder: TraceBuilder, first: int, spans: Sequence[Activity]) -> None:
    for row, span in enumerate(spans, first):
        if span.kind != COLLECTIVE:
            continue
        op = next((op for key in _OP_KEYS if (op := collective_op(span.args.get(key)))), "")
        if op:
            algorithm, dtype = span.args.get("algorithm"), span.args.get("dtype")
            builder["collectives"].append(
                1,
                slice=row,
                op=builder.string(op),
                algorithm=builder.string(algorithm if isinstance(algorithm, str) else ""),
                dtype=builder.string(dtype if isinstance(dtype, str) else ""),
                source=builder.string("Neuron runtime"),
            )


def _add_flows(builder: TraceBuilder, first: int, spans: Sequence[Activity]) -> None:
    """From the first call of each level to the first of the next on each of its tracks; from parents elsewhere."""
    requests: dict[tuple[int, int], list[int]] = {}
    by_id: dict[tuple[int, int], int] = {}
    for place, span in enumerate(spans):
        for number in span.sequence:
            requests.setdefault((span.process, number), []).append(place)
        if span.id >= 0:
            by_id.setdefault((span.process, span.id), place)
    arrows = [
        (cause, effect, SEQUENCE, number) for (_, number), places in requests.items()
        for cause, effect in _links(spans, places)
    ]  # fmt: skip
    for place, span in enumerate(spans):
        cause = by_id.get((span.process, span.parent_id))
        if cause is not None and spans[cause].track != span.track:
            arrows.append((cause, place, PARENT, span.parent_id))
    if arrows:
        causes, effects, kinds, ids = zip(*arrows, strict=True)
        builder["flows"].append(
            len(arrows),
            from_slice=[first + place for place in causes],
            to_slice=[first + place for place in effects],
            kind=builder.pool.strings.ids(list(kinds)),
            flow_id=list(ids),
        )


def _links(spans: Sequence[Activity], places: Iterable[int]) -> list[tuple[int, int]]:
    levels: dict[int, dict[int, int]] = {}
    for place in sorted(places, key=lambda p: (spans[p].start_ns, -(spans[p].dur_ns or 0))):
        levels.setdefault(spans[place].level, {}).setdefault(spans[place].track, place)
    found = []
    cause = -1
    for level in sorted(levels):
        effects = list(levels[level].values())
        if cause >= 0:
            found += [(cause, effect) for effect in effects]
        cause = effects[0]
    return found
