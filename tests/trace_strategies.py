"""Random traces that use every table, every column and every awkward value."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from trace_format import ImportReport, Table, Trace, TraceBuilder
from trace_format.columns import Column, Meaning
from trace_format.limits import LATEST_NS, LONGEST_NS
from trace_format.tables import BY_TRACK, TABLES, Extra

TIMES = st.integers(-LATEST_NS // 2, LATEST_NS // 2)
DURATIONS = st.one_of(st.integers(-1, 10_000), st.integers(0, LONGEST_NS))
TEXTS = st.text(st.characters(codec="utf-16"), max_size=8) | st.sampled_from(["", "aten::mm", "\ud800", "naïve\x00"])


def _values(
    column: Column, name: str, builder: TraceBuilder, sizes: dict[str, int], rows: int
) -> st.SearchStrategy[Any]:
    numbers: st.SearchStrategy[Any]
    if column.meaning is Meaning.TIME:
        numbers = TIMES
    elif column.meaning is Meaning.DURATION:
        numbers = DURATIONS
    elif column.meaning is Meaning.FLAG:
        numbers = st.booleans()
    elif column.meaning is Meaning.CHOICE:
        numbers = st.integers(0, len(column.choices) - 1)
    elif column.meaning is Meaning.ROW:
        lowest = 0 if column.dtype.kind == "u" else -1
        numbers = st.integers(lowest, max(sizes.get(column.references, 0) - 1, lowest))
    elif column.meaning is Meaning.STRING:
        numbers = TEXTS.map(builder.string)
    elif column.meaning is Meaning.STACK:
        numbers = st.lists(TEXTS, max_size=3).map(builder.pool.stack_id)
    elif column.meaning is Meaning.ARGS:
        numbers = st.sampled_from([b"", b"{}", b'{"a": 1}', b'{"Input Dims": [[1, 2], []]}']).map(
            builder.pool.arg_sets.id
        )
    elif column.dtype.kind == "f":
        numbers = st.floats(width=64)
    else:
        bounds = np.iinfo(column.dtype)
        numbers = st.integers(int(bounds.min), int(bounds.max)) | st.just(int(column.unknown))
    columns = st.lists(numbers, min_size=rows, max_size=rows)
    return columns | numbers.map(lambda value: [value] * rows)


@st.composite
def traces(draw: st.DrawFn, max_rows: int = 12) -> Trace:
    builder = TraceBuilder()
    builder.report = ImportReport(10)
    builder.report.left_out["something"] = draw(st.integers(0, 3))
    sizes = {name: draw(st.integers(0, max_rows)) for name in TABLES}
    sizes["tracks"] = max(sizes["tracks"], 1)
    for name, kind in TABLES.items():
        rows = sizes[name]
        columns = {
            column: draw(_values(spec, column, builder, sizes, rows))
            for column, spec in kind.COLUMNS.items()
            if not spec.derived and (spec.meaning is Meaning.TIME or draw(st.booleans()))
        }
        if name == "tracks" and "parent" in columns:  # never in a circle
            columns["parent"] = [min(parent, row - 1) for row, parent in enumerate(columns["parent"])]
        if rows:
            builder[name].append(rows, **columns)
    trace = builder.finish(metadata={"host": draw(TEXTS), "rank": 3, "sources": [{"clock": "unix"}]})
    tables: dict[str, Table] = dict(trace.tables())
    if sizes["counters"] and draw(st.booleans()):  # a table and a column that only a later version knows
        words = np.array(trace.pool.strings.ids([draw(TEXTS), "word"]), "<u4")
        carried = {"value": np.array([1, -5], "<i8"), "flag": np.array([True, False]), "word@text": words}
        tables["later_table"] = Extra(carried, trace.pool)
        counters = tables["counters"]
        grown = counters.stored() | {"error_bound": np.linspace(0, 1, len(counters))}
        tables["counters"] = type(counters)(grown, trace.pool)
    later = ((9, b"\x0a\x03abc"),) if draw(st.booleans()) else ()
    return Trace.of(trace.pool, tables, metadata=trace.metadata, report=trace.report, later_records=later)


def small_trace(rows_per_track: int = 40, tracks: int = 3) -> Trace:
    """A plain trace with slices, instants, counters and flows on a few tracks, for tests that damage files."""
    builder = TraceBuilder()
    process = builder.track("python", pid=7)
    lines = [builder.track(f"thread {i}", kind="host_thread", parent=process, tid=i) for i in range(tracks)]
    for line in lines:
        first = builder["slices"].append(
            ts_ns=np.arange(rows_per_track) * 100,
            dur_ns=np.full(rows_per_track, 60),
            track=line,
            name=[builder.string(f"op {i % 5}") for i in range(rows_per_track)],
            correlation=np.arange(rows_per_track) * 3,
            args=builder.pool.arg_sets.id(b'{"line": %d}' % line),
        )
        builder["instants"].append(ts_ns=np.arange(5) * 7, track=line, name=builder.string("mark"))
        builder["flows"].append(from_slice=first + np.arange(9), to_slice=first + np.arange(1, 10))
    counter = builder.track("bytes", kind="counter")
    builder["counters"].append(ts_ns=np.arange(8), track=counter, value=np.arange(8) / 2)
    rows = sum(builder[name].rows for name in BY_TRACK) + 2 * builder["flows"].rows
    builder.report = ImportReport(source_events=rows)
    return builder.finish(metadata={"host": "here"})
