"""Times of trace events, microseconds as JSON writes them, as whole nanoseconds."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation, Overflow
from typing import Any

import numpy as np

from trace_format.trace_events import NO_DURATION, NO_TIME, OUT_OF_RANGE

Array = np.ndarray

# A double is within half a nanosecond of a time written in microseconds while that is below this (102 days).
EXACT_BELOW_US = 2.0**43
NS_PER_US = 1000
_LARGEST_US = (2**63 - 1) // NS_PER_US


def times(values: list[int | float | str]) -> Array | None:
    """Microseconds as nanoseconds, `NO_TIME` for NaN; None where they must be read as text to be exact."""
    if not values:
        return np.zeros(0, np.int64)
    given = np.array(values)
    if given.dtype.kind == "i" and np.abs(given).max() <= _LARGEST_US:
        return given * NS_PER_US
    if given.dtype.kind != "f":
        return None
    absent = np.isnan(given)
    if not (absent | (np.abs(given) < EXACT_BELOW_US)).all():
        return None
    whole = np.floor(np.where(absent, 0.0, given))
    part = np.where(absent, 0.0, given) - whole  # apart, since whole * 1000 would be rounded before it is added
    out = whole.astype(np.int64) * NS_PER_US + np.rint(part * NS_PER_US).astype(np.int64)
    out[absent] = NO_TIME
    return out


def exact_ns(value: Any) -> int:
    """Microseconds, as JSON text or a decoded value, as nanoseconds; else `NO_TIME` or `OUT_OF_RANGE`."""
    if isinstance(value, bytes):
        value = value.strip(b'" \t\r\n').decode("ascii", "replace")
    if value is None or value in ("", "null") or isinstance(value, bool | list | dict):
        return NO_TIME
    try:
        exact = (Decimal(value) * NS_PER_US).to_integral_value(ROUND_HALF_EVEN)
    except InvalidOperation:
        return NO_TIME
    except Overflow:
        return OUT_OF_RANGE
    if not exact.is_finite():
        return NO_TIME
    return int(exact) if NO_TIME < exact < OUT_OF_RANGE else OUT_OF_RANGE


def durations(ts: Array, dur: Array) -> Array:
    """Durations as `EventBatch` has them. One that ends at time zero was never ended: it did not finish."""
    absent = dur == NO_TIME
    never_ended = (dur < 0) & (ts == np.where(absent, 1, -dur))
    negative = (dur < 0) & ~absent & ~never_ended
    out = np.where(absent | never_ended, NO_DURATION, dur)
    return np.where(negative, np.minimum(dur, NO_DURATION - 1), out)
