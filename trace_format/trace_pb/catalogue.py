"""Where every record of a trace.pb lies: from its index, or, where that is missing, by walking the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from trace_format.limits import BLOCK_ROWS
from trace_format.proto import trace_pb2 as pb
from trace_format.tables import BY_TRACK
from trace_format.trace_pb import wire
from trace_format.trace_pb.encoding import ColumnError, decode_column

Array = np.ndarray

_NEVER = np.iinfo(np.int64).max
_LAST_ROW = 2**62
_MOST_TABLES = 256


@dataclass(frozen=True)
class Catalogue:
    """Columns over the records `(r,)` and over those of them that are blocks `(b,)`, in file order.

    `complete`: the file has an intact index. `cut`: it has no trailer, so its writer did not finish it.
    Times are the file's; `ts_max` is the last end, the largest int64 where a slice did not finish.
    """

    field: Array
    offset: Array
    size: Array
    block_records: Array
    table_names: tuple[str, ...]
    table: Array
    first_row: Array
    rows: Array
    track: Array
    ts_min: Array
    ts_max: Array
    complete: bool
    cut: bool

    def blocks_of(self, table: str) -> Array:
        """The numbers of a table's blocks, in order of their rows."""
        if table not in self.table_names:
            return np.zeros(0, np.int64)
        return np.flatnonzero(self.table == self.table_names.index(table))

    def row_count(self, table: str) -> int:
        """The rows the table has in the file, those in damaged blocks included."""
        blocks = self.blocks_of(table)
        return int((self.first_row[blocks] + self.rows[blocks]).max()) if len(blocks) else 0


def catalogue_of(data: wire.Buffer) -> Catalogue:
    """The catalogue of a file that starts as a trace.pb does."""
    at = wire.index_offset(data)
    if at is not None:
        record = wire.record_at(data, at)
        if record is not None and record.field == wire.INDEX and record.end == len(data) - wire.TRAILER_BYTES:
            found = _from_index(data, record)
            if found is not None:
                return found
    return _by_walking(data, cut=at is None)


def _from_index(data: wire.Buffer, record: wire.Record) -> Catalogue | None:
    """The catalogue an index record holds, None where it contradicts itself or the file."""
    message = wire.unseal(data[record.payload : record.end])
    if message is None:
        return None
    try:
        index = pb.Index.FromString(message)
    except DecodeError:
        return None
    field, offset, size = (
        np.array(values, np.uint64).astype(np.int64) for values in (index.field, index.offset, index.size)
    )
    table, rows, track = (np.array(values, np.int64) for values in (index.table, index.rows, index.track))
    ts_min, ts_max = np.array(index.ts_min, np.int64), np.array(index.ts_max, np.int64)
    block_records = np.flatnonzero(field == wire.BLOCKS)
    if not len(field) == len(offset) == len(size):
        return None
    if not len(block_records) == len(table) == len(rows) == len(track) == len(ts_min) == len(ts_max):
        return None
    ends = np.r_[wire.FIRST_RECORD, offset + size]
    if not np.array_equal(np.r_[offset, record.offset], ends):
        return None
    if len(table) and int(table.max()) >= len(index.table_names):
        return None
    if len(set(index.table_names)) < len(index.table_names) or len(index.table_names) > _MOST_TABLES:
        return None
    if len(rows) and not 0 < int(rows.min()) <= int(rows.max()) <= BLOCK_ROWS:
        return None
    first_row = np.zeros(len(table), np.int64)
    for number in range(len(index.table_names)):
        blocks = np.flatnonzero(table == number)
        first_row[blocks] = np.cumsum(rows[blocks]) - rows[blocks]
    of_blocks = (table, first_row, rows, track, ts_min, ts_max)
    return Catalogue(field, offset, size, block_records, tuple(index.table_names), *of_blocks, True, False)


def _by_walking(data: wire.Buffer, *, cut: bool) -> Catalogue:
    """The catalogue of the intact records, found one after the other; damaged ones are passed over."""
    records: list[tuple[int, int, int]] = []
    names: list[str] = []
    blocks: list[tuple[int, ...]] = []
    following: dict[int, int] = {}  # the row that each table goes on with at the earliest
    for record in wire.walk(data):
        if record.field == wire.INDEX:
            continue
        message = wire.unseal(data[record.payload : record.end])
        if message is None:
            continue
        if record.field == wire.BLOCKS:
            entry = _block_entry(message, names)
            if entry is None or entry.first_row < following.get(entry.table, 0):
                continue
            following[entry.table] = entry.first_row + entry.rows
            blocks.append((len(records), *entry))
        records.append((record.field, record.offset, record.end - record.offset))
    field, offset, size = np.array(records, np.int64).reshape(-1, 3).T
    at, table, first_row, rows, track, ts_min, ts_max = np.array(blocks, np.int64).reshape(-1, 7).T
    return Catalogue(field, offset, size, at, tuple(names), table, first_row, rows, track, ts_min, ts_max, False, cut)


class _BlockEntry(NamedTuple):
    table: int
    first_row: int
    rows: int
    track: int
    ts_min: int
    ts_max: int


def _block_entry(message: bytes, names: list[str]) -> _BlockEntry | None:
    """What an index would say about a block, None where it cannot be read. Adds its table to `names`."""
    try:
        block = pb.Block.FromString(message)
        columns = {column.name: column for column in block.columns}
        if not 0 < block.rows <= BLOCK_ROWS or block.first_row > _LAST_ROW:
            return None
        if block.table not in names:
            if len(names) == _MOST_TABLES:
                return None
            names.append(block.table)
        table = names.index(block.table)
        if block.table not in BY_TRACK:
            return _BlockEntry(table, block.first_row, block.rows, 0, 0, 0)
        ts, track = np.zeros(block.rows, np.int64), np.zeros(1, np.uint32)
        if "ts_ns" in columns:
            decode_column(columns["ts_ns"], ts)
        if "track" in columns:
            decode_column(columns["track"], track)
        ts_max = int(ts[-1])
        if block.table == "slices":
            dur = np.full(block.rows, -1, np.int64)
            if "dur_ns" in columns:
                decode_column(columns["dur_ns"], dur)
            ts_max = _NEVER if bool((dur < 0).any()) else int((ts + dur).max())
    except (DecodeError, ColumnError):
        return None
    return _BlockEntry(table, block.first_row, block.rows, int(track[0]), int(ts[0]), ts_max)
