"""A part of a trace in time, as a trace of its own: every analysis of it is an analysis of that window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from neuron_profile.analysis.arguments import window
from neuron_profile.analysis.measured import WINDOW
from neuron_profile.analysis.steps.steps import step_marks
from trace_format import Trace
from trace_format.tables import TABLES, Table

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Cut:
    """What of a trace lies in a window.

    - `trace`: slices that reach over an edge are cut there; it keeps tracks, names and report, and has the window in
      its metadata (`window_ns`).
    - `slice_rows`: for each of its slices the row in the whole trace, shape `(n,) int64`.
    """

    trace: Trace
    slice_rows: Array


def cut(trace: Trace, start_ns: int, end_ns: int) -> Cut:
    """What of the trace lies in [start_ns, end_ns), nanoseconds on its clock.

    A slice that is cut keeps its share of bytes and FLOPs, rounded down, and loses its arguments; the sizes of a
    collective that is cut are unknown: a rate of what was seen in part would be wrong. The mark of a step that is cut
    is left out, so that steps are whole ones. A slice that did not finish belongs to its start. Of counters and of
    allocated memory the value that held at the start is there, too. Flows, collectives and compiles stay with their
    slices. Work that was launched outside the window is in it without the operator that launched it.

    Raises ValueError for an empty window, and for what is no whole number of nanoseconds.
    """
    start_ns, end_ns = window(start_ns, end_ns)
    rows, columns, is_cut = _slices(trace, start_ns, end_ns)
    moved = np.full(len(trace.slices) + 1, -1, np.int64)  # the last for -1
    moved[rows] = np.arange(len(rows))
    tables: dict[str, Table] = dict(trace.tables())
    tables["slices"] = type(trace.slices)(columns, trace.pool, rows=len(rows))
    for name in ("instants", "samples"):
        ts_ns = tables[name].ts_ns
        tables[name] = _part(tables[name], np.flatnonzero((ts_ns >= start_ns) & (ts_ns < end_ns)))
    tables["counters"] = _held(trace.counters, trace.counters.track, start_ns, end_ns)
    memory = trace.memory
    tables["memory"] = _held(memory, memory.device * len(trace.tracks) + memory.track, start_ns, end_ns)
    for name, kind in TABLES.items():
        referring = [c for c, spec in kind.COLUMNS.items() if spec.references == "slices" and not spec.derived]
        if referring and len(tables[name]):
            there = np.logical_and.reduce([moved[getattr(tables[name], c)] >= 0 for c in referring])
            kept = _part(tables[name], np.flatnonzero(there))
            tables[name] = _with(kept, {c: moved[getattr(kept, c)] for c in referring})
    collectives = tables["collectives"]
    if len(collectives):
        whole = ~is_cut[collectives.slice]
        sizes = {c: np.where(whole, getattr(collectives, c), -1) for c in ("in_bytes", "out_bytes")}
        tables["collectives"] = _with(collectives, sizes)
    return Cut(
        Trace.of(
            trace.pool, tables, metadata={**trace.metadata, WINDOW: [start_ns, end_ns]}, report=trace.report,
            later_records=trace.later_records,
        ),
        rows,
    )  # fmt: skip


def _slices(trace: Trace, start_ns: int, end_ns: int) -> tuple[Array, Mapping[str, Array], Array]:
    """The rows that have a part in the window, in the order of the new table, its columns, and which are cut."""
    slices = trace.slices
    ends = slices.ts_ns + np.maximum(slices.dur_ns, 0)
    inside = (slices.ts_ns >= start_ns) | (ends > start_ns)
    marks = step_marks(trace)
    inside[marks] = (slices.ts_ns[marks] >= start_ns) & (ends[marks] <= end_ns)
    rows = np.flatnonzero(inside & (slices.ts_ns < end_ns))
    rows = _longest_first(trace, rows, start_ns, end_ns)
    ts_ns, dur_ns = slices.ts_ns[rows], slices.dur_ns[rows]
    starts = np.maximum(ts_ns, start_ns)
    durations = np.where(dur_ns < 0, -1, np.minimum(ts_ns + dur_ns, end_ns) - starts)
    is_cut = durations != dur_ns
    columns = dict(slices.take(rows).stored())
    columns.update(ts_ns=starts, dur_ns=durations)
    if is_cut.any():
        share = durations[is_cut] / dur_ns[is_cut]
        columns["bytes"] = _share(columns["bytes"], is_cut, share)
        columns["flops"] = _share(columns["flops"], is_cut, share)
        columns["args"] = np.where(is_cut, 0, columns["args"])
        for name in ("ts_ps", "dur_ps"):
            columns[name] = np.where(is_cut & (columns[name] >= 0), 0, columns[name])
    return rows, columns, is_cut


def _longest_first(trace: Trace, rows: Array, start_ns: int, end_ns: int) -> Array:
    """The rows with those that begin together, at the window's start, put as a table of slices has them."""
    slices = trace.slices
    at = np.flatnonzero(slices.ts_ns[rows] <= start_ns)
    first = rows[at]
    ends = np.minimum(slices.ts_ns[first] + np.maximum(slices.dur_ns[first], 0), end_ns)
    places = np.argsort(slices.track[first], kind="stable")
    order = np.lexsort((-ends, slices.track[first]))
    out = rows.copy()
    out[at[places]] = first[order]
    return out


def _share(values: Array, is_cut: Array, share: Array) -> Array:
    """The values with those of cut slices reduced to their share; unknown ones stay so."""
    out = values.copy()
    whole = values[is_cut]
    part = np.floor(whole * share)
    out[is_cut] = np.where(whole >= 0, part, whole).astype(out.dtype)
    return out


def _held(table: Table, line: Array, start_ns: int, end_ns: int) -> Table:
    """The rows in the window, and at its start the last value before it of each line, which allocates nothing."""
    before = np.flatnonzero(table.ts_ns < start_ns)
    _, last = np.unique(line[before][::-1], return_index=True)  # the first of the reversed
    held = before[len(before) - 1 - last]
    inside = np.flatnonzero((table.ts_ns >= start_ns) & (table.ts_ns < end_ns))
    rows = np.sort(np.concatenate([held, inside]))
    part = _part(table, rows)
    columns = {"ts_ns": np.maximum(part.ts_ns, start_ns)}
    if "delta_bytes" in part:
        columns["delta_bytes"] = np.where(table.ts_ns[rows] < start_ns, 0, part.delta_bytes)
    return _with(part, columns)


def _part(table: Table, rows: Array) -> Table:
    return type(table)(table.take(rows).stored(), table.pool, rows=len(rows))


def _with(table: Table, columns: Mapping[str, Any]) -> Table:
    return type(table)({**table.stored(), **columns}, table.pool, rows=len(table))
