"""Builds a trace from columns that arrive in chunks, in any order."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from trace_format.columns import Meaning, constant_column, is_constant
from trace_format.pool import Pool
from trace_format.report import ImportReport
from trace_format.tables import BY_TRACK, TABLES, TRACK_KINDS, Table
from trace_format.trace import Trace

Array = np.ndarray


class TableBuilder:
    """Collects rows of one table, chunk by chunk."""

    def __init__(self, kind: type[Table]) -> None:
        self.kind = kind
        self.rows = 0
        self._chunks: list[tuple[int, dict[str, Array]]] = []

    def append(self, rows: int | None = None, **columns: Any) -> int:
        """Add rows given as columns: arrays or lists `(n,)`, or one value for all rows. Returns the first new row.

        A column left out is unknown in these rows. `rows` is needed only where every column is one value.
        Raises ValueError for a column the table does not have or columns of unequal length.
        """
        specs = self.kind.COLUMNS
        chunk: dict[str, Array] = {}
        for name, given in columns.items():
            if name not in specs or specs[name].derived:
                raise ValueError(f"table {self.kind.NAME!r} has no column {name!r} to fill")
            values = np.asarray(given, dtype=specs[name].dtype)
            if values.ndim:
                if rows is not None and len(values) != rows:
                    raise ValueError(f"column {name!r} of {self.kind.NAME!r} has {len(values)} rows, not {rows}")
                rows = len(values)
            chunk[name] = values
        if rows is None:
            rows = 1
        first, self.rows = self.rows, self.rows + rows
        if rows:
            self._chunks.append((rows, chunk))
        return first

    def cut(self, rows: int) -> None:
        """Forget what was appended since there were this many rows."""
        while self.rows > rows:
            self.rows -= self._chunks.pop()[0]

    def columns(self) -> dict[str, Array]:
        """The collected columns, without those unknown in every row."""
        used = {name for _, chunk in self._chunks for name in chunk}
        out: dict[str, Array] = {}
        for name in (n for n in self.kind.COLUMNS if n in used):
            spec = self.kind.COLUMNS[name]
            given = [chunk.get(name) for _, chunk in self._chunks]
            values = {v[()].tobytes() if v is not None and not v.ndim else None for v in given}
            if None not in values and len(values) == 1 and given[0] is not None:
                out[name] = constant_column(given[0], self.rows, spec.dtype)
                continue
            whole = np.empty(self.rows, spec.dtype)
            at = 0
            for (rows, _), part in zip(self._chunks, given, strict=True):
                whole[at : at + rows] = spec.unknown if part is None else part
                at += rows
            out[name] = whole
        return out


class TraceBuilder:
    """Collects the tables of one trace; `finish` puts them in order and returns the trace.

    Row numbers given to columns that refer to slices (flows, collectives, compiles) are the numbers
    `builder["slices"].append` returned; `finish` translates them. The same holds for every table by track.
    """

    def __init__(self) -> None:
        self.pool = Pool()
        self.report = ImportReport()
        self.metadata: dict[str, Any] = {}
        self._tables = {name: TableBuilder(kind) for name, kind in TABLES.items()}

    def __getitem__(self, table: str) -> TableBuilder:
        return self._tables[table]

    def string(self, text: str) -> int:
        return self.pool.strings.id(text)

    def track(
        self, name: str, *, kind: str = "other", parent: int = -1, host: str = "", engine: str = "", unit: str = "",
        source_pid: str = "", source_tid: str = "", **numbers: int,
    ) -> int:  # fmt: skip
        """Add a track and return its row. `numbers`: rank, pid, tid, device, core, simulated, sort_index."""
        text = {
            "name": name, "host": host, "engine": engine, "unit": unit,
            "source_pid": source_pid, "source_tid": source_tid,
        }  # fmt: skip
        strings = {column: self.string(value) for column, value in text.items() if value}
        return self["tracks"].append(1, kind=TRACK_KINDS.index(kind), parent=parent, **strings, **numbers)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Where the body raises, the rows, the report and the metadata are as they were before; the error goes on."""
        rows = {name: table.rows for name, table in self._tables.items()}
        report, metadata = copy.deepcopy(self.report), copy.deepcopy(self.metadata)
        try:
            yield
        except BaseException:
            for name, table in self._tables.items():
                table.cut(rows[name])
            self.report, self.metadata = report, metadata
            raise

    def finish(self, *, metadata: Mapping[str, Any] | None = None) -> Trace:
        """The trace. Slices, instants and counters are ordered by track, then time, then longer first;
        memory and samples by time; equal rows keep the order in which they came."""
        columns = {name: builder.columns() for name, builder in self._tables.items()}
        moved: dict[str, Array] = {}
        for name in (*BY_TRACK, "memory", "samples"):
            order = _order(name, columns[name])
            if order is not None:
                columns[name] = {k: v if is_constant(v) else v[order] for k, v in columns[name].items()}
                moved[name] = np.empty(len(order), np.int64)
                moved[name][order] = np.arange(len(order))
        tables: dict[str, Table] = {}
        for name, kind in TABLES.items():
            for column, spec in kind.COLUMNS.items():
                if spec.meaning is Meaning.ROW and spec.references in moved and column in columns[name]:
                    rows = columns[name][column]
                    columns[name][column] = np.where(rows >= 0, moved[spec.references][rows], -1)
            tables[name] = kind(columns[name], self.pool, rows=self._tables[name].rows)
        return Trace.of(self.pool, tables, metadata={**self.metadata, **(metadata or {})}, report=self.report)


def _order(table: str, columns: Mapping[str, Array]) -> Array | None:
    """The row order of a table, None where the rows are in it already or the table is empty."""
    if "ts_ns" not in columns:
        return None
    ts = columns["ts_ns"]
    keys = [ts]
    if table == "slices":
        dur = columns.get("dur_ns")
        if dur is None:
            dur = constant_column(-1, len(ts), ts.dtype)
        keys.insert(0, np.where(dur < 0, np.iinfo(np.int64).min, -dur))
    if table in BY_TRACK and "track" in columns:
        keys.append(columns["track"])
    if _sorted_by(keys):
        return None
    return np.lexsort(keys)


def _sorted_by(keys: list[Array]) -> bool:
    """Whether rows are in lexicographic order of the keys, the last one first (as numpy.lexsort has it)."""
    equal = np.ones(max(len(keys[0]) - 1, 0), bool)
    for key in reversed(keys):
        before, after = key[:-1], key[1:]
        if bool((equal & (after < before)).any()):
            return False
        equal &= after == before
    return True
