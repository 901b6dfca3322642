"""A window of a trace is a trace whose slices are cut at the edges."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import Script, untimed

from neuron_profile.analysis import WHOLE_WINDOW, breakdown, cut, hotspots, steps


def test_slices_over_an_edge_are_cut_and_keep_their_share() -> None:
    script = Script()
    track = script.track()
    script.add(track, "before", "host_op", 0, 10)
    script.add(track, "over the start", "host_op", 10, 20, bytes=1000, flops=400.0)
    script.add(track, "inside", "host_op", 30, 5, bytes=7)
    script.add(track, "over the end", "host_op", 35, 10, bytes=-1)
    script.add(track, "after", "host_op", 45, 10)
    found = cut(script.trace(), 25, 40)
    slices = found.trace.slices
    assert slices.text("name") == ["over the start", "inside", "over the end"]
    assert slices.ts_ns.tolist() == [25, 30, 35]
    assert slices.dur_ns.tolist() == [5, 5, 5]
    # a quarter of the first lies in the window; of the third the bytes are unknown
    assert slices.bytes.tolist() == [250, 7, -1]
    assert slices.flops[0] == 100.0
    assert found.slice_rows.tolist() == [1, 2, 3]


def test_a_slice_that_did_not_finish_belongs_to_its_start() -> None:
    script = Script()
    track = script.track()
    script.add(track, "early", "host_op", 0, -1)
    script.add(track, "in it", "host_op", 10, -1)
    found = cut(script.trace(), 5, 20).trace
    assert (found.slices.text("name"), found.slices.dur_ns.tolist()) == (["in it"], [-1])


def test_a_slice_without_length_and_one_that_ends_where_the_window_begins() -> None:
    script = Script()
    track = script.track()
    script.add(track, "ends there", "host_op", 0, 5)
    script.add(track, "moment", "host_op", 5, 0)
    script.add(track, "at the end", "host_op", 10, 0)
    assert cut(script.trace(), 5, 10).trace.slices.text("name") == ["moment"]


def test_nesting_survives_where_outer_and_inner_begin_together() -> None:
    script = Script()
    track = script.track()
    script.add(track, "outer", "host_op", 0, 100)
    script.add(track, "middle", "host_op", 5, 60)
    script.add(track, "inner", "host_op", 6, 90)  # overlaps middle in part, and lasts longer
    found = cut(script.trace(), 20, 200).trace.slices
    assert found.text("name") == ["outer", "inner", "middle"]
    assert found.parent.tolist() == [-1, 0, 1]


def test_what_refers_to_slices_follows_them() -> None:
    script = Script()
    track = script.track()
    rows = [script.add(track, name, "collective", start, 10) for name, start in (("a", 0), ("b", 20), ("c", 35))]
    script.builder["flows"].append(from_slice=[rows[0], rows[1]], to_slice=[rows[1], rows[2]])
    script.builder["collectives"].append(slice=rows, in_bytes=[8, 16, 32], out_bytes=[8, 16, 32])
    found = cut(script.trace(), 15, 40).trace
    assert (found.flows.from_slice.tolist(), found.flows.to_slice.tolist()) == ([0], [1])
    assert found.collectives.slice.tolist() == [0, 1]
    # the last is cut: half of it was seen, its rate is unknown
    assert found.collectives.in_bytes.tolist() == [16, -1]


def test_a_counter_keeps_the_value_that_held_at_the_start() -> None:
    script = Script()
    first, second = script.track("a", kind="counter"), script.track("b", kind="counter")
    script.builder["counters"].append(track=[first] * 3, ts_ns=[0, 8, 30], value=[1.0, 2.0, 3.0])
    script.builder["counters"].append(track=[second] * 2, ts_ns=[12, 50], value=[5.0, 6.0])
    counters = cut(script.trace(), 10, 40).trace.counters
    assert counters.ts_ns.tolist() == [10, 30, 12]
    assert counters.value.tolist() == [2.0, 3.0, 5.0]


def test_memory_keeps_what_was_allocated_at_the_start() -> None:
    script = Script()
    script.memory("cuda:0", (0, 100, 100), (5, 50, 150), (30, -50, 100))
    memory = cut(script.trace(), 10, 40).trace.memory
    # 150 bytes were allocated when the window began; nothing was allocated at that moment
    assert memory.ts_ns.tolist() == [10, 30]
    assert memory.total_bytes.tolist() == [150, 100]
    assert memory.delta_bytes.tolist() == [0, -50]


def test_steps_in_a_window_are_whole_ones() -> None:
    script = Script()
    host = script.track()
    for step, start in enumerate((0, 100, 200)):
        script.add(host, f"ProfilerStep#{step}", "annotation", start, 100)
    assert steps(cut(script.trace(), 50, 300).trace)["step"].tolist() == [1, 2]
    inside_one = steps(cut(script.trace(), 120, 180).trace)
    assert inside_one[["name", "start_ns", "end_ns"]].values.tolist() == [[WHOLE_WINDOW, 120, 180]]


def test_what_a_slice_says_of_all_of_itself_is_not_said_of_a_part() -> None:
    script = Script()
    script.add(script.track(), "aten::mm", "host_op", 0, 10, args={"Input Dims": [[2, 3], [3, 4]]})
    trace = script.trace()
    assert trace.pool.args(int(cut(trace, 0, 10).trace.slices.args[0])) != {}
    assert trace.pool.args(int(cut(trace, 5, 10).trace.slices.args[0])) == {}


def test_an_empty_window_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        cut(Script().trace(), 5, 5)


@untimed
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60), st.integers(0, 40)), max_size=30),
    st.lists(st.integers(1, 99), min_size=1, max_size=4, unique=True),
)
def test_the_time_of_windows_side_by_side_adds_up(given: list[tuple[int, int, int]], edges: list[int]) -> None:
    script = Script()
    tracks = [script.track(f"t{i}") for i in range(3)]
    for track, start, dur in sorted(given, key=lambda s: (s[0], s[1], -s[2])):
        script.add(tracks[track], "op", "host_op", start, dur)
    trace = script.trace()
    bounds = [0, *sorted(edges), 100]
    parts = [cut(trace, a, b).trace for a, b in itertools.pairwise(bounds)]
    assert sum(int(part.slices.dur_ns.sum()) for part in parts) == int(trace.slices.dur_ns.sum())
    for part in parts:
        assert (part.slices.self_ns >= 0).all()
        keys = list(
            zip(part.slices.track.tolist(), part.slices.ts_ns.tolist(), (-part.slices.dur_ns).tolist(), strict=True)
        )
        for track in range(3):
            mine = [key for key in keys if key[0] == track]
            assert mine == sorted(mine)


def test_an_analysis_of_the_part_is_that_of_the_window() -> None:
    script = Script()
    host, stream = script.track(), script.stream(device=0)
    script.add(host, "ProfilerStep#1", "annotation", 0, 100)
    script.add(stream, "gemm", "compute", 10, 60)
    part = cut(script.trace(), 40, 80).trace
    row = breakdown(part).iloc[0]
    assert (row["total_ns"], row["compute_ns"]) == (40, 30)
    assert hotspots(part)["total_ns"].tolist() == [30]
