"""What is written is what is read."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from same_bits import assert_same_bits
from trace_strategies import small_trace, traces

from trace_format import Trace, TraceBuilder, TraceFileError, TraceReader, TraceWriter, read_trace, write_trace
from trace_format.tables import Counters
from trace_format.trace_pb import writer

once_per_example = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@given(trace=traces())
@once_per_example
def test_any_trace_comes_back_bit_for_bit(trace: Trace, tmp_path: Path) -> None:
    write_trace(trace, tmp_path / "trace.pb", force=True)
    assert_same_bits(read_trace(tmp_path / "trace.pb"), trace)


@given(trace=traces(max_rows=40), block_rows=st.integers(1, 7))
@once_per_example
def test_blocks_of_any_size_come_back_bit_for_bit(trace: Trace, block_rows: int, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "_BLOCK_ROWS", block_rows)
        write_trace(trace, tmp_path / "trace.pb", force=True)
    assert_same_bits(read_trace(tmp_path / "trace.pb"), trace)


def test_an_empty_trace_comes_back(tmp_path: Path) -> None:
    trace = TraceBuilder().finish()
    write_trace(trace, tmp_path / "trace.pb")
    assert_same_bits(read_trace(tmp_path / "trace.pb"), trace)


def test_many_values_are_kept_in_several_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_CHUNK_BYTES", 100)
    builder = TraceBuilder()
    for i in range(1_000):
        builder.string(f"name {i}")
    builder.string("x" * 250_000)
    trace = builder.finish()
    write_trace(trace, tmp_path / "trace.pb")
    assert read_trace(tmp_path / "trace.pb").pool.strings.values == trace.pool.strings.values


def test_a_column_the_same_in_every_row_costs_no_memory_when_read(tmp_path: Path) -> None:
    write_trace(small_trace(tracks=1), tmp_path / "trace.pb")
    slices = read_trace(tmp_path / "trace.pb").slices
    assert slices.dur_ns.strides == (0,)
    assert slices.bytes.strides == (0,)
    assert slices.ts_ns.strides == (8,)


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "trace.pb"
    path.write_bytes(b"mine")
    with pytest.raises(TraceFileError, match=r"trace\.pb: exists already.*--force"):
        write_trace(small_trace(), path)
    assert path.read_bytes() == b"mine"
    write_trace(small_trace(), path, force=True)
    assert len(read_trace(path).slices) == 120


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), TraceWriter(tmp_path / "trace.pb") as unfinished:
        unfinished.metadata({"host": "here"})
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_killed_writer_leaves_a_file_that_opens(tmp_path: Path) -> None:
    trace = small_trace()
    unfinished = TraceWriter(tmp_path / "trace.pb")
    unfinished.metadata(trace.metadata)
    unfinished.pool(trace.pool)
    unfinished.rows("tracks", trace.tracks)
    unfinished.rows("slices", trace.slices)
    unfinished._file._file.flush()  # what the system does with a killed process's file
    (partial,) = tmp_path.glob("trace.pb.partial-*")
    opened = read_trace(partial)
    assert len(opened.slices) == 120
    assert opened.report.repaired == {"file cut short: opened up to its last whole block": 1}
    unfinished.abandon()


def test_rows_may_be_written_in_several_goes(tmp_path: Path) -> None:
    builder = TraceBuilder()
    track = builder.track("bytes", kind="counter")
    trace = builder.finish()
    with TraceWriter(tmp_path / "trace.pb") as streaming:
        streaming.pool(trace.pool)
        streaming.rows("tracks", trace.tracks)
        for start in (0, 10, 20):
            part = {"ts_ns": np.arange(start, start + 3), "track": np.full(3, track), "value": np.full(3, start / 1)}
            streaming.rows("counters", Counters(part, trace.pool))
    counters = read_trace(tmp_path / "trace.pb").counters
    assert counters.ts_ns.tolist() == [0, 1, 2, 10, 11, 12, 20, 21, 22]
    assert counters.value.tolist() == [0.0] * 3 + [10.0] * 3 + [20.0] * 3


def test_a_missing_folder_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match=r"cannot be written \(No such file or directory\)"):
        write_trace(small_trace(), tmp_path / "nowhere" / "trace.pb")


def test_a_reader_may_be_closed_before_its_tables_are_used(tmp_path: Path) -> None:
    write_trace(small_trace(), tmp_path / "trace.pb")
    with TraceReader(tmp_path / "trace.pb") as reader:
        slices = reader.table("slices")
    assert slices.ts_ns[:3].tolist() == [0, 100, 200]


def test_a_link_stays_and_what_it_points_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "link.pb").symlink_to(tmp_path / "real.pb")
    with pytest.raises(TraceFileError, match="exists already"):
        write_trace(small_trace(), tmp_path / "link.pb")
    write_trace(small_trace(), tmp_path / "link.pb", force=True)
    assert (tmp_path / "link.pb").is_symlink()
    assert len(read_trace(tmp_path / "real.pb").slices) == 120


def test_only_a_regular_file_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "folder.pb").mkdir()
    os.mkfifo(tmp_path / "pipe.pb")
    for name in ("folder.pb", "pipe.pb"):
        with pytest.raises(TraceFileError, match="is not a regular file"):
            write_trace(small_trace(), tmp_path / name, force=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.pb", "pipe.pb"]


def test_a_file_that_cannot_be_finished_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(TraceFileError, match=r"cannot be written \(No space left on device\); is the disk full\?"):
        write_trace(small_trace(), tmp_path / "trace.pb")
    assert list(tmp_path.iterdir()) == []
