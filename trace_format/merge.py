"""Several traces of one job become one."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Any

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.columns import Meaning, constant_column, is_constant
from trace_format.errors import NeuronProfileError
from trace_format.instance_id import without_instance_ids
from trace_format.pool import Pool
from trace_format.tables import TABLES, TEXT_SUFFIX, Table
from trace_format.trace import Trace

_CLOCK = "unix"  # the only one that processes share


class MergeError(NeuronProfileError):
    """Traces that are not the ranks of one job, or whose times cannot be related."""


def merge_ranks(traces: Sequence[Trace], names: Sequence[str]) -> Trace:
    """One trace with all tables of `traces`, told apart by `tracks.rank`; `names` say in errors which is which.

    Ranks are those the traces state; where none states one, they are numbered in the order given. The traces
    stay as they are. `metadata["ranks"]` says of each rank which host, process and source it was.
    Source ids (correlation, External id, flow ids) are each rank's own: join on them only within a rank.

    Raises MergeError for no traces, for clocks that cannot be related, for two traces of one rank, and for
    traces that do not overlap in time: windows or runs, or ranks of which nothing can be seen side by side.
    """
    _check_clocks(traces, names)
    ranks, stated = _ranks(traces, names)
    _check_times(traces, names, stated=stated)
    builder = TraceBuilder()
    for trace, rank in zip(traces, ranks, strict=True):
        append_trace(builder, trace, {"tracks": {"rank": rank}})
    first = traces[0].metadata
    sources = [
        {**source, "rank": rank}
        for trace, rank in zip(traces, ranks, strict=True)
        for source in trace.metadata.get("sources", [])
    ]
    by_rank = [
        {
            "rank": rank,
            "name": without_instance_ids(str(PurePath(*PurePath(name).parts[-2:]))),
            "host": trace.metadata.get("host"),
            "pid": trace.metadata.get("pid"),
        }
        for trace, rank, name in zip(traces, ranks, names, strict=True)
    ]
    return builder.finish(
        metadata={
            **{key: value for key, value in first.items() if all(t.metadata.get(key) == value for t in traces)},
            "ranks": by_rank,
            "ranks_stated": stated,
            "world_size": first.get("world_size"),
            "sources": sources,
        }
    )


def append_trace(builder: TraceBuilder, trace: Trace, instead: Mapping[str, Mapping[str, Any]]) -> None:
    """Append every table of `trace` to `builder` with all ids translated, and add its report.

    `instead[table][column]` are values to put in place of the trace's own: a column, or one value for all rows.
    What the builder has no place for (columns of a later version) is counted.
    """
    report = builder.report
    report.source_events += trace.report.source_events
    report.left_out.update(trace.report.left_out)
    report.repaired.update(trace.report.repaired)
    translation = _Translation(builder.pool, {name: builder[name].rows for name in TABLES}, trace)
    for name, kind in TABLES.items():
        table: Table = getattr(trace, name)
        columns = {c: translation.column(table, c) for c in table.stored() if c in kind.COLUMNS}
        if len(table):
            builder[name].append(len(table), **{**columns, **instead.get(name, {})})
        for unknown in table.stored().keys() - kind.COLUMNS.keys():
            report.repaired[f"column {name}.{unknown} of a later version left out"] += len(table)
    for name, extra in trace.extra.items():
        builder.carry(name, translation.carried(extra), rows=len(extra))


def with_tracks_of(trace: Trace, added: Trace, instead: Mapping[str, Mapping[str, Any]]) -> Trace:
    """`trace` with every track of `added` and what is on it; metadata and report are those of the trace.

    Rows of `added` come behind those of the trace, and its own row numbers are moved along; `instead[table][column]`
    are values to put in place of them as they are. Nothing is put in order anew, as no track is in both.
    """
    translation = _Translation(trace.pool, {name: len(getattr(trace, name)) for name in TABLES}, added)
    report = copy.deepcopy(trace.report)
    tables: dict[str, Table] = dict(trace.tables())
    for name, kind in TABLES.items():
        table, more = getattr(trace, name), getattr(added, name)
        if len(more):
            columns = {
                column: _appended(
                    getattr(table, column),
                    instead.get(name, {}).get(column, translation.column(more, column)),
                    len(more),
                )
                for column in table.stored().keys() & more.stored().keys()
            }
            for unknown in table.stored().keys() - kind.COLUMNS.keys():
                report.repaired[f"column {name}.{unknown} of a later version left out"] += len(table)
            tables[name] = kind(columns, trace.pool, rows=len(table) + len(more))
    return Trace.of(trace.pool, tables, metadata=trace.metadata, report=report, later_records=trace.later_records)


def _appended(column: np.ndarray, more: Any, rows: int) -> np.ndarray:
    """A column with `rows` values behind it, given as a column or as one value for all."""
    more = np.asarray(more, column.dtype)
    if not more.ndim and (not len(column) or (is_constant(column) and _same(column[0], more[()]))):
        return constant_column(more, len(column) + rows, column.dtype)
    return np.concatenate([column, np.broadcast_to(more, (rows,))])


def _same(one: Any, other: Any) -> bool:
    return bool(one == other or (one != one and other != other))


class _Translation:
    """What the ids of a trace are in a pool and tables that its rows are put behind."""

    def __init__(self, target: Pool, first_row: Mapping[str, int], trace: Trace) -> None:
        pool = trace.pool
        strings = target.strings.ids(pool.strings.values)
        stacks = target.stacks.ids([tuple(strings[frame] for frame in stack) for stack in pool.stacks.values])
        self._ids = {
            Meaning.STRING: np.array(strings, np.int64),
            Meaning.STACK: np.array(stacks, np.int64),
            Meaning.ARGS: np.array(target.arg_sets.ids(pool.arg_sets.values), np.int64),
        }
        self._first_row = first_row

    def carried(self, table: Table) -> dict[str, Any]:
        """The columns of a table without a schema, as `TraceBuilder.carry` takes them."""
        return {
            name.removesuffix(TEXT_SUFFIX): table.text(name) if table.column(name) else values
            for name, values in table.stored().items()
        }

    def column(self, table: Table, name: str) -> Any:
        """A column of the trace as the builder takes it: one value where it is one value repeated."""
        values, spec = getattr(table, name), table.COLUMNS[name]
        constant = is_constant(values)
        values = values[:1] if constant else values
        if spec.meaning in self._ids:
            values = self._ids[spec.meaning][values]
        elif spec.meaning is Meaning.ROW:
            first = self._first_row[spec.references]
            values = np.where(values < 0, -1, values.astype(np.int64) + first)
        return values[0] if constant else values


def _check_clocks(traces: Sequence[Trace], names: Sequence[str]) -> None:
    if not traces:
        raise MergeError("no traces to open; name at least one file")
    for trace, name in zip(traces, names, strict=True):
        sources = trace.metadata.get("sources", [])
        # what was moved to another's clock is where it is, and a source without times (clock None) has none
        clocks = {s.get("clock") for s in sources if "moved_by_ns" not in s and s.get("clock", "") is not None}
        if not sources or clocks - {_CLOCK}:
            found = ", ".join(sorted(str(clock) for clock in clocks)) or "unknown"
            raise MergeError(
                f"{name}: its times are on the clock {found!r}, not on the unix clock that ranks share; open it alone"
            )


def _check_times(traces: Sequence[Trace], names: Sequence[str], *, stated: bool) -> None:
    spans = sorted((*span, name) for t, name in zip(traces, names, strict=True) if (span := t.time_range_ns))
    end = spans[0][1] if spans else 0
    for (_, _, before), (start, stop, name) in pairwise(spans):
        if start > end:
            what = (
                "the windows of these ranks do not overlap, so nothing can be told of them together"
                if stated
                else "these are windows or runs, not the ranks of one job"
            )
            raise MergeError(
                f"{name} begins after {before} has ended: {what}; open one of them, or compare two with: "
                "neuron-explorer diff A B"
            )
        end = max(end, stop)


def _ranks(traces: Sequence[Trace], names: Sequence[str]) -> tuple[list[int], bool]:
    """The rank of each trace, and whether the traces themselves state them."""
    stated = [trace.metadata.get("rank") for trace in traces]
    if all(rank is None for rank in stated):
        return list(range(len(traces))), False
    seen: dict[int, str] = {}
    for rank, name in zip(stated, names, strict=True):
        if rank is None:
            raise MergeError(f"{name}: does not say which rank it is, and the others do; open it alone")
        if rank in seen:
            raise MergeError(f"{name} and {seen[rank]} both say they are rank {rank}; open one of them")
        seen[rank] = name
    return [int(rank) for rank in stated if rank is not None], True
