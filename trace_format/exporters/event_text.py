"""Formats slices and instants as trace events, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from trace_format.exporters.lanes import Lanes
from trace_format.exporters.plain_text import plain, readable_object
from trace_format.exporters.text_rows import TextRows, joined
from trace_format.pool import Pool
from trace_format.tables import Instants, Slices
from trace_format.trace_events.arguments import FLOPS_ARGUMENT, FRAME_SEPARATOR, STACK_ARGUMENT
from trace_format.trace_events.section import dumps

Array = np.ndarray

CHUNK_ROWS = 65_536
_EXACT_IN_DOUBLE = 2**53
SEPARATOR = ",\n"  # before every event
SCOPE_LETTERS = ("t", "p", "g")
# Column -> the argument it is written as.
INTEGERS = (
    ("external_id", "External id"), ("correlation", "correlation"), ("record_function_id", "Record function id"),
    ("sequence_number", "Sequence number"), ("python_id", "Python id"), ("python_parent_id", "Python parent id"),
    ("bytes", "bytes"), ("event_index", "Ev Idx"), ("ts_ps", "ts picoseconds"), ("dur_ps", "dur picoseconds"),
    ("wait_ns", "wait ns"), ("pc", "program counter"),
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

    def arguments(self, args: int, stack: int) -> str:
        """An argument set without its braces, after the call stack if there is one."""
        inner = self._args.get(args)
        if inner is None:
            inner = self._args[args] = readable_object(self._pool.arg_sets[args]).strip()[1:-1].strip()
        if not stack:
            return inner
        found = self._stacks.get(stack)
        if found is None:
            frames = self._pool.frames(stack)[::-1]
            found = self._stacks[stack] = f'"{STACK_ARGUMENT}":{dumps(plain(FRAME_SEPARATOR.join(frames)))}'
        return f"{found},{inner}" if inner else found


def slice_events(
    slices: Slices, lanes: Lanes, texts: Texts, base_ns: int, followers: Callable[[int, list[bytes]], None]
) -> Iterator[bytes]:
    """The events of all slices in row order, many at once. A slice that did not finish becomes a begin without an end.

    `followers(first, texts)` appends to the texts of the slices from row `first` on the events that go behind each.
    """
    for first in range(0, len(slices), CHUNK_ROWS):
        rows = slice(first, first + CHUNK_ROWS)
        finished = slices.dur_ns[rows] >= 0
        heads = _heads(('"ph":"B"', '"ph":"X"'), finished, slices, rows, lanes.slice_lane[rows], lanes, texts)
        rests = _rests(slices, rows, texts)
        numbers = _numbered(slices, rows, rests, finished, base_ns)
        followers(first, rests)
        yield joined(heads, numbers, rests)


def instant_events(instants: Instants, lanes: Lanes, texts: Texts, base_ns: int) -> Iterator[bytes]:
    """The events of all instants in row order, many at once."""
    kinds = tuple(f'"ph":"i","s":"{letter}"' for letter in SCOPE_LETTERS)
    for first in range(0, len(instants), CHUNK_ROWS):
        rows = slice(first, first + CHUNK_ROWS)
        lane = lanes.first[instants.track[rows]]
        heads = _heads(kinds, instants.scope[rows], instants, rows, lane, lanes, texts)
        rests = _rests(instants, rows, texts)
        yield joined(heads, _numbered(instants, rows, rests, np.zeros(len(rests), bool), base_ns), rests)


def _heads(
    kinds: Sequence[str], kind: Array, table: Slices | Instants, rows: slice, lane: Array, lanes: Lanes, texts: Texts
) -> list[bytes]:
    """Events up to their time: separator, kind, category, name and place."""
    labels = table.source_category[rows].astype(np.int64) << 32 | table.name[rows]
    labels, label = np.unique(labels, return_inverse=True)
    keys, place = np.unique((label * len(lanes.pid) + lane) * len(kinds) + kind, return_inverse=True)
    said = [_label(value, texts) for value in labels.tolist()]
    made = []
    for key in keys.tolist():
        key, k = divmod(key, len(kinds))
        i, at = divmod(key, len(lanes.pid))
        made.append(f'{SEPARATOR}{{{kinds[k]}{said[i]},"pid":{lanes.pid[at]},"tid":{lanes.tid[at]},"ts":'.encode())
    return [made[i] for i in place.tolist()]


def _label(value: int, texts: Texts) -> str:
    category, name = value >> 32, value & 0xFFFFFFFF
    said = f',"cat":{texts.string(category)}' if category else ""
    return f'{said},"name":{texts.string(name)}'


def _numbered(table: Slices | Instants, rows: slice, rests: list[bytes], finished: Array, base_ns: int) -> list[bytes]:
    """What differs from event to event, up to where `rests` go on. Those that say the same things are made together."""
    ts_ns = table.ts_ns[rows] - base_ns
    dur_ns = table.dur_ns[rows] if isinstance(table, Slices) else ts_ns
    numbers = _numbers(table, rows)
    shape = finished.astype(np.int64) << 1 | np.fromiter(map(bool, rests), bool, len(rests))
    for bit, (_, _, present) in enumerate(numbers, 2):
        shape |= present.astype(np.int64) << bit
    out = np.empty(len(rests), object)
    for found in np.unique(shape).tolist():
        which = np.flatnonzero(shape == found)
        pieces = TextRows(len(which))
        pieces.microseconds(ts_ns[which])
        if found & 2:
            pieces.put(b',"dur":')
            pieces.microseconds(dur_ns[which])
        opening = b',"args":{'
        for bit, (key, values, _) in enumerate(numbers, 2):
            if found >> bit & 1:
                pieces.put(b'%b"%b":' % (opening, key.encode()))
                pieces.integers(values[which])
                opening = b","
        goes_on = found & 1
        pieces.put(opening if goes_on else b"}}" if opening == b"," else b"}")
        out[which] = pieces.finish()
    whole: list[bytes] = out.tolist()
    return whole


def _numbers(table: Slices | Instants, rows: slice) -> list[tuple[str, Array, Array]]:
    """The arguments that columns hold as integers: key, values, and which rows have one."""
    columns = [(key, getattr(table, name)[rows]) for name, key in INTEGERS if name in table.COLUMNS]
    out = [(key, values, values >= 0) for key, values in columns]
    if isinstance(table, Slices):
        flops = table.flops[rows]
        whole = _whole(flops)
        out.append((FLOPS_ARGUMENT, np.where(whole, flops, 0).astype(np.int64), whole))
    return [one for one in out if one[2].any()]


def _whole(flops: Array) -> Array:
    return (np.abs(flops) < _EXACT_IN_DOUBLE) & (np.trunc(flops) == flops)


def _rests(table: Slices | Instants, rows: slice, texts: Texts) -> list[bytes]:
    """The other arguments and the braces that end the event; empty where there are none."""
    keys = table.args[rows].astype(np.int64)
    if isinstance(table, Slices):
        keys |= table.stack[rows].astype(np.int64) << 32
    used, place = np.unique(keys, return_inverse=True)
    said = [texts.arguments(key & 0xFFFFFFFF, key >> 32) for key in used.tolist()]
    ended = [f"{text}}}}}".encode("utf-8", "replace") if text else b"" for text in said]
    out = [ended[i] for i in place.tolist()]
    if isinstance(table, Slices):
        flops = table.flops[rows]
        for row in np.flatnonzero(np.isfinite(flops) & ~_whole(flops)).tolist():
            out[row] = b'"%b":%r%b' % (
                FLOPS_ARGUMENT.encode(),
                float(flops[row]),
                b"," + out[row] if out[row] else b"}}",
            )
    return out
