"""Trace-event files like those people have, and what may have happened to them on the way."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Sequence

import zstandard
from hypothesis import strategies as st

Change = Callable[[bytes, random.Random, Sequence[bytes]], bytes]  # a file, and others to take parts of

_EVENTS = [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 9, "ts": 1.5, "dur": 20.25,
     "args": {"External id": 3, "Input Dims": [[2, 3], [3, 4]], "Call stack": "a;b", "flops": 48}},
    {"ph": "X", "cat": "kernel", "name": "gemm<float>", "pid": 0, "tid": "stream 7", "ts": 9, "dur": 5.001,
     "args": {"correlation": 12, "stream": 7, "bytes": 4096, "External id": 3}},
    {"ph": "s", "id": 12, "cat": "ac2g", "name": "ac2g", "pid": 7, "tid": 9, "ts": 1.5},
    {"ph": "f", "id": 12, "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": "stream 7", "ts": 9, "bp": "e"},
    {"ph": "B", "name": "outer", "pid": 7, "tid": 1, "ts": "100.5", "cat": "python_function"},
    {"ph": "E", "pid": 7, "tid": 1, "ts": 101},
    {"ph": "b", "cat": "request", "id": "0x1f", "name": "get", "pid": 7, "ts": 3},
    {"ph": "n", "cat": "request", "id": "0x1f", "name": "get", "pid": 7, "ts": 4},
    {"ph": "e", "cat": "request", "id": "0x1f", "name": "get", "pid": 7, "ts": 5},
    {"ph": "C", "name": "power", "pid": 7, "ts": 2, "args": {"W": 310.5, "limit": 400}},
    {"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", "pid": 7, "tid": 9, "ts": 2,
     "args": {"Bytes": 64, "Addr": 140737488355328, "Total Allocated": 64, "Total Reserved": -1, "Device Type": 0}},
    {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "python"}},
    {"ph": "M", "name": "thread_sort_index", "pid": 7, "tid": 9, "args": {"sort_index": 2}},
    {"ph": "O", "id": 5, "name": "tree", "pid": 1, "tid": 1, "ts": 8, "args": {"snapshot": {"a": [1, {"b": None}]}}},
    {"ph": "P", "name": "sample", "pid": 1, "tid": 1, "ts": 8, "sf": 3},
]  # fmt: skip
_AROUND = {
    "schemaVersion": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": 1_700_000_000_000_000_000,
    "deviceProperties": [{"id": 0, "name": "Neuron"}], "distributedInfo": {"rank": 1, "world_size": 2},
    "stackFrames": {"3": {"name": "main", "parent": 2}},
}  # fmt: skip
_TOKENS = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-0",
    b"9" * 400, b"18446744073709551616", b"-9223372036854775808", b"1e18", b"0.0000000000000001",
    b'"\\ud800"', b"\\u0000", b'"%b"' % (b"9" * 5000), b'"\xc2\xb2"', b'"--5"', b'"0x"', b"1e-400",
    b"\n", b"\n\t", b"V0101 00:00:00.000000 1 a.py:1] ", b"[[1,2,3,4]", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r\n",
    b'"ph":"B",', b'"ph":"E",', b'"id":{},', b'"args":[],',
    b'"ts":[[]],', b'"dur":-1,', b'"traceEvents":[', b'{"traceEvents":[]}', b"//", b"/*", b"'", b"[" * 3000,
    b'{"a":' * 3000, b'"' + b"n" * 200_000 + b'"',
)  # fmt: skip


def documents() -> list[bytes]:
    """Whole files to begin from."""
    events = ",\n".join(json.dumps(event) for event in _EVENTS)
    whole = json.dumps({**_AROUND, "traceEvents": _EVENTS})
    lines = "\n".join(json.dumps(event) for event in _EVENTS)
    return [whole.encode(), f"[{events}]".encode(), f"[{events},".encode(), lines.encode(), json.dumps([]).encode()]


def _flip(data: bytes, random_: random.Random, others: Sequence[bytes] = ()) -> bytes:
    out = bytearray(data)
    for _ in range(random_.randint(1, 4)):
        out[random_.randrange(len(out))] ^= 1 << random_.randrange(8)
    return bytes(out)


def _cut(data: bytes, random_: random.Random, others: Sequence[bytes] = ()) -> bytes:
    return data[: random_.randrange(len(data))]


def _remove(data: bytes, random_: random.Random, others: Sequence[bytes] = ()) -> bytes:
    first, last = _range(data, random_)
    return data[:first] + data[last:]


def _splice(data: bytes, random_: random.Random, others: Sequence[bytes]) -> bytes:
    other = random_.choice(others)
    return data[: random_.randrange(len(data))] + other[random_.randrange(len(other)) :]


def _repeat(data: bytes, random_: random.Random, others: Sequence[bytes] = ()) -> bytes:
    first, last = _range(data, random_)
    return data[:first] + data[first:last] * random_.choice([2, 3, 50]) + data[last:]


def _insert(data: bytes, random_: random.Random, others: Sequence[bytes] = ()) -> bytes:
    at = random_.randrange(len(data))
    return data[:at] + random_.choice(_TOKENS) + data[at:]


def _replace_value(data: bytes, random_: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """Put something else behind one of the colons."""
    colons = [at for at, byte in enumerate(data) if byte == ord(":")]
    if not colons:
        return data
    at = random_.choice(colons) + 1
    end = min((found for found in (data.find(b",", at), data.find(b"}", at)) if found >= 0), default=len(data))
    return data[:at] + random_.choice(_TOKENS) + data[end:]


def _range(data: bytes, random_: random.Random) -> tuple[int, int]:
    first = random_.randrange(len(data))
    return first, min(len(data), first + random_.choice([1, 10, 100, 1000]))


_CHANGES: tuple[Change, ...] = (_flip, _cut, _remove, _splice, _repeat, _insert, _replace_value, _replace_value)
_PACKINGS: tuple[Callable[[bytes], bytes], ...] = (
    bytes, bytes, bytes, gzip.compress, zstandard.ZstdCompressor(level=1).compress,
)  # fmt: skip


@st.composite
def damaged_documents(draw: st.DrawFn, files: Sequence[bytes]) -> bytes:
    """One of these files after up to six mishaps, packed or not, and perhaps damaged once more after packing."""
    random_ = random.Random(draw(st.integers(0, 2**32)))
    data = draw(st.sampled_from(files))
    for change in draw(st.lists(st.sampled_from(_CHANGES), max_size=6)):
        data = change(data, random_, files) or b" "
    packing = draw(st.sampled_from(_PACKINGS))
    data = packing(data)
    return _flip(data, random_) if packing is not bytes and draw(st.booleans()) else data
