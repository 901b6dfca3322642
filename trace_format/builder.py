"""Builds a trace from columns that arrive in chunks, in any order."""

from __future__ import annotations

import copy
import logging
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from trace_format.columns import Meaning, constant_column, is_constant
from trace_format.errors import NeuronProfileError
from trace_format.pool import Pool
from trace_format.report import ImportReport
from trace_format.row_order import order_in_pieces, order_of_rows
from trace_format.spill import Spill, Stored, release
from trace_format.tables import BY_TRACK, TABLES, TEXT_SUFFIX, TRACK_KINDS, Extra, Table
from trace_format.trace import Trace

Array = np.ndarray


_log = logging.getLogger(__name__)

# Rows of all tables beyond this many bytes wait in a file.
_MOST_IN_MEMORY_BYTES = 128 << 20
_ROWS_AT_A_TIME = 1 << 20
_REFERRED_TO = {spec.references for kind in TABLES.values() for spec in kind.COLUMNS.values()}
_Chunks = list[tuple[int, dict[str, Array | Stored]]]


class TooManyRowsError(NeuronProfileError):
    """A builder was given more rows than it takes."""


class TableBuilder:
    """Collects rows of one table, chunk by chunk. `grown` is told the rows and the bytes of each chunk."""

    def __init__(self, kind: type[Table], grown: Callable[[int, int], None]) -> None:
        self.kind = kind
        self.rows = 0
        self._grown = grown
        self._chunks: _Chunks = []
        self._spilled = 0  # so many chunks, the first ones, lie in a file

    def append(self, rows: int | None = None, **columns: Any) -> int:
        """Add rows given as columns: arrays or lists `(n,)`, or one value for all rows. Returns the first new row.

        A column left out is unknown in these rows. `rows` is needed only where every column is one value.
        Raises ValueError for a column the table does not have or columns of unequal length.
        """
        specs = self.kind.COLUMNS
        chunk: dict[str, Array | Stored] = {}
        size = 0
        for name, given in columns.items():
            if name not in specs or specs[name].derived:
                raise ValueError(f"table {self.kind.NAME!r} has no column {name!r} to fill")
            values = np.asarray(given, dtype=specs[name].dtype)
            if values.ndim:
                if rows is not None and len(values) != rows:
                    raise ValueError(f"column {name!r} of {self.kind.NAME!r} has {len(values)} rows, not {rows}")
                rows = len(values)
                size += values.nbytes
            chunk[name] = values
        if rows is None:
            rows = 1
        first, self.rows = self.rows, self.rows + rows
        if rows:
            self._chunks.append((rows, chunk))
            self._grown(rows, size)
        return first

    def cut(self, rows: int) -> None:
        """Forget what was appended since there were this many rows."""
        while self.rows > rows:
            count, chunk = self._chunks.pop()
            self.rows -= count
            if self.rows < rows:  # older rows went to the file together with these
                kept = rows - self.rows
                self._chunks.append((kept, {name: _head(values, kept) for name, values in chunk.items()}))
                self.rows = rows
        self._spilled = min(self._spilled, len(self._chunks))

    def spill(self, file: Spill) -> None:
        """Move the rows that are in memory to a file. Raises OSError where it has no room; nothing is lost then."""
        chunks = self._chunks[self._spilled :]
        if chunks:
            merged: dict[str, Array | Stored] = {}
            for name in _used(chunks):
                one = self._one_value(name, chunks)
                dtype = self.kind.COLUMNS[name].dtype
                merged[name] = file.write(self._parts(name, chunks, file), dtype) if one is None else one
            self._chunks[self._spilled :] = [(sum(rows for rows, _ in chunks), merged)]
            self._spilled = len(self._chunks)

    def columns(self, file: Spill, names: Collection[str] = ()) -> dict[str, Array]:
        """The collected columns (those of `names`, if any), without those unknown in every row.

        Those of a table that was spilled lie in the file.
        """
        out: dict[str, Array] = {}
        used = [name for name in _used(self._chunks) if not names or name in names]
        for name in (n for n in self.kind.COLUMNS if n in used):
            dtype = self.kind.COLUMNS[name].dtype
            one = self._one_value(name, self._chunks)
            if one is not None:
                out[name] = constant_column(one, self.rows, dtype)
            elif self._spilled:
                out[name] = file.column(self._parts(name, self._chunks, file), dtype)
            else:
                whole = out[name] = np.empty(self.rows, dtype)
                at = 0
                for part in self._parts(name, self._chunks, file):
                    whole[at : at + len(part)] = part
                    at += len(part)
        return out

    @property
    def is_spilled(self) -> bool:
        return self._spilled > 0

    def _one_value(self, name: str, chunks: _Chunks) -> Array | None:
        """The value a column has in all rows of these chunks, where it was given as one; else None."""
        given = [chunk.get(name) for _, chunk in chunks]
        values = {v[()].tobytes() if isinstance(v, np.ndarray) and not v.ndim else None for v in given}
        first = given[0]
        return first if None not in values and len(values) == 1 and isinstance(first, np.ndarray) else None

    def _parts(self, name: str, chunks: _Chunks, file: Spill) -> Iterator[Array]:
        spec = self.kind.COLUMNS[name]
        for rows, chunk in chunks:
            part = chunk.get(name)
            if part is None:
                yield spec.filled(rows)
            elif isinstance(part, Stored):
                yield file.read(part)
            else:
                yield part if part.ndim else constant_column(part, rows, spec.dtype)


def _carried_as(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which a file can hold numbers of this one. Raises ValueError where there is none."""
    if dtype.kind == "b":
        return dtype
    if dtype.kind == "u":
        return np.dtype("<u8") if dtype.itemsize > 4 else np.dtype("<u4")
    if dtype.kind == "i":
        return np.dtype("<i8")
    if dtype.kind == "f":
        return np.dtype("<f8")
    raise ValueError(f"a column of {dtype} cannot be carried")


def _used(chunks: _Chunks) -> dict[str, None]:
    return {name: None for _, chunk in chunks for name in chunk}


def _head(values: Array | Stored, rows: int) -> Array | Stored:
    if isinstance(values, Stored):
        return values.head(rows)
    return values[:rows] if values.ndim else values


class TraceBuilder:
    """Collects the tables of one trace; `finish` puts them in order and returns the trace.

    Rows beyond 128 MiB go to a temporary file; the columns of the trace then lie in it.

    Row numbers given to columns that refer to slices (flows, collectives, compiles) are the numbers
    `builder["slices"].append` returned; `finish` translates them. The same holds for every table by track.
    """

    def __init__(self, *, most_rows: int = sys.maxsize) -> None:
        """`most_rows`: how many rows it takes in all; one more raises TooManyRowsError."""
        self._room = most_rows
        self.pool = Pool()
        self.report = ImportReport()
        self.metadata: dict[str, Any] = {}
        self._file = Spill()
        self._in_memory_bytes, self._most_in_memory_bytes = 0, _MOST_IN_MEMORY_BYTES
        self._scratch: list[TableBuilder] = []
        self._extra: dict[str, list[tuple[int, dict[str, Array]]]] = {}
        self._tables = {name: TableBuilder(kind, self._grown) for name, kind in TABLES.items()}

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

    def carry(self, name: str, columns: Mapping[str, Any], *, rows: int) -> None:
        """Append rows to a table that is carried along without being understood (`trace.extra`).

        `columns`: numbers `(rows,)`, or texts as a list of str; where both came under one name, the later table keeps
        both. What a part leaves out is 0 or "" in its rows. Raises ValueError for the name of a known table.
        """
        if name in TABLES:
            raise ValueError(f"{name!r} is a table of the schema")
        part: dict[str, Array] = {}
        for column, given in columns.items():
            if isinstance(given, list):
                part[column + TEXT_SUFFIX] = np.array(self.pool.strings.ids(given), "<u4")
            else:
                values = np.asarray(given)
                part[column] = values.astype(_carried_as(values.dtype), copy=False)
        self._extra.setdefault(name, []).append((rows, part))

    def scratch(self, kind: type[Table]) -> TableBuilder:
        """A table that helps to build the trace and is no part of it; its rows too wait in the file."""
        self._scratch.append(TableBuilder(kind, self._grown))
        return self._scratch[-1]

    def collected(self, table: TableBuilder, *names: str) -> Any:
        """The rows of a table as they were added so far; with `names`, only these columns are known."""
        if table.is_spilled:
            self._spill()  # what is done with them takes memory itself
        return table.kind(table.columns(self._file, names), self.pool, rows=table.rows)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Where the body raises, the rows, the report and the metadata are as they were before; the error goes on."""
        tables = [*self._tables.values(), *self._scratch]
        rows = [table.rows for table in tables]
        report, metadata = copy.deepcopy(self.report), copy.deepcopy(self.metadata)
        try:
            yield
        except BaseException:
            for table, count in zip(tables, rows, strict=True):
                table.cut(count)
            self.report, self.metadata = report, metadata
            raise

    def finish(self, *, metadata: Mapping[str, Any] | None = None) -> Trace:
        """The trace. Slices, instants and counters are ordered by track, then time, then longer first;
        memory and samples by time; equal rows keep the order in which they came."""
        if any(table.is_spilled for table in self._tables.values()):
            self._spill()  # putting them in order takes memory itself
        columns = {name: builder.columns(self._file) for name, builder in self._tables.items()}
        moved: dict[str, Array] = {}
        for name in (*BY_TRACK, "memory", "samples"):
            if self._tables[name].is_spilled:
                order = order_in_pieces(name, columns[name], _ROWS_AT_A_TIME)
            else:
                order = order_of_rows(name, columns[name])
            if order is not None:
                for column, values in columns[name].items():
                    columns[name][column] = self._reordered(name, values, order)
                if name in _REFERRED_TO:
                    moved[name] = np.empty(len(order), order.dtype)
                    moved[name][order] = np.arange(len(order), dtype=order.dtype)
            release(columns[name].values())
        tables: dict[str, Table] = {}
        for name, kind in TABLES.items():
            for column, spec in kind.COLUMNS.items():
                if spec.meaning is Meaning.ROW and spec.references in moved and column in columns[name]:
                    columns[name][column] = self._referring(name, columns[name][column], moved[spec.references])
            tables[name] = kind(columns[name], self.pool, rows=self._tables[name].rows)
        tables |= {name: self._carried(parts) for name, parts in self._extra.items()}
        return Trace.of(self.pool, tables, metadata={**self.metadata, **(metadata or {})}, report=self.report)

    def _carried(self, parts: list[tuple[int, dict[str, Array]]]) -> Table:
        dtypes: dict[str, np.dtype[Any]] = {}
        for _, part in parts:
            for name, values in part.items():
                dtypes[name] = np.promote_types(dtypes.get(name, values.dtype), values.dtype)
        columns = {
            name: np.concatenate([part[name] if name in part else np.zeros(rows, dtype) for rows, part in parts])
            for name, dtype in dtypes.items()
        }
        columns = {name: values.astype(_carried_as(values.dtype), copy=False) for name, values in columns.items()}
        return Extra(columns, self.pool, rows=sum(rows for rows, _ in parts))

    def _grown(self, rows: int, size_bytes: int) -> None:
        self._room -= rows
        if self._room < 0:
            raise TooManyRowsError("brought more rows than it may")
        self._in_memory_bytes += size_bytes
        if self._in_memory_bytes > self._most_in_memory_bytes:
            self._spill()

    def _spill(self) -> None:
        try:
            for table in (*self._tables.values(), *self._scratch):
                table.spill(self._file)
            self._in_memory_bytes = 0
        except OSError as error:
            _log.debug("no room for temporary data, all stays in memory: %s", error)
            self._most_in_memory_bytes = sys.maxsize

    def _referring(self, table: str, rows: Array, moved: Array) -> Array:
        """Row numbers of a table whose rows moved, as they are now."""
        if not self._tables[table].is_spilled or is_constant(rows):
            return np.where(rows >= 0, moved[rows].astype(np.int64), -1)
        parts = (rows[at : at + _ROWS_AT_A_TIME] for at in range(0, len(rows), _ROWS_AT_A_TIME))
        out = self._file.column((np.where(part >= 0, moved[part].astype(np.int64), -1) for part in parts), rows.dtype)
        release([rows])
        return out

    def _reordered(self, table: str, values: Array, order: Array) -> Array:
        if is_constant(values):
            return values
        if not self._tables[table].is_spilled:
            return values[order]
        blocks = (values[order[at : at + _ROWS_AT_A_TIME]] for at in range(0, len(order), _ROWS_AT_A_TIME))
        out = self._file.column(blocks, values.dtype)
        release([values])
        return out
