"""Reads trace.pb: whole, by columns, by track or by time window, from a memory-mapped file."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np
from google.protobuf.message import DecodeError

from trace_format.columns import constant_column
from trace_format.errors import DamagedFileError, LimitExceededError, TraceFileError, UnsupportedFormatError
from trace_format.large_columns import LargeColumns
from trace_format.limits import BLOCK_ROWS, Limits
from trace_format.metadata import checked
from trace_format.pool import Interned, Pool, V
from trace_format.proto import trace_pb2 as pb
from trace_format.report import ImportReport
from trace_format.spill import Spill, release
from trace_format.tables import BY_TRACK, TABLES, Extra, Table
from trace_format.trace import Trace
from trace_format.trace_pb import wire
from trace_format.trace_pb.catalogue import Catalogue, catalogue_of
from trace_format.trace_pb.consistency import contradiction
from trace_format.trace_pb.encoding import (
    DTYPES,
    ColumnError,
    bits_of,
    constant_value,
    decode_column,
    decompress,
    from_bits,
)
from trace_format.trace_pb.losses import events_lost, refer_to_kept
from trace_format.trace_pb.writer import MAJOR

Array = np.ndarray
_LOST_ROWS = "rows in damaged or missing blocks of the file"
_LOST_TARGET = "reference to a slice in a damaged or missing block of the file"
_CUT_SHORT = "file cut short: opened up to its last whole block"
_NO_INDEX = "damaged index: rebuilt from the records"
# What a row takes later at least, whether its columns are stored or not; nesting slices needs several columns at once.
_BYTES_PER_ROW = {"slices": 128}
# The columns of a table beyond this many bytes lie in a file; so many rows of them are decoded at a time.
_MOST_IN_MEMORY_BYTES = 128 << 20
_ROWS_AT_A_TIME = 1 << 18
_BYTES_PER_VALUE = 64  # what Python needs for an object and its place in a list
# Tables whose row numbers others hold; those that refer to slices are mended instead.
_REFERRED_TO = {"tracks", "neffs"}


def read_trace(path: str | os.PathLike[str], *, limits: Limits | None = None) -> Trace:
    """The whole trace in `path`.

    A file that was cut short opens up to its last whole block; a damaged block of rows is left out. Both are
    counted in `trace.report`. Raises DamagedFileError, UnsupportedFormatError, LimitExceededError or
    TraceFileError, each in one line.
    """
    with TraceReader(path, limits=limits) as reader:
        return reader.trace()


class TraceReader:
    """A trace.pb opened for reading. Use it in a `with` block; what it returned stays valid afterwards.

    - `metadata`, `report`: as in `Trace`; the report counts what could not be read so far.
    - `pool`: the interned values.
    - `row_counts`: rows of each table, by name.
    - `is_whole`: whether nothing was found damaged or missing so far.
    """

    def __init__(self, path: str | os.PathLike[str], *, limits: Limits | None = None) -> None:
        self.path = path
        self.is_whole = True
        self._limits = limits or Limits()
        self._data = _mapped(path)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._view.release()
        self._data.close()

    def trace(self) -> Trace:
        """The whole trace. Rows lost with damaged blocks are counted, and what referred to them refers to none.

        The columns of a large table lie in a temporary file.
        """
        report = self.report.copy()
        budget = self._budget(self._limits.decoded_bytes)
        blocks_of, file = self._catalogue.blocks_of, Spill()
        tables = {name: self._decode(name, blocks_of(name), None, budget, file) for name in self.row_counts}
        lost: dict[str, int] = {}
        for name in self._expected_rows.keys() | self.row_counts.keys():
            missing = max(self._expected_rows.get(name, 0), self.row_counts.get(name, 0)) - len(tables.get(name, ()))
            if missing > 0:
                lost[name] = missing
        for name in _REFERRED_TO & tables.keys():
            if tables[name].ids is not None:
                raise self._damaged(f"rows of {name} are lost, which others refer to; take another copy of the file")
        self.is_whole = self.is_whole and not lost
        report.lose(_LOST_ROWS, events_lost(lost, tables, report.kept))
        if "slices" in lost:
            dangling = refer_to_kept(tables)
            report.repaired[_LOST_TARGET] += dangling
        for name in lost.keys() & tables.keys():
            tables[name].ids = None
        problem = contradiction(tables, self.pool)
        if problem:
            raise self._damaged(problem)
        records = np.flatnonzero(np.isin(self._catalogue.field, wire.LATER_FIELDS))
        later = [(int(self._catalogue.field[i]), self._message(i, "a later record")) for i in records.tolist()]
        return Trace.of(self.pool, tables, metadata=self.metadata, report=report, later_records=tuple(later))

    def table(
        self,
        name: str,
        *,
        columns: Collection[str] | None = None,
        tracks: Iterable[int] | None = None,
        window_ns: tuple[int, int] | None = None,
    ) -> Table:
        """Rows of one table.

        `columns`: only these (the others are then unknown). `tracks`: only rows of these tracks. `window_ns`
        [start, end): only slices that share a moment with it or start in it, and instants and counter values
        in it; tables that are not kept by track are read whole. Where not every row of the table is returned,
        `ids` of the result says which are. Raises ValueError for a column the table does not store.
        """
        kind = TABLES.get(name, Extra)
        for column in columns or ():
            if name in TABLES and (column not in kind.COLUMNS or kind.COLUMNS[column].derived):
                raise ValueError(f"table {name!r} stores no column {column!r}")
        wanted = None if columns is None else set(columns)
        blocks = self._catalogue.blocks_of(name)
        if name in BY_TRACK and tracks is not None:
            blocks = blocks[np.isin(self._catalogue.track[blocks], np.fromiter(tracks, np.int64))]
        if name not in BY_TRACK or window_ns is None:
            return self._decode(name, blocks, wanted, self._budget(self._limits.decoded_bytes))
        first, last = window_ns
        blocks = blocks[(self._catalogue.ts_min[blocks] < last) & (self._catalogue.ts_max[blocks] >= first)]
        times = {"ts_ns"} | ({"dur_ns"} if name == "slices" else set())
        table = self._decode(
            name, blocks, None if wanted is None else wanted | times, self._budget(self._limits.decoded_bytes)
        )
        inside = (table.ts_ns >= first) & (table.ts_ns < last)
        if name == "slices":
            inside |= (table.ts_ns < first) & ((table.dur_ns < 0) | (table.ts_ns + table.dur_ns > first))
        return table.take(inside)

    def _open(self) -> None:
        self._view = memoryview(self._data)
        if self._view[: len(wire.MAGIC)] != wire.MAGIC:
            raise UnsupportedFormatError("not a trace.pb (it does not start like one)", path=self.path)
        self._check_header()
        self._catalogue: Catalogue = catalogue_of(self._view)
        self.metadata, self.report, self._expected_rows = self._read_metadata()
        if not self._catalogue.complete:
            self.is_whole = False
            self.report.repaired[_CUT_SHORT if self._catalogue.cut else _NO_INDEX] += 1
        self.row_counts = {name: self._catalogue.row_count(name) for name in self._catalogue.table_names}
        for name, rows in self.row_counts.items():
            if rows > self._limits.rows:
                raise self._over_limit(f"table {name!r} has {rows:,} rows", self._limits.rows)
        self.pool, budget = Pool(), self._budget(self._limits.pool_bytes)
        self._read_values(wire.STRINGS, self.pool.strings, lambda raw: raw.decode("utf-8", "surrogatepass"), budget)
        self._read_values(wire.STACKS, self.pool.stacks, self._frames, budget)
        self._read_values(wire.ARG_SETS, self.pool.arg_sets, _utf8, budget)

    def _check_header(self) -> None:
        record = wire.record_at(self._view, wire.FIRST_RECORD)
        message = None if record is None else wire.unseal(self._view[record.payload : record.end])
        if record is None or message is None or record.field != wire.HEADER:
            raise self._damaged("the header is damaged; take another copy of the file", wire.FIRST_RECORD)
        header = pb.Header.FromString(message)
        if header.major != MAJOR:
            who = header.created_by or "an unknown program"
            problem = f"format {header.major}.{header.minor}, written by {who}; this one reads {MAJOR}.x: upgrade it"
            raise UnsupportedFormatError(problem, path=self.path)

    def _message(self, record: int, what: str) -> bytes:
        """The message of the record with this number. Raises DamagedFileError where its checksum does not hold."""
        offset, size = int(self._catalogue.offset[record]), int(self._catalogue.size[record])
        if size > self._limits.record_bytes:
            raise self._over_limit(f"{what} has {size:,} bytes", self._limits.record_bytes, offset)
        found = wire.record_at(self._view, offset)
        message = None
        if found is not None and found.end == offset + size and found.field == self._catalogue.field[record]:
            message = wire.unseal(self._view[found.payload : found.end])
        if message is None:
            raise self._damaged(f"{what} is damaged; take another copy of the file", offset)
        return message

    def _read_metadata(self) -> tuple[dict[str, Any], ImportReport, dict[str, int]]:
        records = np.flatnonzero(self._catalogue.field == wire.METADATA)
        if not len(records):
            return {}, ImportReport(), {}
        try:
            message = pb.Metadata.FromString(self._message(int(records[-1]), "the metadata"))
            metadata = checked(json.loads(message.json or b"{}"))
            expected = msgspec.json.decode(message.expected_rows or b"{}", type=dict[str, int])
            report = ImportReport.from_dict(msgspec.json.decode(message.report)) if message.report else ImportReport()
        except (DecodeError, msgspec.MsgspecError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._damaged(f"the metadata cannot be read ({error})") from error
        return metadata, report, expected

    def _read_values(self, field: int, interned: Interned[V], decode: Callable[[bytes], V], budget: _Budget) -> None:
        for record in np.flatnonzero(self._catalogue.field == field).tolist():
            what = "a chunk of interned values"
            offset = int(self._catalogue.offset[record])
            try:
                chunk = pb.Values.FromString(self._message(record, what))
                size = max(chunk.raw_size, 4 * chunk.count)
                if size > self._limits.record_bytes:
                    raise self._over_limit(f"{what} asks for {size:,} bytes", self._limits.record_bytes, offset)
                size = chunk.raw_size + _BYTES_PER_VALUE * chunk.count
                if size > budget.left:
                    raise self._over_limit(f"{what} needs {size:,} bytes", budget.left, offset)
                budget.left -= size
                if chunk.first_id != len(interned) or len(interned) + chunk.count > self._limits.pool_values:
                    raise ColumnError("its ids do not continue those before")
                lengths = np.frombuffer(decompress(chunk.lengths, chunk.codec, 4 * chunk.count), "<u4").astype(np.int64)
                data = decompress(chunk.data, chunk.codec, chunk.raw_size)
                ends = np.cumsum(lengths)
                if not len(ends) or int(ends[-1]) != len(data):
                    raise ColumnError("its lengths do not add up")
                starts = (ends - lengths).tolist()
                interned.extend(decode(data[a:b]) for a, b in zip(starts, ends.tolist(), strict=True))
            except (DecodeError, UnicodeDecodeError, ValueError) as error:
                raise self._damaged(f"{what} cannot be read ({error})", offset) from error

    def _frames(self, raw: bytes) -> tuple[int, ...]:
        frames = tuple(np.frombuffer(raw, "<u4").tolist())
        if frames and max(frames) >= len(self.pool.strings):
            raise ColumnError("a stack has a frame that is no string of the file")
        return frames

    def _block(self, number: int) -> pb.Block | None:
        """The block with this number, None where it is damaged."""
        try:
            block = pb.Block.FromString(self._message(int(self._catalogue.block_records[number]), "a block"))
        except (DamagedFileError, DecodeError):
            return None
        catalogue = self._catalogue
        expected = (catalogue.table_names[catalogue.table[number]], catalogue.rows[number], catalogue.first_row[number])
        return block if (block.table, block.rows, block.first_row) == expected and block.rows <= BLOCK_ROWS else None

    def _survey(self, blocks: Array, wanted: set[str] | None) -> tuple[Array, dict[str, _Survey]]:
        """Which of these blocks are intact, and what they store of each wanted column."""
        intact: list[int] = []
        found: dict[str, _Survey] = {}
        for number in blocks.tolist():
            block = self._block(number)
            if block is None:
                continue
            intact.append(number)
            for column in block.columns:
                if wanted is not None and column.name not in wanted:
                    continue
                if column.type not in DTYPES:
                    raise self._unreadable(number, f"column {column.name!r} has a type this version does not know")
                survey = found.setdefault(column.name, _Survey(DTYPES[column.type]))
                survey.blocks += 1
                survey.values.add(constant_value(column))
        return np.array(intact, np.int64), found

    def _decode(
        self, name: str, blocks: Array, wanted: set[str] | None, budget: _Budget, file: Spill | None = None
    ) -> Table:
        """The wanted columns of these blocks, in `file` if they are large; damaged blocks are left out."""
        kind = TABLES.get(name, Extra)
        intact, found = self._survey(blocks, wanted)
        rows = self._catalogue.rows[intact]
        total = int(rows.sum())
        data: dict[str, Array] = {}
        varying: dict[str, Array] = {}
        for column, survey in found.items():
            spec = kind.column(column)
            if spec is not None and (spec.dtype != survey.dtype or spec.derived):
                raise self._damaged(f"column {name}.{column} is stored as {survey.dtype}")
            fill = np.asarray([0 if spec is None else spec.unknown]).astype(survey.dtype)
            if survey.blocks < len(intact):
                survey.values.add(bits_of(fill))
            value = survey.values.pop() if len(survey.values) == 1 else None
            if value is None:
                varying[column] = fill
            else:
                data[column] = constant_column(from_bits(value, survey.dtype), total, survey.dtype)
        stored_bytes = total * sum(fill.dtype.itemsize for fill in varying.values())
        size = stored_bytes + total * _BYTES_PER_ROW.get(name, 16)
        if size > budget.left:
            raise self._over_limit(f"table {name!r} needs {size:,} bytes", budget.left)
        budget.left -= size
        large = file is not None and stored_bytes > _MOST_IN_MEMORY_BYTES
        columns = LargeColumns(total, {n: fill.dtype for n, fill in varying.items()}, file if large else None)
        at = 0
        for first, last in _pieces(rows, _ROWS_AT_A_TIME if large else total):
            count = int(rows[first:last].sum())
            with columns.piece(at, at + count) as out:
                self._decode_blocks(intact[first:last], rows[first:last], varying, out)
            at += count
            if large:
                release([np.frombuffer(self._data, np.uint8)])
        return kind(data | columns.finish(), self.pool, rows=total, ids=self._ids(name, intact))

    def _decode_blocks(
        self, numbers: Array, rows: Array, varying: Mapping[str, Array], out: Mapping[str, Array]
    ) -> None:
        """Write the rows of these blocks into `out`; `varying` has what stands for a column that a block lacks."""
        at = 0
        for number, count in zip(numbers.tolist(), rows.tolist(), strict=True):
            block = self._block(number)
            stored = {column.name: column for column in block.columns} if block is not None else {}
            for column, fill in varying.items():
                part = out[column][at : at + count]
                part[:] = fill
                if column in stored:
                    try:
                        decode_column(stored[column], part)
                    except ColumnError as error:
                        raise self._unreadable(number, str(error)) from error
            at += count

    def _budget(self, most: int) -> _Budget:
        return _Budget(min(most, max(self._limits.always_bytes, len(self._view) * self._limits.expansion)))

    def _ids(self, name: str, intact: Array) -> Array | None:
        """The row numbers of the rows in these blocks, None where they are the whole table."""
        rows, first_row = self._catalogue.rows[intact], self._catalogue.first_row[intact]
        total = int(rows.sum())
        if total == self.row_counts.get(name, 0):
            return None
        return np.repeat(first_row - np.cumsum(rows) + rows, rows) + np.arange(total)

    def _unreadable(self, number: int, why: str) -> DamagedFileError:
        offset = int(self._catalogue.offset[self._catalogue.block_records[number]])
        return self._damaged(f"a block cannot be read ({why})", offset)

    def _damaged(self, message: str, offset: int | None = None) -> DamagedFileError:
        return DamagedFileError(message, path=self.path, offset_bytes=offset)

    def _over_limit(self, message: str, limit: int, offset: int | None = None) -> LimitExceededError:
        message = f"{message}, more than the {limit:,} allowed; read a part of it, or raise the limit"
        return LimitExceededError(message, path=self.path, offset_bytes=offset)


def _pieces(rows: Array, rows_at_a_time: int) -> Iterator[tuple[int, int]]:
    """Ranges of blocks that have so many rows together, or hardly more; `rows` are those of each block."""
    first = before = through = 0
    for number, count in enumerate(rows.tolist(), 1):
        through += count
        if through - before >= rows_at_a_time or number == len(rows):
            yield first, number
            first, before = number, through


def _utf8(raw: bytes) -> bytes:
    """The same bytes. Raises UnicodeDecodeError where they are no text."""
    raw.decode("utf-8", "surrogatepass")
    return raw


@dataclass
class _Budget:
    """How many bytes more may be asked for."""

    left: int


@dataclass
class _Survey:
    """What the blocks store of one column: its type, its constant values (None: it varies), in how many blocks."""

    dtype: np.dtype[Any]
    values: set[int | None] = field(default_factory=set)
    blocks: int = 0


def _mapped(path: str | os.PathLike[str]) -> mmap.mmap:
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise UnsupportedFormatError("the file is empty; was the program that wrote it stopped?", path=path)
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise TraceFileError(f"cannot be read ({reason}); check the path", path=path) from error
