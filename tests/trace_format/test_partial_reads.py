"""Columns, tracks and time windows of a file, against the same question asked of the whole trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_strategies import small_trace, traces

from trace_format import Trace, TraceBuilder, TraceReader, write_trace
from trace_format.trace_pb import writer

once_per_example = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def in_window(trace: Trace, first: int, last: int) -> list[int]:
    """Rows of slices that share a moment with [first, last), or start in it; one by one."""
    rows = []
    for row, (start, duration) in enumerate(
        zip(trace.slices.ts_ns.tolist(), trace.slices.dur_ns.tolist(), strict=True)
    ):
        if first <= start < last or (start < first and (duration < 0 or start + duration > first)):
            rows.append(row)
    return rows


@given(trace=traces(max_rows=30), first=st.integers(-(2**61), 2**61), length=st.integers(0, 2**61))
@once_per_example
def test_a_window_has_the_slices_that_share_a_moment_with_it(
    trace: Trace, first: int, length: int, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "_BLOCK_ROWS", 4)
        write_trace(trace, tmp_path / "trace.pb", force=True)
    with TraceReader(tmp_path / "trace.pb") as reader:
        part = reader.table("slices", window_ns=(first, first + length))
    rows = in_window(trace, first, first + length)
    assert (np.arange(len(trace.slices)) if part.ids is None else part.ids).tolist() == rows
    for name in trace.slices.stored():
        assert getattr(part, name).tobytes() == getattr(trace.slices, name)[rows].tobytes()


def test_a_window_of_hand_made_slices(tmp_path: Path) -> None:
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread")
    #          ends as the window starts, reaches in, empty at its start, inside, starts as it ends, never ended
    builder["slices"].append(ts_ns=[0, 1, 10, 12, 20, 5], dur_ns=[10, 10, 0, 3, 5, -1], track=track)
    write_trace(builder.finish(), tmp_path / "trace.pb")
    with TraceReader(tmp_path / "trace.pb") as reader:
        part = reader.table("slices", window_ns=(10, 20))
    assert part.ts_ns.tolist() == [1, 5, 10, 12]
    assert part.ids is not None
    assert part.ids.tolist() == [1, 2, 3, 4]


def test_columns_not_asked_for_are_unknown(tmp_path: Path) -> None:
    write_trace(small_trace(), tmp_path / "trace.pb")
    with TraceReader(tmp_path / "trace.pb") as reader:
        part = reader.table("slices", columns=["ts_ns", "correlation"])
    assert part.ts_ns.tolist() == [*range(0, 4000, 100)] * 3
    assert part.correlation.tolist() == [*range(0, 120, 3)] * 3
    assert set(part.dur_ns.tolist()) == {-1}
    assert set(part.name.tolist()) == {0}


def test_tracks_are_read_alone_and_keep_their_ids(tmp_path: Path) -> None:
    write_trace(small_trace(), tmp_path / "trace.pb")
    with TraceReader(tmp_path / "trace.pb") as reader:
        part = reader.table("slices", tracks=[2])
    assert part.ids is not None
    assert part.ids.tolist() == list(range(40, 80))
    assert set(part.track.tolist()) == {2}


def test_a_part_read_alone_has_no_nesting(tmp_path: Path) -> None:
    write_trace(small_trace(), tmp_path / "trace.pb")
    with TraceReader(tmp_path / "trace.pb") as reader:
        part = reader.table("slices", tracks=[2])
    with pytest.raises(AttributeError, match="no column 'depth'"):
        _ = part.depth
    assert "depth" not in part.to_pandas()
    assert part.to_pandas().index.tolist() == list(range(40, 80))


def test_a_column_that_is_not_stored_is_an_error(tmp_path: Path) -> None:
    write_trace(small_trace(), tmp_path / "trace.pb")
    with TraceReader(tmp_path / "trace.pb") as reader:
        for column in ("depth", "nonsense"):
            with pytest.raises(ValueError, match=f"stores no column '{column}'"):
                reader.table("slices", columns=[column])


def test_a_table_the_file_does_not_have_is_empty(tmp_path: Path) -> None:
    write_trace(small_trace(), tmp_path / "trace.pb")
    with TraceReader(tmp_path / "trace.pb") as reader:
        assert len(reader.table("compiles")) == 0
        assert reader.row_counts == {"tracks": 5, "slices": 120, "instants": 15, "counters": 8, "flows": 27}
