"""What true checksums around a lie come to: an error that says where, or the rows that can be trusted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from trace_records import Record, file_of, index_of, records_of
from trace_strategies import small_trace

from trace_format import DamagedFileError, Trace, TraceBuilder, read_trace, write_trace
from trace_format.proto import trace_pb2 as pb
from trace_format.tables import TABLES
from trace_format.trace_pb import wire
from trace_format.trace_pb.encoding import Encoder


@pytest.fixture
def records(tmp_path: Path) -> list[Record]:
    write_trace(small_trace(), tmp_path / "whole.pb")
    return records_of((tmp_path / "whole.pb").read_bytes())


def opened(records: list[Record], tmp_path: Path, *, index: pb.Index | None = None) -> Trace:
    (tmp_path / "t.pb").write_bytes(file_of(records, index=index))
    return read_trace(tmp_path / "t.pb")


def change_block(records: list[Record], table: str, change: Callable[[pb.Block], None]) -> None:
    """Change the first block of a table."""
    for at, (field, message) in enumerate(records):
        if field == wire.BLOCKS and pb.Block.FromString(message).table == table:
            block = pb.Block.FromString(message)
            change(block)
            records[at] = (field, block.SerializeToString())
            return


@pytest.mark.parametrize("rows", [0, 65_537, 2**31, 2**32 - 1])
def test_a_block_with_an_impossible_number_of_rows_costs_its_own(
    rows: int, records: list[Record], tmp_path: Path
) -> None:
    change_block(records, "slices", lambda block: setattr(block, "rows", rows))
    trace = opened(records, tmp_path)
    assert len(trace.slices) == 120 - 40
    assert trace.report.left_out["rows in damaged or missing blocks of the file"] == 40


def test_blocks_that_claim_the_same_rows_count_once(records: list[Record], tmp_path: Path) -> None:
    again = next(r for r in records if r[0] == wire.BLOCKS and pb.Block.FromString(r[1]).table == "slices")
    trace = opened([*records, again], tmp_path)
    assert len(trace.slices) == 120
    assert trace.slices.depth.tolist() == [0] * 120


def test_a_first_row_beyond_all_numbers_costs_its_block(records: list[Record], tmp_path: Path) -> None:
    change_block(records, "instants", lambda block: setattr(block, "first_row", 2**64 - 1))
    trace = opened(records, tmp_path)
    assert len(trace.instants) == 15 - 5
    assert len(trace.slices) == 120


def test_an_index_that_names_a_table_twice_is_not_believed(records: list[Record], tmp_path: Path) -> None:
    import random

    index = index_of(records, random.Random(0), lying=False)
    twice = list(index.table_names).index("slices")
    index.table_names.append("slices")
    index.table[len(index.table) - 1 - list(index.table)[::-1].index(twice)] = len(index.table_names) - 1
    trace = opened(records, tmp_path, index=index)
    assert len(trace.slices) == 120
    assert trace.report.repaired["damaged index: rebuilt from the records"] == 1


def set_column(block: pb.Block, name: str, values: np.ndarray) -> None:
    kept = [column for column in block.columns if column.name != name]
    del block.columns[:]
    spec = TABLES[block.table].COLUMNS[name]
    column = Encoder().column(name, values.astype(spec.dtype), spec)
    block.columns.extend(kept if column is None else [*kept, column])


@pytest.mark.parametrize(
    ("table", "column", "values", "problem"),
    [
        ("tracks", "parent", [1, 2, 3, 0, -1], "circle"),
        ("tracks", "parent", [0, -1, -1, -1, -1], "circle"),
        ("tracks", "parent", [-2, -1, -1, -1, -1], "negative row numbers"),
        ("tracks", "parent", [9, -1, -1, -1, -1], "refers to something"),
    ],
)
def test_rows_that_cannot_be_are_refused(
    table: str, column: str, values: list[int], problem: str, records: list[Record], tmp_path: Path
) -> None:
    change_block(records, table, lambda block: set_column(block, column, np.array(values)))
    with pytest.raises(DamagedFileError, match=problem):
        opened(records, tmp_path)


def test_a_stack_of_strings_that_are_not_there_is_refused(records: list[Record], tmp_path: Path) -> None:
    message = pb.Values(first_id=1, count=1, raw_size=4, lengths=b"\4\0\0\0", data=b"\xff\0\0\0")
    at = next(i for i, (field, _) in enumerate(records) if field == wire.BLOCKS)
    records.insert(at, (wire.STACKS, message.SerializeToString()))
    with pytest.raises(DamagedFileError, match="no string of the file"):
        opened(records, tmp_path)


@pytest.mark.parametrize(
    "text", [b'{"a":' * 100_000, b'{"sources":5}', b'{"sources":[5]}', b'{"sources":[{"clock":[]}]}', b"[]"]
)
def test_metadata_that_is_none_is_refused(text: bytes, records: list[Record], tmp_path: Path) -> None:
    records.append((wire.METADATA, pb.Metadata(json=text).SerializeToString()))
    with pytest.raises(DamagedFileError, match="the metadata cannot be read"):
        opened(records, tmp_path)


@pytest.mark.parametrize("text", [b"[1]", b"{", b"5", b'{"a":' * 100_000])
def test_an_argument_set_that_is_no_object_has_no_arguments(text: bytes, tmp_path: Path) -> None:
    builder = TraceBuilder()
    builder["slices"].append(ts_ns=1, track=builder.track("t"), args=builder.pool.arg_sets.id(text))
    write_trace(builder.finish(), tmp_path / "t.pb")
    trace = read_trace(tmp_path / "t.pb")
    assert trace.pool.args(1) == {}
    assert trace.pool.arg_sets[1] == text
