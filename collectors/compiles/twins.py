"""Phases of torch.compile that are in a trace twice: as its log tells them, and as operators by torch.profiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from trace_format import Trace

# torch/_dynamo/utils.py, dynamo_timed: a phase is an operator by such a name where torch.profiler records
_TWIN = " (dynamo_timed)"
_CLOCKS_NS = 1_000_000  # the log tells microseconds of a clock of its own


def without_twins(trace: Trace) -> Trace:
    """The trace in which those operators are annotations that began in a compile that is there too: counted once.

    Nothing else is changed. What began outside of any is the only word of its compile and stays an operator.
    """
    from trace_format import CATEGORIES, Trace

    host_op, annotation = CATEGORIES.index("host_op"), CATEGORIES.index("annotation")
    names = [number for number, text in enumerate(trace.pool.strings.values) if text.endswith(_TWIN)]
    whole = trace.compiles.slice[trace.compiles.slice >= 0]
    if not names or not len(whole):
        return trace
    slices = trace.slices
    start, lasts = slices.ts_ns[whole], slices.dur_ns[whole]
    end = np.where(lasts >= 0, start + lasts, np.iinfo(np.int64).max - _CLOCKS_NS)
    rows = np.flatnonzero(np.isin(slices.name, names) & (slices.category == host_op))
    category = slices.category.copy()
    for row, ts_ns in zip(rows.tolist(), slices.ts_ns[rows].tolist(), strict=True):
        if bool(((ts_ns >= start - _CLOCKS_NS) & (ts_ns < end + _CLOCKS_NS)).any()):
            category[row] = annotation
    tables = {**trace.tables(), "slices": type(slices)({**slices.stored(), "category": category}, trace.pool)}
    return Trace.of(trace.pool, tables, metadata=trace.metadata, report=trace.report, later_records=trace.later_records)
