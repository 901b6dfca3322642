"""Decodes the text of trace events into columns."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import msgspec
import numpy as np

from trace_format.importers.trace_event_json.loose import decode_loosely
from trace_format.importers.trace_event_json.repair import dumped
from trace_format.importers.trace_event_json.times import durations, exact_ns, times
from trace_format.trace_events import NO_TIME, OUT_OF_RANGE, Arrow, EventBatch

Array = np.ndarray

_ABSENT = msgspec.Raw(b"")
_MOST_DIGITS = 309  # of a float64; a number may state an exponent that no memory holds
_BESIDE = ("id2", "scope", "bind_id", "flow_in", "flow_out")  # fields that are neither usual nor arguments


class _Event(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """An event as torch.profiler writes it. What else an event can have goes the slower way, see `decode_loosely`."""

    ph: str = ""
    name: str = ""
    cat: str = ""
    pid: int | str = 0
    tid: int | str = 0
    ts: int | float | str = float("nan")
    dur: int | float | str = float("nan")
    args: msgspec.Raw = _ABSENT
    id: int | str | None = None
    bp: str = ""
    s: str = ""


class _TextEvent(_Event, gc=False, forbid_unknown_fields=True):
    """The same with its times as text: where they are large a double would round them."""

    ts: msgspec.Raw = _ABSENT  # type: ignore[assignment]
    dur: msgspec.Raw = _ABSENT  # type: ignore[assignment]


_EVENTS = msgspec.json.Decoder(list[_Event])
_ONE_EVENT = msgspec.json.Decoder(_TextEvent)
_TEXT_EVENTS = msgspec.json.Decoder(list[_TextEvent])
_KNOWN = {*_Event.__struct_fields__, *_BESIDE}


def decode_events(text: bytes) -> EventBatch:
    """The events of a JSON array as columns, times relative to the file's base.

    Raises msgspec.MsgspecError (or RecursionError) where the text is not an array of events.
    """
    try:
        events: Sequence[_Event] = _EVENTS.decode(text)
    except msgspec.ValidationError:
        return decode_loosely(text)
    ts, dur = times([e.ts for e in events]), times([e.dur for e in events])
    if ts is None or dur is None:
        events = _TEXT_EVENTS.decode(text)
        ts = np.array([exact_ns(bytes(e.ts)) for e in events], np.int64)
        dur = np.array([exact_ns(bytes(e.dur)) for e in events], np.int64)
    return EventBatch(
        ph=[e.ph for e in events],
        name=[e.name for e in events],
        cat=[e.cat for e in events],
        ts_ns=ts,
        dur_ns=durations(ts, dur),
        pid=[e.pid for e in events],
        tid=[e.tid for e in events],
        args=[bytes(e.args) for e in events],
        id=[e.id for e in events],
        bp=[e.bp for e in events],
        scope=[e.s for e in events],
    )


def batch_of(events: Sequence[dict[str, Any]]) -> EventBatch:
    """The events that `decode_event` and `usual_event` returned, as columns."""
    ts = np.array([exact_ns(e["ts"]) for e in events], np.int64)
    dur = np.array([exact_ns(e["dur"]) for e in events], np.int64)
    return EventBatch(
        ph=[e["ph"] for e in events],
        name=[e["name"] for e in events],
        cat=[e["cat"] for e in events],
        ts_ns=ts,
        dur_ns=durations(ts, dur),
        pid=[e["pid"] for e in events],
        tid=[e["tid"] for e in events],
        args=[e["args"] for e in events],
        id=[e["id"] for e in events],
        bp=[e["bp"] for e in events],
        scope=[e["s"] for e in events],
        arrows=[e.get("arrow") for e in events],
    )


def decode_event(text: bytes) -> dict[str, Any]:
    """One event by its fields. Raises msgspec.MsgspecError where it is not of the usual form."""
    event = msgspec.structs.asdict(_ONE_EVENT.decode(text))
    for name in ("ts", "dur", "args"):
        event[name] = bytes(event[name])
    return event


def usual_event(value: Any, args_as_written: bytes | None) -> dict[str, Any]:
    """The same for an event of unusual form, given as a decoded JSON value (fractions as Decimal).

    Fields beside the usual ones go among its arguments. `args_as_written` is the text of the arguments where that
    needed no mending.
    """
    event = value if isinstance(value, dict) else {}
    out: dict[str, Any] = {name: _text(event.get(name)) for name in ("ph", "name", "cat", "bp", "s")}
    out |= {name: _key(event.get(name, 0)) for name in ("pid", "tid")}
    out |= {name: event.get(name) for name in ("ts", "dur")}
    identity = event.get("id")
    nested = event.get("id2")
    if identity is None and isinstance(nested, dict) and nested:
        scope, value = next(iter(nested.items()))
        identity = f"{scope}:{value}"
    elif "scope" in event and identity is not None:
        identity = f"{event['scope']}:{identity}"
    out["id"] = None if identity is None else _key(identity)
    if event.get("bind_id") is not None:
        out["arrow"] = Arrow(_key(event["bind_id"]), bool(event.get("flow_in")), bool(event.get("flow_out")))
    args = event.get("args")
    beside = {name: value for name, value in event.items() if name not in _KNOWN}
    if beside:
        whole = dict(args) if isinstance(args, dict) else {} if args is None else {"args": args}
        for name, value in beside.items():
            whole.setdefault(name, value)
        args = whole
    if beside or args_as_written is None:
        out["args"] = b"" if args is None else dumped(args)
    else:
        out["args"] = args_as_written
    return out


def has_a_place(event: dict[str, Any]) -> bool:
    """Whether an event that `usual_event` returned has a phase, and a time if it is of a kind that needs one."""
    return bool(event["ph"]) and (event["ph"] == "M" or exact_ns(event["ts"]) not in (NO_TIME, OUT_OF_RANGE))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else dumped(value).decode()


def _key(value: Any) -> int | str:
    if isinstance(value, Decimal) and value.adjusted() < _MOST_DIGITS and value == value.to_integral_value():
        value = int(value)
    return value if isinstance(value, int | str) and not isinstance(value, bool) else _text(value)
