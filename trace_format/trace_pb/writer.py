"""Writes trace.pb: record by record, under a temporary name until it is whole."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np

from trace_format.columns import Column, constant_column, is_constant
from trace_format.partial_file import PartialFile
from trace_format.pool import Interned, Pool, V
from trace_format.proto import trace_pb2 as pb
from trace_format.report import ImportReport
from trace_format.spill import release
from trace_format.tables import BY_TRACK, Table
from trace_format.trace import Trace
from trace_format.trace_pb import wire
from trace_format.trace_pb.encoding import Encoder

Array = np.ndarray

MAJOR, MINOR = 1, 0
CREATED_BY = "neuron-profile"
# A block's rows, half of what the format allows: a time window decodes whole blocks, so smaller ones make it faster,
# and larger ones make the file smaller (32 k rows cost 6 % over 64 k, and halve a 1 % window of 10 M events).
_BLOCK_ROWS = 32_768
_BLOCKS_BETWEEN_RELEASES = 32
# What one record of interned values holds at most, before compression.
_CHUNK_VALUES = 1 << 16
_CHUNK_BYTES = 1 << 24
_NEVER = np.iinfo(np.int64).max
# The tables others refer to come first, so that a file cut short still has what its rows mean.
_TABLE_ORDER = ("tracks", "neffs", "tensors", "slices")


def write_trace(trace: Trace, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write `trace` to `path` as trace.pb.

    The file appears under its name when it is whole. Raises TraceFileError where `path` exists and `force`
    is not given, or where it cannot be written.
    """
    with TraceWriter(path, force=force) as writer:
        tables = trace.tables()
        writer.metadata(trace.metadata, trace.report, expected_rows={n: len(t) for n, t in tables.items() if len(t)})
        writer.pool(trace.pool)
        for name in sorted(tables, key=lambda n: _TABLE_ORDER.index(n) if n in _TABLE_ORDER else len(_TABLE_ORDER)):
            writer.rows(name, tables[name])
        for field, message in trace.later_records:
            writer.record(field, message)


class TraceWriter:
    """A trace.pb being written. Use it in a `with` block: leaving it normally finishes and renames the file.

    Whatever rows refer to (tracks, strings, stacks, argument sets) has to be written before them. What is
    written stays readable if the process is killed: the file then lies under its temporary name.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False, created_by: str = CREATED_BY) -> None:
        self._file = PartialFile(path, force=force)
        self._encoder = Encoder()
        self._index = pb.Index()
        self._offset = 0
        self._written = {wire.STRINGS: 1, wire.STACKS: 1, wire.ARG_SETS: 1}
        self._rows: dict[str, int] = {}
        self._put(wire.MAGIC)
        header = pb.Header(major=MAJOR, minor=MINOR, created_by=created_by)
        self.record(wire.HEADER, header.SerializeToString())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is None:
            self.finish()
        else:
            self.abandon()

    def metadata(
        self,
        metadata: Mapping[str, Any],
        report: ImportReport | None = None,
        *,
        expected_rows: Mapping[str, int] | None = None,
    ) -> None:
        """Write metadata, report and, where known, how many rows each table will have; what is written last counts."""
        message = pb.Metadata(json=_metadata_json(metadata))
        if expected_rows is not None:
            message.expected_rows = msgspec.json.encode(dict(expected_rows))
        if report is not None:
            message.report = msgspec.json.encode(report.to_dict())
        self.record(wire.METADATA, message.SerializeToString())

    def pool(self, pool: Pool) -> None:
        """Write the interned values that were added since the last call."""
        self._values(wire.STRINGS, pool.strings, lambda text: text.encode("utf-8", "surrogatepass"))
        self._values(wire.STACKS, pool.stacks, lambda frames: np.asarray(frames, "<u4").tobytes())
        self._values(wire.ARG_SETS, pool.arg_sets, lambda text: text)

    def rows(self, name: str, table: Table) -> None:
        """Append the rows of `table` to the table `name`.

        Rows of slices, instants and counters go track by track in order of time.
        """
        columns = table.stored()
        told = {n: v for n, v in columns.items() if not (n in table.COLUMNS and _says_nothing(v, table.COLUMNS[n]))}
        for number, (first, last) in enumerate(_runs(name, columns, len(table)), 1):
            if number % _BLOCKS_BETWEEN_RELEASES == 0:
                release(columns.values())
            self._block(name, table.COLUMNS, told, _place(name, columns, first, last), first, last)

    def record(self, field: int, message: bytes) -> None:
        """Append one record given as its encoded message without checksum."""
        sealed = wire.seal(field, message)
        self._index.field.append(field)
        self._index.offset.append(self._offset)
        self._index.size.append(len(sealed))
        self._put(sealed)

    def finish(self) -> None:
        """Write index and trailer, flush to disk, and give the file its name."""
        at = self._offset
        self._put(wire.seal(wire.INDEX, self._index.SerializeToString()))
        self._put(wire.trailer(at))
        self._file.finish()

    def abandon(self) -> None:
        """Remove what was written."""
        self._file.abandon()

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._offset += len(data)

    def _values(self, field: int, interned: Interned[V], encode: Callable[[V], bytes]) -> None:
        first = self._written[field]
        while first < len(interned):
            encoded, size = [], 0
            for value in interned.values[first : first + _CHUNK_VALUES]:
                encoded.append(encode(value))
                size += len(encoded[-1])
                if size >= _CHUNK_BYTES:
                    break
            lengths = np.fromiter(map(len, encoded), "<u4", len(encoded)).tobytes()
            data = b"".join(encoded)
            message = pb.Values(first_id=first, count=len(encoded), raw_size=len(data))
            codec, (packed_lengths, packed) = self._encoder.compress(lengths, data)
            message.codec = codec
            message.lengths, message.data = packed_lengths, packed
            self.record(field, message.SerializeToString())
            first += len(encoded)
        self._written[field] = first

    def _block(
        self, table: str, specs: Mapping[str, Column], columns: Mapping[str, Array], place: tuple[int, int, int],
        first: int, last: int,
    ) -> None:  # fmt: skip
        rows, first_row = last - first, self._rows.get(table, 0)
        block = pb.Block(table=table, first_row=first_row, rows=rows)
        for name, values in columns.items():
            part = constant_column(values[0], rows, values.dtype) if is_constant(values) else values[first:last]
            column = self._encoder.column(name, part, specs.get(name))
            if column is not None:
                block.columns.append(column)
        self._rows[table] = first_row + rows
        names = self._index.table_names
        if table not in names:
            names.append(table)
        self._index.table.append(list(names).index(table))
        self._index.rows.append(rows)
        self._index.track.append(place[0])
        self._index.ts_min.append(place[1])
        self._index.ts_max.append(place[2])
        self.record(wire.BLOCKS, block.SerializeToString())


def _metadata_json(metadata: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(dict(metadata))
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can hold
        return json.dumps(dict(metadata), separators=(",", ":")).encode("ascii")


def _says_nothing(values: Array, spec: Column) -> bool:
    return is_constant(values) and values[:1].tobytes() == np.asarray([spec.unknown], values.dtype).tobytes()


def _runs(table: str, columns: Mapping[str, Array], rows: int) -> Iterator[tuple[int, int]]:
    """Row ranges that each fit one block: one track where the table demands it, and not too many rows."""
    bounds = [0, rows]
    if table in BY_TRACK and not is_constant(columns["track"]):
        track = columns["track"]
        bounds = [0, *(np.flatnonzero(track[1:] != track[:-1]) + 1).tolist(), rows]
    for first, last in pairwise(bounds):
        for at in range(first, last, _BLOCK_ROWS):
            yield at, min(at + _BLOCK_ROWS, last)


def _place(table: str, columns: Mapping[str, Array], first: int, last: int) -> tuple[int, int, int]:
    """Track, first start and last end of a block's rows, as the index has them."""
    if table not in BY_TRACK:
        return 0, 0, 0
    ts = columns["ts_ns"][first:last]
    track, ts_min, ts_max = int(columns["track"][first]), int(ts[0]), int(ts[-1])
    if table == "slices":
        dur = columns["dur_ns"][first:last]
        ts_max = _NEVER if bool((dur < 0).any()) else int((ts + dur).max())
    return track, ts_min, ts_max
