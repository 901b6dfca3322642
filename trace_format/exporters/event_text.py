"""Formats slices and instants as trace events, many at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

import numpy as np

from trace_format.exporters.lanes import Lanes
from trace_format.exporters.plain_text import plain, readable_object
from trace_format.pool import Pool
from trace_format.tables import Instants, Slices, Table
from trace_format.trace_events.arguments import FRAME_SEPARATOR
from trace_format.trace_events.section import dumps

Array = np.ndarray

_CHUNK_ROWS = 65_536
_NS_PER_US = 1000
_FRACTION = [f".{ns:03d}" for ns in range(_NS_PER_US)]
SCOPE_LETTERS = ("t", "p", "g")
# Column -> the argument it is written as.
_INTEGERS = (
    ("external_id", "External id"), ("correlation", "correlation"), ("record_function_id", "Record function id"),
    ("sequence_number", "Sequence number"), ("python_id", "Python id"), ("python_parent_id", "Python parent id"),
    ("bytes", "bytes"), ("event_index", "Ev Idx"),
)  # fmt: skip


class Texts:
    """JSON text of interned values, made once for each."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._strings: dict[int, str] = {}
        self._args: dict[int, str] = {}
        self._stacks: dict[int, str] = {}

    def string(self, index: int) -> str:
        found = self._strings.get(index)
        if found is None:
            found = self._strings[index] = dumps(plain(self._pool.strings[index]))
        return found

    def inner_args(self, index: int) -> str:
        """An argument set without its braces."""
        found = self._args.get(index)
        if found is None:
            found = self._args[index] = readable_object(self._pool.arg_sets[index]).strip()[1:-1].strip()
        return found

    def stack(self, index: int) -> str:
        found = self._stacks.get(index)
        if found is None:
            frames = self._pool.frames(index)[::-1]
            found = self._stacks[index] = dumps(plain(FRAME_SEPARATOR.join(frames)))
        return found


def microseconds(ts_ns: Array) -> list[str]:
    """Nanoseconds as exact decimal microseconds."""
    whole, part = np.divmod(np.abs(ts_ns), _NS_PER_US)
    out = [f"{us}{_FRACTION[ns]}" for us, ns in zip(whole.tolist(), part.tolist(), strict=True)]
    for row in np.flatnonzero(ts_ns < 0).tolist():
        out[row] = "-" + out[row]
    return out


def slice_events(slices: Slices, lanes: Lanes, texts: Texts, base_ns: int) -> Iterator[tuple[int, list[str]]]:
    """The events of all slices in row order, in chunks of (first row, one text each).

    A slice that did not finish becomes a begin without an end.
    """
    for first in range(0, len(slices), _CHUNK_ROWS):
        rows = slice(first, first + _CHUNK_ROWS)
        head = _heads(slices, rows, lanes.slice_lane[rows], lanes, texts, base_ns)
        durations, args = microseconds(slices.dur_ns[rows]), _arguments(slices, rows, texts)
        events = [f'{{"ph":"X"{h},"dur":{d}{a}' for h, d, a in zip(head, durations, args, strict=True)]
        for row in np.flatnonzero(slices.dur_ns[rows] < 0).tolist():
            events[row] = f'{{"ph":"B"{head[row]}{args[row]}'
        yield first, events


def instant_events(instants: Instants, lanes: Lanes, texts: Texts, base_ns: int) -> Iterator[list[str]]:
    """The events of all instants in row order, in chunks."""
    for first in range(0, len(instants), _CHUNK_ROWS):
        rows = slice(first, first + _CHUNK_ROWS)
        head = _heads(instants, rows, lanes.first[instants.track[rows]], lanes, texts, base_ns)
        scopes = [SCOPE_LETTERS[s] for s in instants.scope[rows].tolist()]
        args = _arguments(instants, rows, texts)
        yield [f'{{"ph":"i","s":"{s}"{h}{a}' for s, h, a in zip(scopes, head, args, strict=True)]


def _heads(table: Slices | Instants, rows: slice, lane: Array, lanes: Lanes, texts: Texts, base_ns: int) -> list[str]:
    """Name, category, place and time of events."""
    pair, place = np.unique(table.source_category[rows].astype(np.int64) << 32 | table.name[rows], return_inverse=True)
    named = [_named(value, texts) for value in pair.tolist()]
    used, where = np.unique(lane, return_inverse=True)
    placed = [f',"pid":{lanes.pid[i]},"tid":{lanes.tid[i]},"ts":' for i in used.tolist()]
    times = microseconds(table.ts_ns[rows] - base_ns)
    return [f"{named[n]}{placed[p]}{t}" for n, p, t in zip(place.tolist(), where.tolist(), times, strict=True)]


def _named(pair: int, texts: Texts) -> str:
    category, name = pair >> 32, pair & 0xFFFFFFFF
    said = f',"cat":{texts.string(category)}' if category else ""
    return f'{said},"name":{texts.string(name)}'


def _arguments(table: Table, rows: slice, texts: Texts) -> list[str]:
    """The arguments of events and the closing brace: ids from their columns first, then the argument set."""
    used, place = np.unique(table.args[rows], return_inverse=True)
    inner = [texts.inner_args(i) for i in used.tolist()]
    ids = _ids(table, rows)
    for extra in _rarer(table, rows, texts):
        ids = [a + b for a, b in zip(ids or [""] * len(place), extra, strict=True)]
    if not ids:
        whole = [f',"args":{{{text}}}}}' if text else "}" for text in inner]
        return [whole[i] for i in place.tolist()]
    return [
        f',"args":{{{said}{inner[i]}}}}}' if inner[i] else f',"args":{{{said[:-1]}}}}}' if said else "}"
        for said, i in zip(ids, place.tolist(), strict=True)
    ]


def _ids(table: Table, rows: slice) -> list[str]:
    """The arguments that integer columns hold, each with a comma after; empty where no row has any.

    Rows that have the same ones are formatted together.
    """
    columns = [(key, getattr(table, name)[rows]) for name, key in _INTEGERS if name in table.COLUMNS]
    columns = [(key, values) for key, values in columns if (values >= 0).any()]
    if not columns:
        return []
    present = sum((values >= 0).astype(np.int64) << bit for bit, (_, values) in enumerate(columns))
    masks, place = np.unique(present, return_inverse=True)
    out = np.empty(len(place), object)
    for number, mask in enumerate(masks.tolist()):
        mine = [column for bit, column in enumerate(columns) if mask >> bit & 1]
        template = "".join(f'"{key}":%d,' for key, _ in mine)
        which = np.flatnonzero(place == number)
        numbers = zip(*(values[which].tolist() for _, values in mine), strict=True)
        out[which] = list(map(template.__mod__, numbers)) if mine else ""
    return list(out)


def _rarer(table: Table, rows: slice, texts: Texts) -> Iterator[Sequence[str]]:
    """FLOPs and call stacks in the same form, where any row has them."""
    if "flops" in table.COLUMNS:
        flops = table.flops[rows]
        if np.isfinite(flops).any():
            yield [f'"flops":{_number(v)},' if isfinite(v) else "" for v in flops.tolist()]
    if "stack" in table.COLUMNS:
        stacks = table.stack[rows]
        if stacks.any():
            yield [f'"Call stack":{texts.stack(v)},' if v else "" for v in stacks.tolist()]


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
