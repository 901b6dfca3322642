"""Packets that give names to the numbers events refer to them by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from trace_format.exporters.perfetto import wire
from trace_format.exporters.perfetto.annotations import Annotations
from trace_format.pool import Pool
from trace_format.trace import Trace
from trace_format.trace_events.arguments import FRAME_SEPARATOR

Array = np.ndarray

# Fields of InternedData, and of every entry in it (perfetto/protos/perfetto/trace/interned_data/).
_CATEGORIES, _NAMES, _ARGUMENT_NAMES, _STRING_VALUES = 1, 2, 3, 29
_ID, _TEXT = 1, 2
_BYTES_PER_PACKET = 1 << 20


def interned(trace: Trace, annotations: Annotations) -> Iterator[bytes]:
    """InternedData messages of a moderate size: names and categories by string id + 1, stacks by their id,
    argument names as numbered in `annotations`."""
    slices, instants, pool = trace.slices, trace.instants, trace.pool
    names = _used(slices.name, instants.name)
    categories = _used(slices.source_category, instants.source_category)
    entries = [
        (_CATEGORIES, ((i + 1, pool.strings[i]) for i in categories)),
        (_NAMES, ((i + 1, pool.strings[i]) for i in names)),
        (_ARGUMENT_NAMES, ((i, name) for name, i in annotations.names.items())),
        (_STRING_VALUES, ((i, _stack(pool, i)) for i in _used(slices.stack))),
    ]
    for field, values in entries:
        yield from _messages(field, values)


def _used(*columns: Array) -> list[int]:
    """The values in any of these columns of ids."""
    return sorted({value for column in columns for value in np.unique(column).tolist()})


def _stack(pool: Pool, stack: int) -> str:
    return FRAME_SEPARATOR.join(pool.frames(stack)[::-1])


def _messages(field: int, values: Iterable[tuple[int, str]]) -> Iterator[bytes]:
    parts: list[bytes] = []
    size = 0
    for number, text in values:
        parts.append(wire.sized(field, wire.number(_ID, number), wire.text(_TEXT, text)))
        size += len(parts[-1])
        if size >= _BYTES_PER_PACKET:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)
