"""Collectives that ran on the device become slices and rows of `collectives`."""

from __future__ import annotations

import re

from trace_format.importers.neuron_device_tables.context import Context
from trace_format.importers.neuron_device_tables.part import Part, Row, encoded
from trace_format.tables import CATEGORIES

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SAID = {"timestamp", "duration", "end_ts", "operation", "input_size", "output_size", "subgraph", "pcore_idx"}
_MOST_STREAMS = 256


def add_collectives(context: Context, part: Part) -> None:
    """Add a slice for each collective on the track of its stream, and what it moved."""
    part, ts = context.timed(part)
    if not len(part):
        return
    builder, strings = context.builder, context.builder.pool.strings
    ops = [_operation(text) for text in part.texts("operation")]
    streams = part.integers("stream_id").clip(-1, _MOST_STREAMS).tolist()
    first = builder["slices"].append(
        len(part),
        ts_ns=ts,
        dur_ns=context.durations(part, ts),
        track=context.tracks_of(lambda _, stream: _stream(context, stream), [0] * len(part), streams),
        name=strings.ids([text or "collective" for text in part.texts("operation")]),
        category=CATEGORIES.index("collective"),
        args=builder.pool.arg_sets.ids([encoded(_arguments(row)) for row in part.rows]),
    )
    builder["collectives"].append(
        len(part),
        slice=list(range(first, first + len(part))),
        op=strings.ids(ops),
        dtype=strings.ids(part.texts("dtype")),
        in_bytes=part.integers("input_size"),
        out_bytes=part.integers("output_size"),
        group_ranks=strings.ids(part.texts("replica_group")),
        algorithm=strings.ids(part.texts("algorithm")),
        seq=part.integers("op_id"),
        source=builder.string("Neuron device profile"),
    )


def _operation(name: str) -> str:
    """The operation by this project's names: "AllGather" is all_gather."""
    return _WORD.sub("_", name).lower()


def _stream(context: Context, stream: int) -> int:
    shown = f"Collectives · stream {stream}" if stream >= 0 else "Collectives"
    tracks = context.tracks
    return context.builder.track(
        shown, kind="collective", parent=tracks.group(), device=tracks.device, core=tracks.first_core, sort_index=2
    )


def _arguments(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in _SAID and value not in (None, "", [])}
