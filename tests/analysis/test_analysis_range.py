"""What happened in a range."""

from __future__ import annotations

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from script import Script, untimed
from test_analysis_hotspots import linear_on_a_device, rows, traces

from neuron_profile.analysis import hotspots, range_summary
from trace_format import Trace, TraceBuilder


def test_durations_and_self_times_are_clipped_to_the_range() -> None:
    # of [0, 200): linear [10, 60) keeps [30, 55) = 25; mm [20, 40) keeps 10, its launch [25, 30) nothing;
    # linear of its own 25 - 10 = 15; gemm [50, 80) keeps 5
    assert rows(range_summary(linear_on_a_device().trace(), 30, 55)) == [
        ("gemm", "compute", 1, 5, 5, 5.0, 5, 1.0),
        ("aten::linear", "host_op", 1, 25, 15, 25.0, 25, 15 / 25),
        ("aten::mm", "host_op", 1, 10, 10, 10.0, 10, 10 / 25),
    ]


def test_a_slice_that_ends_where_the_range_starts_is_not_in_it() -> None:
    assert rows(range_summary(linear_on_a_device().trace(), 60, 61)) == [("gemm", "compute", 1, 1, 1, 1.0, 1, 1.0)]


def test_a_moment_is_in_the_range_that_starts_with_it() -> None:
    script = Script()
    script.add(script.track(), "mark", "host_op", 10, 0)
    trace = script.trace()
    assert len(range_summary(trace, 10, 11)) == 1
    assert len(range_summary(trace, 9, 10)) == 0


def test_an_unfinished_slice_counts_from_its_start_on() -> None:
    script = Script()
    script.add(script.track(), "stuck", "host_op", 10, -1)
    trace = script.trace()
    assert len(range_summary(trace, 0, 10)) == 0
    frame = range_summary(trace, 50, 60)
    assert rows(frame) == [("stuck", "host_op", 1, 0, 0, None, None, None)]
    assert frame.attrs["unfinished"] == 1


def test_a_range_without_work_and_an_empty_trace_give_the_columns() -> None:
    full = hotspots(linear_on_a_device().trace())
    for frame in (range_summary(linear_on_a_device().trace(), -9, -5), range_summary(TraceBuilder().finish(), 0, 9)):
        assert len(frame) == 0
        assert frame.dtypes.to_dict() == full.dtypes.to_dict()


@untimed
@given(traces())
def test_the_whole_window_gives_the_hotspots(trace: Trace) -> None:
    pd.testing.assert_frame_equal(range_summary(trace, -1, 1000), hotspots(trace))


def _covered(intervals: list[tuple[int, int]]) -> int:
    return len({moment for start, end in intervals for moment in range(start, end)})


@untimed
@given(traces(), st.integers(-5, 60), st.integers(1, 60))
def test_clipped_self_times_agree_with_counting_nanoseconds(trace: Trace, start: int, length: int) -> None:
    slices, end = trace.slices, start + length
    spans = [(int(t), int(t) + max(int(d), 0)) for t, d in zip(slices.ts_ns, slices.dur_ns, strict=True)]
    clipped = [(max(s, start), max(max(s, start), min(e, end))) for s, e in spans]
    expected_total = expected_self = 0
    for row, (s, e) in enumerate(clipped):
        if slices.dur_ns[row] < 0 or slices.text("category")[row] == "annotation" or slices.track[row] == 2:
            continue
        # an unfinished child has no time that could be taken from its parent's
        children = [clipped[c] for c in range(len(spans)) if slices.parent[c] == row and slices.dur_ns[c] > 0]
        expected_total += e - s
        expected_self += e - s - _covered(children)
    frame = range_summary(trace, start, end)
    assert frame["total_ns"].sum() == expected_total
    assert frame["self_ns"].sum() == expected_self
