"""Splits argument objects: what changes with every event goes to columns, the rest is interned whole."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trace_format.pool import Pool

Array = np.ndarray

# Kineto's argument -> the column that holds it.
_KINETO_COLUMNS: Mapping[str, str] = {
    "External id": "external_id",
    "correlation": "correlation",
    "Ev Idx": "event_index",
    "Profiler Event Index": "event_index",  # its name before torch 1.13
    "Record function id": "record_function_id",
    "Sequence number": "sequence_number",
    "Python id": "python_id",
    "Python parent id": "python_parent_id",
    "bytes": "bytes",
}
# Further ones that only our own exports have.
_OWN_COLUMNS: Mapping[str, str] = {
    "ts picoseconds": "ts_ps",
    "dur picoseconds": "dur_ps",
    "wait ns": "wait_ns",
    "program counter": "pc",
}
INTEGER_COLUMNS: Mapping[str, str] = {**_KINETO_COLUMNS, **_OWN_COLUMNS}
FLOPS_ARGUMENT = "flops"
STACK_ARGUMENT = "Call stack"
FRAME_SEPARATOR = ";"  # between the frames of a call stack, innermost first (torch/csrc/profiler/util.cpp)
SLICE_ARGUMENTS = (*_KINETO_COLUMNS, FLOPS_ARGUMENT, STACK_ARGUMENT)
OWN_SLICE_ARGUMENTS = (*SLICE_ARGUMENTS, *_OWN_COLUMNS)
INSTANT_ARGUMENTS = ("Ev Idx", "Profiler Event Index")

_PADDING = bytes(24)  # words of 8 bytes may be read past the end of the text
_MOST_DIGITS = 18  # every integer this long fits int64
_MOST_SPACES = 64  # between a key and its value; what has more stays among the arguments
_MEMO_ENTRIES = 200_000
_STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_AFTER_VALUE = re.compile(rb"\s*(?:,\s*|(?=\}))")
_QUOTE, _BACKSLASH, _COLON, _COMMA, _OPEN, _CLOSE = (ord(c) for c in '"\\:,{}')


@dataclass(slots=True)
class Arguments:
    """The arguments of `n` events. `args` `(n,) int64`: argument set ids. `columns`: those that say something."""

    args: Array
    columns: dict[str, Array]


@dataclass(slots=True)
class _Found:
    """Occurrences of one key in the joined text: event, and the range to cut out; values `(m,)`."""

    event: Array
    start: Array
    end: Array
    value: Array


class ArgumentSplitter:
    """Splits the argument objects of many events at once.

    Only whole, non-negative integers go to integer columns, and only those at the top level of the object;
    anything else stays among the arguments, so nothing is lost. The same text always gives the same set.
    """

    def __init__(self, pool: Pool, repaired: Counter[str]) -> None:
        self._pool = pool
        self._repaired = repaired
        self._sets: dict[bytes, int] = {b"": 0}
        self._stacks: dict[bytes, int] = {}

    def split(self, args: Sequence[bytes], keys: Sequence[str] = SLICE_ARGUMENTS) -> Arguments:
        """The arguments of each event, with those named by `keys` in columns. No events give empty columns."""
        count = len(args)
        args, text = self._joined(args)
        found = _Text(text, count).find(keys)
        columns: dict[str, Array] = {}
        cuts: list[_Found] = []
        for key, where in found.items():
            if key == STACK_ARGUMENT:
                where, name, values = self._call_stacks(text, where), "stack", np.zeros(count, np.int64)
            elif key == FLOPS_ARGUMENT:
                where, name, values = _numbers(text, where), "flops", np.full(count, np.nan)
            else:
                name = INTEGER_COLUMNS[key]
                values = columns.get(name, np.full(count, -1))
            if len(where.event):
                values[where.event] = where.value
                columns[name] = values
                cuts.append(where)
        rests = _without(text, cuts).split(b"\0", count)[:count] if cuts else args
        return Arguments(self._set_ids(rests), columns)

    def set_id(self, text: bytes) -> int:
        """The id of the argument set with this JSON text; 0 for an empty or absent object."""
        inner = text.strip()
        if inner in (b"", b"null"):
            return 0
        if inner[:1] != b"{":
            inner = b'{"args":%s}' % inner
        inner = inner[1:-1].strip().removesuffix(b",").rstrip()
        return self._pool.arg_sets.id(b"{%s}" % inner) if inner else 0

    def _set_ids(self, texts: Sequence[bytes]) -> Array:
        known = self._sets
        if len(known) > _MEMO_ENTRIES:
            known.clear()
            known[b""] = 0
        try:
            ids = list(map(known.__getitem__, texts))
        except KeyError:
            for text in set(texts) - known.keys():
                known[text] = self.set_id(text)
            ids = list(map(known.__getitem__, texts))
        return np.array(ids, np.int64)

    def _joined(self, args: Sequence[bytes]) -> tuple[Sequence[bytes], bytes]:
        """The texts with what no JSON text may hold replaced, and all of them joined by zero bytes, with padding."""
        text = b"\0".join(args) + _PADDING
        if text.count(b"\0") != max(len(args) - 1, 0) + len(_PADDING):
            args = [one.replace(b"\0", rb"\u0000") for one in args]
            text = b"\0".join(args) + _PADDING
        if not text.isascii() and not _is_utf8(text):
            self._repaired["bytes that are not UTF-8 replaced"] += sum(not _is_utf8(one) for one in args)
            args = [one.decode("utf-8", "replace").encode() for one in args]
            text = b"\0".join(args) + _PADDING
        return args, text

    def _call_stacks(self, text: bytes, where: _Found) -> _Found:
        kept, values = [], []
        for i, at in enumerate(where.value.tolist()):
            string = _STRING.match(text, at)
            after = string and _AFTER_VALUE.match(text, string.end())
            if string and after and string.end() - string.start() > 2:
                stack = self._stacks.get(string[0])
                if stack is None:
                    frames = json.loads(string[0]).split(FRAME_SEPARATOR)
                    stack = self._stacks[string[0]] = self._pool.stack_id(frames[::-1])
                kept.append(i)
                values.append(stack)
                where.end[i] = after.end()
        return _Found(where.event[kept], where.start[kept], where.end[kept], np.array(values, np.int64))


class _Text:
    """The joined argument texts of `count` events, in which keys are looked for."""

    def __init__(self, text: bytes, count: int) -> None:
        self.text = text
        self.bytes = np.frombuffer(text, np.uint8)
        words = max(len(text) - 7, 0)
        self.words = np.ndarray((words,), "<u8", buffer=text, strides=(1,))
        self.ends = np.flatnonzero(self.bytes == 0)[: max(count, 1)]
        opens = np.flatnonzero(self.bytes == _OPEN)
        self.nested = np.diff(np.searchsorted(opens, self.ends), prepend=0) > 1
        self.quotes = np.flatnonzero(self.bytes == _QUOTE)
        self.after_quote = self.bytes[self.quotes + 1]

    def find(self, keys: Sequence[str]) -> dict[str, _Found]:
        """For each key that occurs: where. The value of integer keys is the integer; of others, its place."""
        out = {}
        for key in keys:
            start = self._key(key.encode() + b'"')
            if len(start):
                found = self._values(start, len(key) + 2, integers=key in INTEGER_COLUMNS)
                if len(found.event):
                    out[key] = found
        return out

    def _key(self, pattern: bytes) -> Array:
        """Places of the opening quote of this key (given with its closing quote)."""
        at = self.quotes[self.after_quote == pattern[0]]
        for offset in range(0, len(pattern), 8):
            part = pattern[offset : offset + 8]
            mask = np.uint64((1 << 8 * len(part)) - 1)
            at = at[(self.words[at + 1 + offset] & mask) == np.uint64(int.from_bytes(part, "little"))]
        return at[(at == 0) | (self.bytes[at - 1] != _BACKSLASH)]

    def _values(self, start: Array, key_length: int, *, integers: bool) -> _Found:
        at, plain = self._skip_spaces(start + key_length)
        plain &= self.bytes[at] == _COLON
        at, close = self._skip_spaces(at + 1)
        plain &= close
        event = np.searchsorted(self.ends, start)
        for i in np.flatnonzero(plain & self.nested[event]).tolist():
            plain[i] = self._depth(int(event[i]), int(start[i])) == 1
        if not integers:
            return _Found(event[plain], start[plain], at[plain].copy(), at[plain])
        value, end, whole = self._integers(at)
        end, close = self._skip_spaces(end)
        plain &= whole & close
        comma = self.bytes[end] == _COMMA
        plain &= comma | (self.bytes[end] == _CLOSE)
        end, _ = self._skip_spaces(end + comma)
        return _Found(event[plain], start[plain], end[plain], value[plain])

    def _skip_spaces(self, at: Array) -> tuple[Array, Array]:
        """Places after any white space, and whether it ended within bounds."""
        at = at.copy()
        space = _IS_SPACE[self.bytes[at]]
        for _ in range(_MOST_SPACES):
            if not space.any():
                break
            at += space
            space = _IS_SPACE[self.bytes[at]]
        return at, ~space

    def _integers(self, at: Array) -> tuple[Array, Array, Array]:
        """The unsigned integers at these places: value, end, and whether there is one that fits."""
        value, end = np.zeros(len(at), np.int64), at.copy()
        for _ in range(_MOST_DIGITS):
            digit = self.bytes[end] - np.uint8(48)
            more = digit < 10
            if not more.any():
                break
            value = np.where(more, value * 10 + digit, value)
            end += more
        whole = (end > at) & ((self.bytes[end] - np.uint8(48)) > 9)
        return value, end, whole

    def _depth(self, event: int, place: int) -> int:
        first = int(self.ends[event - 1]) + 1 if event else 0
        depth = 0
        for token in _STRING_OR_BRACKET.finditer(self.text, first, place):
            depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(token[0], 0)
        return depth


_IS_SPACE = np.isin(np.arange(256), np.frombuffer(b" \t\r\n", np.uint8))


def _numbers(text: bytes, where: _Found) -> _Found:
    kept, values = [], []
    for i, at in enumerate(where.value.tolist()):
        number = _NUMBER.match(text, at)
        after = number and _AFTER_VALUE.match(text, number.end())
        if number and after and float(number[0]) < 2**53:
            kept.append(i)
            values.append(float(number[0]))
            where.end[i] = after.end()
    return _Found(where.event[kept], where.start[kept], where.end[kept], np.array(values, np.float64))


def _without(text: bytes, cuts: Sequence[_Found]) -> bytes:
    starts = np.concatenate([cut.start for cut in cuts])
    ends = np.concatenate([cut.end for cut in cuts])
    order = np.argsort(starts)
    kept_from = np.concatenate([[0], ends[order]]).tolist()
    kept_to = np.concatenate([starts[order], [len(text)]]).tolist()
    return b"".join([text[a:b] for a, b in zip(kept_from, kept_to, strict=True)])


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
