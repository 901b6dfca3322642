"""Numbers as people read them, under the name that the app's pages and reporters use."""

from __future__ import annotations

from trace_format.number_text import (
    UNKNOWN,
    bandwidth,
    count,
    counted,
    duration,
    exact,
    flop_rate,
    flops,
    ratio,
    size,
    time_unit,
)

__all__ = [
    "UNKNOWN", "bandwidth", "count", "counted", "duration", "exact", "flop_rate", "flops", "ratio", "size", "time_unit",
]  # fmt: skip
