"""A trace without its Python frames, which are most of a trace that was recorded with stacks."""

from __future__ import annotations

import numpy as np

from trace_format.tables import BY_TRACK, CATEGORIES, TABLES
from trace_format.trace import Trace

_PYTHON = CATEGORIES.index("python")
LEFT_OUT = "Python frame left out as asked"


def without_python(trace: Trace) -> Trace:
    """The trace without the slices of Python frames and with them counted as left out; what refers to one, to none.

    Stacks that other slices carry stay. A trace without Python frames comes back as it is.
    """
    kept = np.flatnonzero(trace.slices.category != _PYTHON)
    gone = len(trace.slices) - len(kept)
    if not gone:
        return trace
    moved = np.full(len(trace.slices) + 1, -1, np.int64)  # the last for -1
    moved[kept] = np.arange(len(kept))
    tables = dict(trace.tables())
    tables["slices"] = type(trace.slices)(trace.slices.take(kept).stored(), trace.pool, rows=len(kept))
    for name, kind in TABLES.items():
        referring = [c for c, spec in kind.COLUMNS.items() if spec.references == BY_TRACK[0] and not spec.derived]
        if referring and len(tables[name]):
            columns = {**tables[name].stored(), **{c: moved[getattr(tables[name], c)] for c in referring}}
            tables[name] = kind(columns, trace.pool)
    report = trace.report.copy()
    report.left_out[LEFT_OUT] += gone
    return Trace.of(trace.pool, tables, metadata=trace.metadata, report=report, later_records=trace.later_records)
