"""Decodes the text of trace events into columns."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Any

import msgspec
import numpy as np

from trace_format.importers.trace_event_json.repair import dumped
from trace_format.trace_events import NO_DURATION, NO_TIME, OUT_OF_RANGE, EventBatch

Array = np.ndarray

# A double is within half a nanosecond of a time written in microseconds while that is below this (102 days).
EXACT_BELOW_US = 2.0**43
_NS_PER_US = 1000
_LARGEST_US = (2**63 - 1) // _NS_PER_US
_ABSENT = msgspec.Raw(b"")


class _Event(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """An event as torch.profiler writes it. What else an event can have goes the slower way, see `from_object`."""

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
    """The same with its times as text: beyond `EXACT_BELOW_US` a double would round them."""

    ts: msgspec.Raw = _ABSENT  # type: ignore[assignment]
    dur: msgspec.Raw = _ABSENT  # type: ignore[assignment]


_EVENTS = msgspec.json.Decoder(list[_Event])
_ONE_EVENT = msgspec.json.Decoder(_TextEvent)
_TEXT_EVENTS = msgspec.json.Decoder(list[_TextEvent])
_KNOWN = set(_Event.__struct_fields__)


def decode_events(text: bytes) -> EventBatch:
    """The events of a JSON array as columns, times relative to the file's base.

    Raises msgspec.MsgspecError (or RecursionError) where the text is not an array of events of the usual form.
    """
    events: Sequence[_Event] = _EVENTS.decode(text)
    ts, dur = _times([e.ts for e in events]), _times([e.dur for e in events])
    if ts is None or dur is None:
        events = _TEXT_EVENTS.decode(text)
        ts = np.array([_exact_ns(bytes(e.ts)) for e in events], np.int64)
        dur = np.array([_exact_ns(bytes(e.dur)) for e in events], np.int64)
    return EventBatch(
        ph=[e.ph for e in events],
        name=[e.name for e in events],
        cat=[e.cat for e in events],
        ts_ns=ts,
        dur_ns=_durations(ts, dur),
        pid=[e.pid for e in events],
        tid=[e.tid for e in events],
        args=[bytes(e.args) for e in events],
        id=[e.id for e in events],
        bp=[e.bp for e in events],
        scope=[e.s for e in events],
    )


def batch_of(events: Sequence[dict[str, Any]]) -> EventBatch:
    """The events that `decode_event` and `usual_event` returned, as columns."""
    ts = np.array([_exact_ns(e["ts"]) for e in events], np.int64)
    dur = np.array([_exact_ns(e["dur"]) for e in events], np.int64)
    return EventBatch(
        ph=[e["ph"] for e in events],
        name=[e["name"] for e in events],
        cat=[e["cat"] for e in events],
        ts_ns=ts,
        dur_ns=_durations(ts, dur),
        pid=[e["pid"] for e in events],
        tid=[e["tid"] for e in events],
        args=[e["args"] for e in events],
        id=[e["id"] for e in events],
        bp=[e["bp"] for e in events],
        scope=[e["s"] for e in events],
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
    args = event.get("args")
    beside = {name: value for name, value in event.items() if name not in _KNOWN and name not in ("id2", "scope")}
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


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else dumped(value).decode()


def _key(value: Any) -> int | str:
    if isinstance(value, Decimal) and value == value.to_integral_value():
        value = int(value)
    return value if isinstance(value, int | str) and not isinstance(value, bool) else _text(value)


def _times(values: list[int | float | str]) -> Array | None:
    """Microseconds as nanoseconds, `NO_TIME` for NaN; None where they must be read as text to be exact."""
    if not values:
        return np.zeros(0, np.int64)
    given = np.array(values)
    if given.dtype.kind == "i" and np.abs(given).max() <= _LARGEST_US:
        return given * _NS_PER_US
    if given.dtype.kind != "f":
        return None
    absent = np.isnan(given)
    if not (absent | (np.abs(given) < EXACT_BELOW_US)).all():
        return None
    whole = np.floor(np.where(absent, 0.0, given))
    part = np.where(absent, 0.0, given) - whole  # apart, since whole * 1000 would be rounded before it is added
    out = whole.astype(np.int64) * _NS_PER_US + np.rint(part * _NS_PER_US).astype(np.int64)
    out[absent] = NO_TIME
    return out


def _exact_ns(value: Any) -> int:
    """Microseconds, as JSON text or a decoded value, as nanoseconds; else `NO_TIME` or `OUT_OF_RANGE`."""
    if isinstance(value, bytes):
        value = value.strip(b'" \t\r\n').decode("ascii", "replace")
    if value is None or value in ("", "null") or isinstance(value, bool | list | dict):
        return NO_TIME
    try:
        exact = (Decimal(value) * _NS_PER_US).to_integral_value(ROUND_HALF_EVEN)
    except InvalidOperation:
        return NO_TIME
    if not exact.is_finite():
        return NO_TIME
    return int(exact) if NO_TIME < exact < OUT_OF_RANGE else OUT_OF_RANGE


def _durations(ts: Array, dur: Array) -> Array:
    """Durations as `EventBatch` has them. One that ends at time zero was never ended: it did not finish."""
    absent = dur == NO_TIME
    never_ended = (dur < 0) & (ts == np.where(absent, 1, -dur))
    negative = (dur < 0) & ~absent & ~never_ended
    out = np.where(absent | never_ended, NO_DURATION, dur)
    return np.where(negative, np.minimum(dur, NO_DURATION - 1), out)
