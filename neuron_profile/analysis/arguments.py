"""What callers give the analyses, looked at before it is used."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from trace_format import Trace

_LEAST_NS, _MOST_NS = -(1 << 63), (1 << 63) - 1  # what a column of times holds


def whole_number(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """The value as an int. Raises ValueError, which names the argument, where it is none or out of bounds."""
    bounds = f"from {least} up" if most is None else f"from {least} to {most}"
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number {bounds}, not {value!r}") from None
    if number < least or (most is not None and number > most):
        raise ValueError(f"{name} must be a whole number {bounds}, not {number}")
    return number


def top_rows(top: int | None) -> int | None:
    """How many rows are asked for, None for all. Raises ValueError for a number below 0 and for what is no number."""
    return None if top is None else whole_number("top", top, least=0)


def slice_row(trace: Trace, row: int) -> int:
    """The row of a slice. Raises ValueError where the trace has no such slice."""
    count = len(trace.slices)
    if not count:
        raise ValueError(f"row is {row!r}, but the trace has no slices")
    return whole_number("row", row, least=0, most=count - 1)


def window(start_ns: int, end_ns: int) -> tuple[int, int]:
    """The half-open window. Raises ValueError where it is empty and for what is no time in whole nanoseconds."""
    start, end = (
        whole_number(name, value, least=_LEAST_NS, most=_MOST_NS)
        for name, value in (("start_ns", start_ns), ("end_ns", end_ns))
    )
    if start >= end:
        raise ValueError(f"the window [{start}, {end}) is empty: its end must be later than its start")
    return start, end


def one_of(name: str, value: str, known: Sequence[str]) -> str:
    """The value. Raises ValueError, which lists what is possible, where it is none of `known`."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return value
