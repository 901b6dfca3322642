"""A trace whose rows waited in a file is the trace it would have been without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_differences import differences

from trace_format import NeuronProfileError, Trace, TraceBuilder, builder, read_trace, write_trace
from trace_format.large_columns import LargeColumns
from trace_format.row_order import order_in_pieces, order_of_rows
from trace_format.spill import Spill, lies_in_a_file, release
from trace_format.trace_pb import reader, writer

CHUNK = st.fixed_dictionaries(
    {"start": st.integers(-(10**6), 10**6), "rows": st.integers(1, 6)},
    optional={
        "dur_ns": st.integers(-1, 50),
        "track": st.integers(0, 2),
        "correlation": st.integers(-1, 9),
        "flops": st.floats(),
        "args": st.integers(0, 1),
        "repeat": st.booleans(),
        "withdrawn": st.booleans(),
    },
)


def build(chunks: list[dict[str, Any]]) -> Trace:
    """Slices in chunks, each with a flow to the first of all; some chunks are taken back."""
    made = TraceBuilder()
    for number in range(3):
        made.track(f"track {number}")
    made.pool.arg_sets.id(b"{}")
    for chunk in chunks:
        rows = chunk["rows"]
        columns = {name: chunk[name] for name in ("dur_ns", "track", "correlation", "flops", "args") if name in chunk}
        if chunk.get("repeat"):
            columns = {name: np.full(rows, value) for name, value in columns.items()}
        try:
            with made.all_or_nothing():
                ts = chunk["start"] - 7 * np.arange(rows)
                first = made["slices"].append(rows, ts_ns=ts, **columns)
                made["flows"].append(from_slice=[0], to_slice=[first], flow_id=[rows])
                made["instants"].append(rows, ts_ns=ts, track=chunk.get("track", 0))
                if chunk.get("withdrawn"):
                    raise LookupError
        except LookupError:
            continue
    return made.finish()


@given(st.lists(CHUNK, max_size=12), st.integers(0, 400))
def test_a_trace_that_was_spilled_equals_one_that_was_not(chunks: list[dict[str, Any]], limit_bytes: int) -> None:
    expected = build(chunks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder, "_MOST_IN_MEMORY_BYTES", limit_bytes)
        patch.setattr(builder, "_ROWS_AT_A_TIME", 3)
        assert differences(expected, build(chunks)) == []


@pytest.fixture
def spilled(monkeypatch: pytest.MonkeyPatch) -> Trace:
    """A hundred slices on two tracks, from last to first, that waited in a file."""
    monkeypatch.setattr(builder, "_MOST_IN_MEMORY_BYTES", 200)
    made = TraceBuilder()
    for number in range(2):
        made.track(f"track {number}")
    for start in range(100, 0, -10):
        made["slices"].append(10, ts_ns=np.arange(start, start - 10, -1), dur_ns=np.arange(10), track=[0, 1] * 5)
    return made.finish()


def test_the_columns_of_a_spilled_table_lie_in_a_file(spilled: Trace) -> None:
    assert spilled.slices.ts_ns.tolist() == [*range(2, 101, 2), *range(1, 100, 2)]
    assert lies_in_a_file(spilled.slices.ts_ns)


def test_a_spilled_trace_is_written_and_read_like_any_other(spilled: Trace, tmp_path: Path) -> None:
    write_trace(spilled, tmp_path / "trace.pb")
    assert differences(spilled, read_trace(tmp_path / "trace.pb")) == []


@given(st.lists(CHUNK, min_size=1, max_size=12), st.integers(1, 5))
def test_a_large_table_is_read_into_a_file_piece_by_piece(chunks: list[dict[str, Any]], rows: int) -> None:
    made = build(chunks)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "trace.pb"
        patch.setattr(writer, "_BLOCK_ROWS", 2)
        write_trace(made, path)
        patch.setattr(reader, "_MOST_IN_MEMORY_BYTES", -1)
        patch.setattr(reader, "_ROWS_AT_A_TIME", rows)
        assert differences(made, read_trace(path)) == []


def test_what_is_derived_of_a_table_in_a_file_lies_in_one_too(
    spilled: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_trace(spilled, tmp_path / "trace.pb")
    monkeypatch.setattr(reader, "_MOST_IN_MEMORY_BYTES", 0)
    slices = read_trace(tmp_path / "trace.pb").slices
    assert all(lies_in_a_file(column) for column in (slices.ts_ns, slices.depth, slices.self_ns, slices.parent))
    assert slices.depth.tolist() == spilled.slices.depth.tolist()


ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20), st.integers(-1, 4)), min_size=1, max_size=40)


@given(ROWS, st.integers(1, 9), st.sampled_from(["slices", "counters", "samples"]), st.booleans())
def test_rows_are_put_in_order_in_pieces_as_they_are_at_once(
    rows: list[tuple[int, int, int]], at_a_time: int, table: str, in_order: bool
) -> None:
    if in_order:
        rows = sorted(rows, key=lambda row: (row[0], row[1], -row[2] if row[2] >= 0 else -99))
    columns = dict(zip(("track", "ts_ns", "dur_ns"), np.array(rows).T, strict=True))
    expected, found = order_of_rows(table, columns), order_in_pieces(table, columns, at_a_time)
    assert (None if found is None else found.tolist()) == (None if expected is None else expected.tolist())


@pytest.mark.parametrize("at", ["put", "show"])
def test_large_columns_move_to_memory_where_the_file_has_no_more_room(monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    columns = LargeColumns(6, {"a": np.dtype("<i8"), "b": np.dtype("u1")}, Spill())
    with columns.piece(0, 4) as part:
        part["a"][:], part["b"][:] = [1, 2, 3, 4], 5
    monkeypatch.setattr(Spill, at, full)
    with columns.piece(4, 6) as part:
        part["a"][:], part["b"][:] = [6, 7], 8
    columns.put(1, {"a": np.array([9])})
    found = columns.finish()
    assert found["a"].tolist() == [1, 9, 3, 4, 6, 7]
    assert found["b"].tolist() == [5, 5, 5, 5, 8, 8]
    assert not lies_in_a_file(found["a"])


def test_what_was_released_is_read_again(spilled: Trace) -> None:
    before = spilled.slices.ts_ns.copy()
    release([spilled.slices.ts_ns, spilled.tracks.name])
    assert (spilled.slices.ts_ns == before).all()


def test_the_file_has_no_name(spilled: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    file = Spill()
    column = file.column(iter([np.arange(5)]), np.dtype("<i8"))
    assert list(tmp_path.iterdir()) == []
    del file
    assert column.tolist() == [0, 1, 2, 3, 4]


def test_without_room_for_the_file_all_stays_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Spill, parts: Iterator[np.ndarray], dtype: np.dtype[Any]) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(builder, "_MOST_IN_MEMORY_BYTES", 1 << 20)
    chunks = [{"start": start, "rows": 5, "dur_ns": 3, "repeat": True} for start in (50, 10, 30)]
    expected = build(chunks)
    monkeypatch.setattr(builder, "_MOST_IN_MEMORY_BYTES", 100)
    with monkeypatch.context() as patch:
        patch.setattr(Spill, "write", full)
        assert differences(expected, build(chunks)) == []
    made = TraceBuilder()
    for _ in range(2):
        made["slices"].append(ts_ns=np.arange(20), track=0)
    monkeypatch.setattr(Spill, "write", full)
    with pytest.raises(NeuronProfileError, match=r"no room for temporary data \(No space left on device\); set TMPDIR"):
        made.finish()
