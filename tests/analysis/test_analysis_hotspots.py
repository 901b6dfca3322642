"""Hotspots and time by category, with the numbers worked out beside the traces."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import Script, untimed

from neuron_profile.analysis import hotspots, records, time_by_category
from trace_format import CATEGORIES, Trace, TraceBuilder

COLUMNS = [
    "name", "category", "count", "total_ns", "self_ns", "mean_ns", "p50_ns", "p95_ns", "max_ns", "share_ratio",
]  # fmt: skip


def linear_on_a_device() -> Script:
    """A step on the host with two linears, and the two kernels they launch.

    linear [10, 60) holds mm [20, 40) and its launch [25, 30): linear 50 - 20 = 30 of its own, mm 20 - 5 = 15.
    linear [110, 150) holds nothing: 40. Together linear 90 in all, 70 of its own; mm 15; launch 5.
    """
    script = Script()
    host, device = script.track(), script.stream()
    script.add(host, "ProfilerStep#0", "annotation", 0, 200)
    script.add(host, "aten::linear", "host_op", 10, 50)
    script.add(host, "aten::mm", "host_op", 20, 20)
    script.add(host, "cudaLaunchKernel", "runtime", 25, 5)
    script.add(host, "aten::linear", "host_op", 110, 40)
    script.add(device, "gemm", "compute", 50, 30)
    script.add(device, "gemm", "compute", 100, 20)
    script.add(device, "Memcpy HtoD", "memcpy", 130, 150)
    return script


def rows(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """The rows without the percentiles, which have tests of their own."""
    return [tuple(row.values()) for row in records(frame.drop(columns=["p50_ns", "p95_ns"], errors="ignore"))]


def test_work_of_the_device_comes_first_and_each_side_is_ordered_by_self_time() -> None:
    frame = hotspots(linear_on_a_device().trace())
    # device: 150 + 50 = 200; host: 70 + 15 + 5 = 90
    assert rows(frame) == [
        ("Memcpy HtoD", "memcpy", 1, 150, 150, 150.0, 150, 150 / 200),
        ("gemm", "compute", 2, 50, 50, 25.0, 30, 50 / 200),
        ("aten::linear", "host_op", 2, 90, 70, 45.0, 50, 70 / 90),
        ("aten::mm", "host_op", 1, 20, 15, 20.0, 20, 15 / 90),
        ("cudaLaunchKernel", "runtime", 1, 5, 5, 5.0, 5, 5 / 90),
    ]
    assert frame.attrs == {"device_rows": 2, "device_self_ns": 200, "host_self_ns": 90, "unfinished": 0}


def test_top_keeps_the_first_rows_and_their_shares_of_the_whole() -> None:
    whole, top = hotspots(linear_on_a_device().trace()), hotspots(linear_on_a_device().trace(), top=3)
    pd.testing.assert_frame_equal(top, whole.head(3), check_like=False)
    assert top.attrs["device_rows"] == 2
    assert hotspots(linear_on_a_device().trace(), top=1).attrs["device_rows"] == 1


def test_by_category_keeps_annotations_which_share_in_nothing() -> None:
    frame = hotspots(linear_on_a_device().trace(), by="category")
    # the annotation's own time: 200 less 50 and 40; the host's work 85 + 5
    assert rows(frame) == [
        ("memcpy", "memcpy", 1, 150, 150, 150.0, 150, 150 / 200),
        ("compute", "compute", 2, 50, 50, 25.0, 30, 50 / 200),
        ("annotation", "annotation", 1, 200, 110, 200.0, 200, None),
        ("host_op", "host_op", 3, 110, 85, 110 / 3, 50, 85 / 90),
        ("runtime", "runtime", 1, 5, 5, 5.0, 5, 5 / 90),
    ]
    assert frame.attrs["host_self_ns"] == 90


def test_by_track_names_the_category_that_takes_most_of_the_self_time() -> None:
    script = linear_on_a_device()
    frame = hotspots(script.trace(), by="track")
    # stream 7: memcpy 150 against compute 50; thread 1: host_op 85 against runtime 5
    assert rows(frame) == [
        ("stream 7", "memcpy", 3, 200, 200, 200 / 3, 150, 1.0),
        ("thread 1", "host_op", 4, 90, 90, 115 / 4, 50, 1.0),  # the step is no work; mm and the launch lie in linear
    ]


def test_a_track_is_named_after_the_tracks_it_lies_under() -> None:
    script = Script()
    process = script.track("python 12", kind="other")
    thread = script.track("thread 13", parent=process)
    script.add(thread, "aten::mm", "host_op", 0, 1)
    assert hotspots(script.trace(), by="track")["name"].tolist() == ["python 12 / thread 13"]


def test_one_name_in_two_categories_has_two_rows() -> None:
    script = Script()
    host = script.track()
    script.add(host, "copy", "host_op", 0, 10)
    script.add(host, "copy", "python", 10, 30)
    assert rows(hotspots(script.trace())) == [
        ("copy", "python", 1, 30, 30, 30.0, 30, 30 / 40),
        ("copy", "host_op", 1, 10, 10, 10.0, 10, 10 / 40),
    ]


def test_a_slice_that_did_not_finish_counts_without_a_time() -> None:
    script = Script()
    host = script.track()
    script.add(host, "a", "host_op", 0, 10)
    script.add(host, "a", "host_op", 20, -1)
    script.add(host, "b", "host_op", 30, -1)
    frame = hotspots(script.trace())
    assert rows(frame) == [("a", "host_op", 2, 10, 10, 10.0, 10, 1.0), ("b", "host_op", 1, 0, 0, None, None, 0.0)]
    assert frame.attrs["unfinished"] == 2
    assert math.isnan(frame["mean_ns"][1])
    assert frame["max_ns"][1] == -1


def test_a_percentile_is_the_shortest_duration_that_so_many_do_not_exceed() -> None:
    script = Script()
    host = script.track()
    start = 0
    for dur in [7, 3, *range(100, 118), 9, 1]:  # 1 3 7 9 and 100 to 117: 22 in all, and one that did not finish
        script.add(host, "a", "host_op", start, dur)
        start += dur
    script.add(host, "b", "host_op", start, 40)
    script.add(host, "a", "host_op", start + 50, -1)
    frame = hotspots(script.trace()).set_index("name")
    # half of 22 are 11: the 11th of them, 106; 95 % are 20.9: the 21st, 116
    assert frame.loc["a", ["p50_ns", "p95_ns", "max_ns"]].tolist() == [106, 116, 117]
    assert frame.loc["b", ["p50_ns", "p95_ns", "max_ns"]].tolist() == [40, 40, 40]


def test_percentiles_of_slices_that_did_not_finish_are_unknown() -> None:
    script = Script()
    script.add(script.track(), "a", "host_op", 0, -1)
    frame = hotspots(script.trace())
    assert frame[["p50_ns", "p95_ns"]].to_numpy().tolist() == [[-1, -1]]
    assert (records(frame)[0]["p50_ns"], records(frame)[0]["p95_ns"]) == (None, None)


def test_percentiles_of_times_that_fill_an_int64_are_exact() -> None:
    script = Script()
    for number, dur in enumerate((2**62, 2**62 + 1, 2**62 + 2)):
        script.add(script.track(f"thread {number}"), "a", "host_op", 0, dur)
    frame = hotspots(script.trace())
    assert (frame["p50_ns"][0], frame["p95_ns"][0]) == (2**62 + 1, 2**62 + 2)


def test_a_share_of_nothing_is_unknown() -> None:
    script = Script()
    script.add(script.track(), "mark", "host_op", 5, 0)
    assert rows(hotspots(script.trace())) == [("mark", "host_op", 1, 0, 0, 0.0, 0, None)]


@pytest.mark.parametrize("kind", ["semaphore", "throttle", "device_annotation", "other", "async"])
def test_waits_and_ranges_and_tracks_of_no_clear_kind_are_no_work(kind: str) -> None:
    script = linear_on_a_device()
    script.add(script.track("beside", kind=kind), "wait", "other", 0, 10_000)
    pd.testing.assert_frame_equal(hotspots(script.trace()), hotspots(linear_on_a_device().trace()))


@pytest.mark.parametrize("kind", ["other", "async"])
def test_tracks_of_no_clear_kind_are_host_work_where_there_are_no_others(kind: str) -> None:
    script = Script()
    script.add(script.track("worker", kind=kind), "task", "other", 0, 10)
    assert rows(hotspots(script.trace())) == [("task", "other", 1, 10, 10, 10.0, 10, 1.0)]


@pytest.mark.parametrize("by", ["name", "category", "track", "op"])
def test_a_trace_without_slices_gives_an_empty_frame_with_the_same_columns(by: str) -> None:
    empty, full = hotspots(TraceBuilder().finish(), by=by), hotspots(linear_on_a_device().trace(), by=by)
    assert list(empty.columns) == COLUMNS
    assert len(empty) == 0
    assert empty.dtypes.to_dict() == full.dtypes.to_dict()


def test_an_unknown_grouping_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="cannot group by 'colour': choose one of name, category"):
        hotspots(TraceBuilder().finish(), by="colour")


def test_times_beyond_what_a_double_holds_are_summed_exactly() -> None:
    script = Script()
    host = script.track()
    long = 2**60 + 1
    script.add(host, "a", "host_op", 0, long)
    script.add(host, "a", "host_op", long, long)
    assert hotspots(script.trace())["total_ns"].tolist() == [2**61 + 2]


def test_time_by_category_leaves_annotations_out_and_its_shares_are_whole() -> None:
    frame = time_by_category(linear_on_a_device().trace())
    assert list(frame.columns) == ["side", "category", "count", "self_ns", "share_ratio"]
    assert rows(frame) == [
        ("device", "memcpy", 1, 150, 150 / 200),
        ("device", "compute", 2, 50, 50 / 200),
        ("host", "host_op", 3, 85, 85 / 90),
        ("host", "runtime", 1, 5, 5 / 90),
    ]
    assert frame.attrs == {"device_self_ns": 200, "host_self_ns": 90, "unfinished": 0}


def test_time_by_category_of_nothing_has_its_columns() -> None:
    frame = time_by_category(TraceBuilder().finish())
    assert list(frame.columns) == ["side", "category", "count", "self_ns", "share_ratio"]
    assert len(frame) == 0


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Slices of few names on a few tracks, nested, overlapping, without duration or end."""
    script = Script()
    tracks = [script.track("host"), script.stream("device"), script.track("beside", kind="semaphore")]
    event = st.tuples(
        st.sampled_from(tracks), st.sampled_from("abc"), st.sampled_from(["host_op", "compute", "annotation"]),
        st.integers(0, 50), st.integers(-1, 30),
    )  # fmt: skip
    for track, name, category, start, dur in draw(st.lists(event, max_size=25)):
        script.add(track, name, category, start, dur)
    return script.trace()


@untimed
@given(traces())
def test_hotspots_agree_with_adding_up_one_by_one(trace: Trace) -> None:
    naive: dict[tuple[int, str, str], list[int]] = defaultdict(lambda: [0, 0, 0, -1])
    slices = trace.slices
    for name, category, track, dur, self_ns in zip(
        slices.text("name"), slices.text("category"), slices.track.tolist(), slices.dur_ns.tolist(),
        slices.self_ns.tolist(), strict=True,
    ):  # fmt: skip
        if category != "annotation" and track < 2:
            row = naive[1 - track, name, category]
            row[0], row[1], row[2] = row[0] + 1, row[1] + max(dur, 0), row[2] + max(self_ns, 0)
            row[3] = max(row[3], dur)
    frame = hotspots(trace)
    side = np.where(np.arange(len(frame)) < frame.attrs["device_rows"], 0, 1)
    found = {
        (s, row["name"], row["category"]): [row["count"], row["total_ns"], row["self_ns"], row["max_ns"]]
        for s, row in zip(side.tolist(), frame.to_dict("records"), strict=True)
    }
    assert found == naive
    assert (frame["self_ns"] <= frame["total_ns"]).all()
    for part in (frame[side == 0], frame[side == 1]):
        assert part["self_ns"].is_monotonic_decreasing
        if part["self_ns"].sum():
            assert part["share_ratio"].sum() == pytest.approx(1)


@untimed
@given(traces())
def test_percentiles_agree_with_sorting_each_row_by_itself(trace: Trace) -> None:
    durations: dict[tuple[int, int], list[int]] = defaultdict(list)
    slices = trace.slices
    for category, track, dur in zip(
        slices.category.tolist(), slices.track.tolist(), slices.dur_ns.tolist(), strict=True
    ):
        if dur >= 0 and track < 2:
            durations[track, category].append(dur)
    frame = hotspots(trace, by="category")
    for number, row in enumerate(frame.to_dict("records")):
        track = 1 if number < frame.attrs["device_rows"] else 0
        ordered = sorted(durations[track, CATEGORIES.index(row["name"])])
        for percent in (50, 95):
            least = next((d for i, d in enumerate(ordered, 1) if 100 * i >= percent * len(ordered)), -1)
            assert row[f"p{percent}_ns"] == least


@untimed
@given(traces())
def test_every_grouping_divides_the_same_work(trace: Trace) -> None:
    shares = time_by_category(trace).groupby("side")["share_ratio"].sum()
    assert all(share == pytest.approx(1) or share == 0 for share in shares)
    by_name, by_track = hotspots(trace), hotspots(trace, by="track")
    for column in ("count", "self_ns"):
        assert by_name[column].sum() == by_track[column].sum()
    assert set(by_name["category"]) <= set(CATEGORIES)


def modules_in_modules() -> Script:
    """Net [0, 100) holds Block [10, 60), which holds Net [20, 50) again with mm [30, 40) in it, and relu [70, 80).
    add [200, 210) with add_ in it is outside.

    Net: all of [0, 100); Block: [10, 60); outside: [200, 210). mm and relu count for Net.
    """
    script = Script()
    host = script.track()
    script.add(host, "nn.Module: Net", "python", 0, 100)
    script.add(host, "nn.Module: Block", "python", 10, 50)
    script.add(host, "nn.Module: Net", "python", 20, 30)
    script.add(host, "aten::mm", "host_op", 30, 10)
    script.add(host, "aten::relu", "host_op", 70, 10)
    script.add(host, "aten::add", "host_op", 200, 10)
    script.add(host, "aten::add_", "host_op", 202, 5)
    return script


def test_by_module_time_counts_once_however_deep_its_slices_lie() -> None:
    frame = hotspots(modules_in_modules().trace(), by="module").set_index("name")
    assert frame["total_ns"].to_dict() == {"Net": 100, "Block": 50, "(outside any module)": 10}
    assert frame["count"].to_dict() == {"Net": 4, "Block": 1, "(outside any module)": 2}
    # of their own: the outer Net with relu 100 - 50 and all 30 of the inner one; Block 50 - 30
    assert frame["self_ns"].to_dict() == {"Net": 80, "Block": 20, "(outside any module)": 10}
    # the mean of a slice is that of all slices: (100 + 30 + 10 + 10) / 4
    assert frame["mean_ns"]["Net"] == 37.5


def test_by_name_a_recursive_call_counts_once_for_each_level() -> None:
    frame = hotspots(modules_in_modules().trace()).set_index("name")
    assert frame["total_ns"]["nn.Module: Net"] == 130


def test_an_operator_inside_another_call_of_itself_adds_no_time() -> None:
    script = Script()
    host = script.track()
    script.op(host, "aten::mm", 0, 100, [2, 2])
    script.op(host, "aten::addmm", 10, 50, [2, 2])
    script.op(host, "aten::mm", 20, 30, [2, 2])
    script.op(host, "aten::mm", 200, 10, [2, 2])
    frame = hotspots(script.trace(), by="op").set_index("name")
    assert frame["total_ns"].to_dict() == {"aten::mm [2, 2]": 110, "aten::addmm [2, 2]": 50}


def test_what_lies_in_an_unfinished_slice_has_its_time() -> None:
    script = Script()
    host = script.track()
    script.add(host, "outer", "host_op", 0, -1)
    script.add(host, "inner", "host_op", 10, 20)
    assert hotspots(script.trace(), by="track")["total_ns"].tolist() == [20]


@st.composite
def nested_traces(draw: st.DrawFn) -> Trace:
    """Slices that lie whole inside each other or apart, within 40 ns of a thread and of a stream."""
    script = Script()
    kinds = [("nn.Module: A", "python"), ("nn.Module: B", "python"), ("aten::mm", "host_op"), ("t.py(3): f", "python"),
             ("mark", "annotation")]  # fmt: skip

    def fill(track: int, start: int, end: int) -> None:
        while end - start > 1 and draw(st.booleans()):
            first = draw(st.integers(start, end - 1))
            start = draw(st.integers(first, end))
            name, category = draw(st.sampled_from(kinds))
            script.add(track, name, category, first, start - first)
            fill(track, first, start)

    for track in (script.track("host"), script.stream("device")):
        fill(track, 0, 40)
    return script.trace()


@untimed
@given(nested_traces())
def test_no_row_has_more_time_than_its_track(trace: Trace) -> None:
    for by in ("module", "source", "track", "op"):
        assert (hotspots(trace, by=by)["total_ns"] <= 40).all(), by


@untimed
@given(traces())
def test_the_time_of_its_own_is_part_of_the_total(trace: Trace) -> None:
    for by in ("module", "source", "track", "op", "name", "category"):
        frame = hotspots(trace, by=by)
        assert (frame["self_ns"] <= frame["total_ns"]).all(), by
