"""Decodes events that have more than the usual fields, or values of another type in them (Chrome, viztracer)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np

from trace_format.importers.trace_event_json.times import durations, exact_ns, times
from trace_format.trace_events import Arrow, EventBatch

Key = int | str
_Scalar = str | int | float | bool | None
_ABSENT = msgspec.Raw(b"")


class _LooseEvent(msgspec.Struct, gc=False):
    """What an event can say beside its arguments; other fields are taken from the text a second time."""

    ph: _Scalar = None
    name: _Scalar = None
    cat: _Scalar = None
    pid: _Scalar = 0
    tid: _Scalar = 0
    ts: _Scalar = None
    dur: _Scalar = None
    args: msgspec.Raw = _ABSENT
    id: _Scalar = None
    bp: _Scalar = None
    s: _Scalar = None
    id2: dict[str, _Scalar] | None = None
    scope: _Scalar = None
    bind_id: _Scalar = None
    flow_in: _Scalar = None
    flow_out: _Scalar = None
    traceEvents: msgspec.Raw | None = None  # noqa: N815


class _Times(msgspec.Struct, gc=False):
    """The times as text, for those a double would round."""

    ts: msgspec.Raw = _ABSENT
    dur: msgspec.Raw = _ABSENT


_EVENTS = msgspec.json.Decoder(list[_LooseEvent])
_TIMES = msgspec.json.Decoder(list[_Times])
_FIELDS = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])
_KNOWN = frozenset(_LooseEvent.__struct_fields__)


def decode_loosely(text: bytes) -> EventBatch:
    """The events of a JSON array as columns; fields beside the usual ones go among the arguments.

    Raises msgspec.MsgspecError (or RecursionError) where the text is not an array of objects whose own fields are
    text, numbers or null, or where one of them is a document of its own.
    """
    events: Sequence[_LooseEvent] = _EVENTS.decode(text)
    if any(e.traceEvents is not None for e in events):
        raise msgspec.ValidationError("a whole document among the events")
    ts, dur = _times([e.ts for e in events]), _times([e.dur for e in events])
    if ts is None or dur is None:
        written = _TIMES.decode(text)
        ts = np.array([exact_ns(bytes(e.ts)) for e in written], np.int64)
        dur = np.array([exact_ns(bytes(e.dur)) for e in written], np.int64)
    return EventBatch(
        ph=[_text(e.ph) for e in events],
        name=[_text(e.name) for e in events],
        cat=[_text(e.cat) for e in events],
        ts_ns=ts,
        dur_ns=durations(ts, dur),
        pid=[_key(e.pid) for e in events],
        tid=[_key(e.tid) for e in events],
        args=[_with_fields(bytes(e.args), fields) for e, fields in zip(events, _FIELDS.decode(text), strict=True)],
        id=[_identity(e) for e in events],
        bp=[_text(e.bp) for e in events],
        scope=[_text(e.s) for e in events],
        arrows=[None if e.bind_id is None else _arrow(e) for e in events],
    )


def _times(values: list[_Scalar]) -> np.ndarray | None:
    return times([float("nan") if value is None or value.__class__ is bool else value for value in values])


def _text(value: _Scalar) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else msgspec.json.encode(value).decode()


def _key(value: _Scalar) -> Key:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return _text(value)


def _identity(event: _LooseEvent) -> Key | None:
    """What tells flows and async events apart; the scope of an id is a part of it."""
    if event.id is None:
        if event.id2:
            scope, value = next(iter(event.id2.items()))
            return f"{scope}:{_text(value)}"
        return None
    return _key(event.id) if event.scope is None else f"{_text(event.scope)}:{_text(event.id)}"


def _arrow(event: _LooseEvent) -> Arrow:
    return Arrow(_key(event.bind_id), bool(event.flow_in), bool(event.flow_out))


def _with_fields(args: bytes, fields: dict[str, msgspec.Raw]) -> bytes:
    """The arguments with those of the fields that are not usual; an argument goes before a field of its name."""
    names = [name for name in fields if name not in _KNOWN]
    if not names:
        return args
    inner = args.strip()
    if inner in (b"", b"null"):
        inner = b"{}"
    elif inner[:1] != b"{":
        inner = b'{"args":%s}' % inner
    quoted = [_quoted(name) for name in names]
    if any(name in inner for name in quoted):
        said = msgspec.json.decode(inner, type=dict[str, msgspec.Raw])
        names = [name for name in names if name not in said]
        quoted = [_quoted(name) for name in names]
    members = [b"%s:%s" % (key, bytes(fields[name])) for key, name in zip(quoted, names, strict=True)]
    body = inner[1:-1].strip()
    return b"{%s}" % b",".join([body, *members] if body else members)


@lru_cache(maxsize=4096)
def _quoted(name: str) -> bytes:
    return msgspec.json.encode(name)
