"""Tables as numpy columns and as DataFrames, and the builder that orders them."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest

from trace_format import Pool, Trace, TraceBuilder
from trace_format.tables import TABLES, Slices


def two_threads() -> Trace:
    builder = TraceBuilder()
    process = builder.track("python", pid=3)
    main = builder.track("main", kind="host_thread", parent=process, pid=3, tid=4)
    other = builder.track("other", kind="host_thread", parent=process, pid=3, tid=5)
    names = builder.pool.strings.ids(["inner", "outer", "elsewhere"])
    first = builder["slices"].append(
        ts_ns=[5, 0, 1],
        dur_ns=[5, 20, 3],
        track=[main, main, other],
        name=names,
        stack=builder.pool.stack_id(["f", "g"]),
    )
    builder["flows"].append(from_slice=[first, first + 2], to_slice=[first + 2, -1], kind=builder.string("ac2g"))
    builder["memory"].append(ts_ns=[9, 2], delta_bytes=[-8, 8], device=builder.string("cpu"))
    return builder.finish(metadata={"host": "here"})


def test_slices_are_ordered_by_track_and_time_and_flows_follow_them() -> None:
    trace = two_threads()
    assert trace.slices.text("name") == ["outer", "inner", "elsewhere"]
    assert trace.slices.depth.tolist() == [0, 1, 0]
    assert trace.slices.self_ns.tolist() == [15, 5, 3]
    assert trace.flows.from_slice.tolist() == [1, 2]
    assert trace.flows.to_slice.tolist() == [2, -1]
    assert trace.memory.delta_bytes.tolist() == [8, -8]


def test_a_longer_slice_comes_before_a_shorter_one_that_starts_with_it() -> None:
    builder = TraceBuilder()
    track = builder.track("t")
    builder["slices"].append(ts_ns=[0, 0, 0], dur_ns=[1, -1, 9], track=track)
    assert builder.finish().slices.dur_ns.tolist() == [-1, 9, 1]


def test_frames_have_the_row_number_as_index_and_text_as_categoricals() -> None:
    frame = two_threads().slices.to_pandas()
    assert frame.index.equals(pd.RangeIndex(3))
    assert list(frame.columns) == list(Slices.COLUMNS)
    assert frame.name.tolist() == ["outer", "inner", "elsewhere"]
    assert isinstance(frame.name.dtype, pd.CategoricalDtype)
    assert frame["stack"].tolist() == ["f;g"] * 3
    assert frame.category.tolist() == ["other"] * 3
    assert frame.groupby("name", observed=True).dur_ns.sum().to_dict() == {"outer": 20, "inner": 5, "elsewhere": 3}


def test_every_table_of_an_empty_trace_has_its_columns() -> None:
    trace = TraceBuilder().finish()
    for name, kind in TABLES.items():
        frame = trace.tables()[name].to_pandas()
        assert list(frame.columns) == list(kind.COLUMNS)
        assert len(frame) == 0
    assert trace.time_range_ns is None


def test_the_time_range_takes_everything_that_has_a_time() -> None:
    assert two_threads().time_range_ns == (0, 20)


def test_tables_cannot_be_changed() -> None:
    slices = two_threads().slices
    with pytest.raises(ValueError, match="read-only"):
        slices.ts_ns[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        slices.depth[0] = 1


def test_a_chunk_with_a_column_the_table_lacks_is_refused() -> None:
    builder = TraceBuilder()
    with pytest.raises(ValueError, match="no column 'colour'"):
        builder["slices"].append(colour=[1])
    with pytest.raises(ValueError, match="no column 'depth'"):
        builder["slices"].append(depth=[1])
    with pytest.raises(ValueError, match="has 2 rows, not 1"):
        builder["slices"].append(ts_ns=[1], dur_ns=[1, 2])


def test_a_column_that_some_chunks_lack_is_unknown_there() -> None:
    builder = TraceBuilder()
    track = builder.track("t")
    builder["slices"].append(ts_ns=[0], track=track, correlation=[7])
    builder["slices"].append(ts_ns=[1, 2], track=track, flops=[1.0, 2.0])
    slices = builder.finish().slices
    assert slices.correlation.tolist() == [7, -1, -1]
    assert np.isnan(slices.flops[0])
    assert slices.flops[1:].tolist() == [1.0, 2.0]


def test_interned_values_keep_their_ids() -> None:
    pool = Pool()
    assert pool.strings.ids(["a", "", "b", "a"]) == [1, 0, 2, 1]
    assert pool.strings.find("b") == 2
    assert pool.strings.find("c") == -1
    assert pool.args(pool.arg_sets.id(b'{"Input Dims": [[2, 3]]}')) == {"Input Dims": [[2, 3]]}
    assert pool.args(0) == {}


def test_an_unknown_column_is_named_in_the_error() -> None:
    with pytest.raises(AttributeError, match="'slices' has no column 'durations'"):
        _ = two_threads().slices.durations


def test_a_part_keeps_the_nesting_of_the_whole() -> None:
    slices = two_threads().slices
    part = slices.take(np.array([1]))
    assert part.depth.tolist() == [1]
    assert part.parent.tolist() == [0]  # the id of the row in the whole table
    frame = part.take(np.array([0])).to_pandas()
    assert (frame.index.tolist(), frame.depth.tolist(), frame.self_ns.tolist()) == ([1], [1], [5])


def test_tables_can_be_copied() -> None:
    slices = two_threads().slices
    assert copy.copy(slices).ts_ns.tolist() == slices.ts_ns.tolist()
    assert copy.deepcopy(slices).text("name") == slices.text("name")
