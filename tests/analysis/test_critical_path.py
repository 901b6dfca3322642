"""The critical path of constructed traces, worked out by hand, and what shortening its parts returns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import Script, untimed

from neuron_profile import load
from neuron_profile.analysis import CriticalPath, critical_path
from neuron_profile.analysis.critical_path import window as windows
from neuron_profile.analysis.critical_path.graph import Graph
from neuron_profile.analysis.critical_path.resimulation import resimulated
from trace_format import NeuronProfileError, Trace


class Program(Script):
    """One process: the program's thread, and streams of device 0."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = self.track("main", pid=1, tid=1)
        self._streams: dict[int, int] = {}
        self._correlation = 100

    def run(self, name: str, start: int, end: int, category: str = "host_op", *, track: int | None = None) -> int:
        return self.add(self.thread if track is None else track, name, category, start, end - start)

    def call(self, name: str, start: int, end: int, correlation: int = -1) -> int:
        return self.add(self.thread, name, "runtime", start, end - start, correlation=correlation)

    def launch(self, call: tuple[int, int], name: str, work: tuple[int, int], *, stream: int = 7,
               category: str = "compute") -> int:  # fmt: skip
        self._correlation += 1
        self.call("cudaLaunchKernel", *call, self._correlation)
        if stream not in self._streams:
            self._streams[stream] = self.stream(f"stream {stream}", pid=0, tid=stream, device=0)
        return self.add(self._streams[stream], name, category, work[0], work[1] - work[0],
                        correlation=self._correlation)  # fmt: skip


def told(path: CriticalPath) -> list[tuple[int, int, str, str]]:
    frame = path.segments
    return list(zip(frame["start_ns"], frame["end_ns"], frame["kind"], frame["name"], strict=True))


def by_kind(path: CriticalPath) -> dict[str, int]:
    totals = path.totals
    return {kind: ns for kind, ns in zip(totals["kind"], totals["total_ns"], strict=True) if ns}


def test_work_that_began_as_soon_as_it_was_launched_leads_back_to_the_host() -> None:
    program = Program()
    program.run("a", 0, 40)
    program.launch((10, 20), "k1", (25, 30))
    program.run("b", 40, 80)
    program.launch((50, 60), "k2", (66, 90))
    path = critical_path(program.trace())
    assert told(path) == [
        (0, 10, "host", "a"), (10, 20, "host", "cudaLaunchKernel"), (20, 40, "host", "a"), (40, 50, "host", "b"),
        (50, 66, "launch delay", "k2"), (66, 90, "device compute", "k2"),
    ]  # fmt: skip
    assert by_kind(path) == {"host": 50, "launch delay": 16, "device compute": 24}
    assert path.totals["share_ratio"].sum() == pytest.approx(1)
    assert path.totals.attrs["chosen_by"] == "whole window"
    # all that follows "a" comes 10 earlier; "b" is 30 long but for its call, and only 10 of that lie before k2's launch
    assert path.what_if(name="a", less_ns=10).window_ns == 80
    # k2 can return no more than 10: then the host, which ends at 80, is last
    assert path.what_if(name="k2", less_ns=5).returned_ns == 5
    assert path.what_if(name="k2", factor=0).returned_ns == 10
    assert path.what_if(name="k1", factor=0).returned_ns == 0
    # slower: k1 ends at 130 and k2 begins then
    assert path.what_if(name="k1", less_ns=-100).window_ns == 154


def test_work_that_waited_in_its_stream_leads_back_along_the_stream() -> None:
    program = Program()
    program.launch((0, 4), "k1", (10, 60))
    program.launch((5, 9), "k2", (60, 100))
    program.run("free", 9, 20)
    path = critical_path(program.trace())
    assert told(path) == [
        (0, 10, "launch delay", "k1"), (10, 60, "device compute", "k1"), (60, 100, "device compute", "k2"),
    ]  # fmt: skip
    assert path.what_if(name="k1", less_ns=30).window_ns == 70
    assert path.what_if(name="k2", factor=0.5).window_ns == 80
    assert path.what_if(name="free", factor=0).returned_ns == 0
    found = path.returns()
    assert found.to_dict("list") == {
        "kind": ["device compute"] * 2, "name": ["k1", "k2"], "path_ns": [50, 40], "halved_ns": [25, 20],
        "removed_ns": [50, 40],
    }  # fmt: skip


def test_queued_work_comes_no_sooner_after_its_launch_than_the_shortest_launch_takes() -> None:
    program = Program()
    program.launch((0, 2), "k0", (4, 6))
    program.launch((10, 12), "k1", (15, 60))  # into an empty stream: a launch takes 5
    program.launch((40, 42), "k2", (60, 100))
    path = critical_path(program.trace())
    # without k1 its successor would start at 40 + 5 and not at 15
    assert path.what_if(name="k1", factor=0).window_ns == 85
    assert path.what_if(name="k1", less_ns=10).window_ns == 90


def test_a_call_that_waits_for_the_device_leads_back_to_the_work_it_waited_for() -> None:
    program = Program()
    program.launch((0, 4), "k", (6, 50))
    program.call("cudaDeviceSynchronize", 10, 55)
    program.run("after", 55, 70)
    path = critical_path(program.trace())
    assert told(path) == [
        (0, 6, "launch delay", "k"), (6, 50, "device compute", "k"), (50, 55, "sync wait", "cudaDeviceSynchronize"),
        (55, 70, "host", "after"),
    ]  # fmt: skip
    assert path.what_if(name="k", less_ns=20).window_ns == 50
    # the call cannot come before 10, and takes 5 to return: 40 of 44 come back
    assert [path.what_if(name="k", less_ns=ns).returned_ns for ns in (39, 40, 41, 44)] == [39, 40, 40, 40]
    assert path.what_if(name="cudaDeviceSynchronize", factor=0).returned_ns == 5


def test_a_call_that_waited_for_nothing_is_the_hosts() -> None:
    program = Program()
    program.launch((0, 4), "k", (6, 9))
    program.call("cudaDeviceSynchronize", 20, 30)
    assert by_kind(critical_path(program.trace())) == {"host": 14, "gap": 16}


def test_an_operator_waits_where_its_call_was_not_recorded() -> None:
    program = Program()
    program.launch((0, 4), "k", (6, 50))
    program.run("aten::_local_scalar_dense", 10, 52)
    assert by_kind(critical_path(program.trace())) == {"launch delay": 6, "device compute": 44, "sync wait": 2}


def test_a_copy_that_ended_before_its_call_did_was_waited_for() -> None:
    program = Program()
    program.call("cudaMemcpyAsync", 0, 30, 1)
    stream = program.stream("stream 7", pid=0, tid=7, device=0)
    program.add(stream, "Memcpy DtoH", "memcpy", 12, 8, correlation=1)
    program.run("after", 30, 40)
    path = critical_path(program.trace())
    assert told(path) == [
        (0, 12, "launch delay", "Memcpy DtoH"), (12, 20, "copy", "Memcpy DtoH"),
        (20, 30, "sync wait", "cudaMemcpyAsync"), (30, 40, "host", "after"),
    ]  # fmt: skip


def two_streams(*, recorded: bool, **odd: Any) -> Trace:
    program = Program()
    program.launch((0, 2), "A", (10, 50))
    program.call("cudaEventRecord", 4, 5, 2)
    program.call("cudaStreamWaitEvent", 6, 7, 3)
    program.launch((8, 9), "B", (52, 80), stream=8)
    if recorded:
        sync = program.track("stream 8 sync", kind="other", pid=0, tid=8, device=0)
        program.add(sync, "Stream Wait Event", "sync", 6, 1, correlation=3, args={
            "cuda_sync_kind": "Stream Wait Event", "stream": 8, "wait_on_stream": 7,
            "wait_on_cuda_event_record_corr_id": 2, **odd,
        })  # fmt: skip
    return program.trace()


@pytest.mark.parametrize("recorded", [True, False])
def test_a_stream_that_waits_for_an_event_leads_to_the_work_before_the_event(recorded: bool) -> None:
    path = critical_path(two_streams(recorded=recorded))
    assert [segment[:3] for segment in told(path)] == [
        (0, 10, "launch delay"), (10, 50, "device compute"), (50, 52, "gap"), (52, 80, "device compute"),
    ]  # fmt: skip
    assert path.notes["guessed_waits"] == (0 if recorded else 1)
    assert path.what_if(name="A", less_ns=30).window_ns == 50
    assert path.what_if(name="A", factor=0).window_ns == 40  # A at 10, B 2 later


@pytest.mark.parametrize("odd", ["7", None, -1, 2**70, 7.5, [7], {}, True, 99])
def test_a_record_that_says_nothing_of_use_is_as_none(odd: Any) -> None:
    for name in ("wait_on_stream", "stream", "wait_on_cuda_event_record_corr_id", "cuda_sync_kind"):
        path = critical_path(two_streams(recorded=True, **{name: odd}))
        holds(path)
        assert path.notes["guessed_waits"] == 1
    assert critical_path(two_streams(recorded=True, wait_on_cuda_event_record_corr_id=odd)).notes["event_waits_untold"]


def test_a_call_that_waits_for_an_event_waits_for_no_more_than_the_event() -> None:
    program = Program()
    program.launch((0, 2), "A", (4, 30))
    program.call("cudaEventRecord", 3, 4, 2)
    program.launch((5, 7), "B", (30, 39))
    program.call("cudaEventSynchronize", 8, 40, 9)
    program.run("after", 40, 60)
    sync = program.track("Device 0 sync", kind="other", pid=0, device=0)
    program.add(sync, "Event Sync", "sync", 8, 32, correlation=9, args={
        "cuda_sync_kind": "Event Sync", "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 2,
    })  # fmt: skip
    path = critical_path(program.trace())
    assert by_kind(path) == {"launch delay": 4, "device compute": 26, "sync wait": 10, "host": 20}


def test_a_thread_that_waits_for_its_data_leads_to_the_thread_that_loads_it() -> None:
    program = Program()
    worker = program.track("worker", pid=1, tid=2)
    program.run("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 60, "annotation")
    program.run("decode", 5, 50, track=worker)
    program.run("aten::mm", 60, 110)
    path = critical_path(program.trace())
    assert [(start, end, kind) for start, end, kind, _ in told(path)] == [
        (0, 5, "data loading"), (5, 50, "host"), (50, 60, "data loading"), (60, 110, "host"),
    ]  # fmt: skip
    assert path.what_if(name="decode", less_ns=20).window_ns == 90


def test_the_backward_thread_and_the_programs_thread_hand_over_to_each_other() -> None:
    program = Program()
    backward = program.track("autograd", pid=1, tid=2)
    program.run("ProfilerStep#0", 0, 80, "annotation")
    program.run("aten::mm", 0, 20)
    program.run("MmBackward0", 22, 58, track=backward)
    program.run("aten::add_", 60, 80)
    path = critical_path(program.trace())
    assert told(path) == [
        (0, 20, "host", "aten::mm"), (20, 22, "gap", "(nothing recorded on the thread)"),
        (22, 58, "host", "MmBackward0"), (58, 60, "host", "ProfilerStep#0"), (60, 80, "host", "aten::add_"),
    ]  # fmt: skip
    assert path.window.chosen_by == "median step"
    assert path.what_if(name="MmBackward0", factor=0.5).window_ns == 62


def test_an_arrow_between_threads_is_a_cause() -> None:
    program = Program()
    other = program.track("other", pid=1, tid=2)
    asks = program.run("ask", 0, 10)
    program.run("goes on", 10, 38)
    answers = program.run("answer", 15, 40, track=other)
    program.builder["flows"].append(1, from_slice=asks, to_slice=answers, kind=program.builder.string("flow"))
    path = critical_path(program.trace())
    assert [(start, end, name) for start, end, _, name in told(path)] == [
        (0, 10, "ask"), (10, 15, "(nothing recorded on the thread)"), (15, 40, "answer"),
    ]  # fmt: skip
    # "answer" would end at 30 and "goes on" at 28
    assert path.what_if(name="ask", factor=0).window_ns == 30


def steps_of(*lengths: int) -> Program:
    program = Program()
    start = 0
    for number, length in enumerate(lengths):
        program.run(f"ProfilerStep#{number}", start, start + length, "annotation")
        start += length
    return program


def test_a_step_whose_devices_lag_behind_is_the_devices() -> None:
    program = steps_of(100, 110, 120)
    program.launch((10, 12), "k1", (90, 150))
    program.launch((20, 22), "k2", (150, 260))
    path = critical_path(program.trace())
    assert (path.window.step, path.window.start_ns, path.window.end_ns) == (1, 100, 210)
    assert told(path) == [(100, 150, "device compute", "k1"), (150, 210, "device compute", "k2")]
    # what is left of k1 in the window
    assert path.what_if(name="k1", less_ns=80).returned_ns == 50


def test_devices_that_have_more_to_do_are_not_idle_between_two_kernels() -> None:
    program = steps_of(100, 110, 120)
    program.launch((10, 12), "k1", (90, 205))
    program.launch((20, 22), "k2", (215, 260))
    assert by_kind(critical_path(program.trace())) == {"device compute": 105, "gap": 5}


def test_a_step_whose_devices_wait_for_launches_is_the_hosts() -> None:
    program = steps_of(100, 110, 120)
    program.launch((110, 112), "k1", (114, 120))
    program.launch((208, 212), "k2", (214, 220))
    assert by_kind(critical_path(program.trace())) == {"host": 110}


def test_slices_can_be_changed_by_their_rows() -> None:
    program = Program()
    first = program.run("a", 0, 30)
    program.run("a", 30, 70)
    path = critical_path(program.trace())
    changed = path.what_if(slices=[first], less_ns=50)
    assert (changed.window_ns, changed.returned_ns, changed.changed_ns, changed.slices) == (40, 30, 30, 1)
    assert path.what_if(name="a", less_ns=35).window_ns == 5
    assert path.segments["slice"].tolist() == [0, 1]


def test_less_time_is_taken_from_all_pieces_of_a_slice_together() -> None:
    program = Program()
    program.run("outer", 0, 50)
    program.run("inner", 10, 30)
    assert critical_path(program.trace()).what_if(name="outer", less_ns=25).window_ns == 25


def test_a_rank_is_looked_at_alone() -> None:
    program = Script()
    for rank, length in ((0, 40), (1, 90)):
        thread = program.track(f"rank {rank}", pid=1, tid=1, rank=rank)
        program.add(thread, f"work of {rank}", "host_op", 0, length)
    trace = program.trace()
    assert told(critical_path(trace, rank=1)) == [(0, 90, "host", "work of 1")]
    assert told(critical_path(trace)) == [(0, 40, "host", "work of 0"), (40, 90, "gap", "(nothing recorded after)")]


def test_a_given_step_and_a_given_window_are_said_to_be_so() -> None:
    trace = steps_of(100, 110, 120).trace()
    assert critical_path(trace, step=2).window.total_ns == 120
    assert critical_path(trace, step=2).window.chosen_by == "given step"
    given = critical_path(trace, window_ns=(50, 130))
    assert (given.window.total_ns, given.window.chosen_by) == (80, "given window")
    with pytest.raises(NeuronProfileError, match=r"no step 7; choose one of 0, 1, 2$"):
        critical_path(trace, step=7)
    with pytest.raises(NeuronProfileError, match="before its start"):
        critical_path(trace, window_ns=(10, 0))


@pytest.mark.parametrize(
    "asked", [{}, {"name": "a"}, {"name": "a", "factor": 1.0, "less_ns": 1}, {"name": "a", "factor": -1.0},
              {"factor": 0.5}, {"name": "a", "slices": [0], "factor": 0.5}, {"name": "a", "factor": float("nan")}],
)  # fmt: skip
def test_what_if_needs_one_what_and_one_change(asked: dict[str, Any]) -> None:
    with pytest.raises(NeuronProfileError, match=r"^what_if: [^\n]+$"):
        critical_path(steps_of(10).trace()).what_if(**asked)


def test_a_trace_of_nothing_has_an_empty_path() -> None:
    path = critical_path(Script().trace())
    assert len(path.segments) == 0
    assert path.totals["share_ratio"].isna().all()
    with pytest.raises(NeuronProfileError, match="no slice is called 'x'"):
        path.what_if(name="x", factor=0)
    assert len(path.returns()) == 0


def test_threads_for_which_broken_times_leave_no_room_are_counted() -> None:
    program = Script()
    threads = [program.track(f"thread {i}", pid=1, tid=i) for i in range(9)]
    for thread in threads:
        program.add(thread, "a", "host_op", 0, 10)
    program.add(threads[0], "late", "host_op", 10**18, 10)
    path = critical_path(program.trace())
    assert path.notes["threads_left_out"] == 9 - 2**62 // (10**18 + 11)
    holds(path)


def test_times_that_are_a_century_apart_are_an_error() -> None:
    program = Program()
    program.run("a", 0, 10)
    program.run("late", 2**62 + 10, 2**62 + 20)
    with pytest.raises(NeuronProfileError, match="give window_ns="):
        critical_path(program.trace())


def holds(path: CriticalPath) -> None:
    """What is true of every path: its segments fill the window, and nothing changed changes nothing."""
    frame, window = path.segments, path.window
    assert frame["dur_ns"].sum() == window.total_ns
    assert (frame["dur_ns"] > 0).all()
    edges = [window.start_ns, *frame["end_ns"]]
    assert [*frame["start_ns"], window.end_ns] == edges
    assert np.array_equal(resimulated(path.graph, path.graph.pieces.work_ns), path.graph.at_ns)
    names = path.by_name["name"].tolist()[:3]
    assert all(path.what_if(name=name, less_ns=0).window_ns == window.total_ns for name in names)
    assert path.totals["total_ns"].sum() == path.by_name["total_ns"].sum() == window.total_ns


def relaxed(graph: Graph, work_ns: list[int]) -> list[int]:
    """When each node comes, by going over all edges again and again."""
    edges = list(zip(*(one.tolist() for one in (graph.source, graph.target, graph.lag_ns, graph.first, graph.last)),
                     strict=True))  # fmt: skip
    targets = set(graph.target.tolist())
    at = [-(10**9) if node in targets else ns for node, ns in enumerate(graph.at_ns.tolist())]
    changed = True
    while changed:
        changed = False
        for source, target, lag, first, last in edges:
            ready = at[source] + lag + sum(work_ns[first:last])
            if ready > at[target]:
                at[target], changed = ready, True
    return at


HOST = st.tuples(
    st.sampled_from(["a", "b", "cudaDeviceSynchronize", "ProfilerStep#0", "enumerate(DataLoader)#x.__next__"]),
    st.integers(0, 90), st.integers(1, 40), st.integers(0, 2),
)  # fmt: skip
LAUNCHES = st.tuples(st.integers(0, 90), st.integers(0, 9), st.integers(-3, 60), st.integers(1, 40), st.integers(7, 8))
CATEGORY = {"cudaDeviceSynchronize": "runtime", "ProfilerStep#0": "annotation"}


@untimed
@given(st.lists(HOST, max_size=12), st.lists(LAUNCHES, max_size=8), st.integers(0, 40), st.booleans())
def test_the_segments_fill_the_window_and_a_resimulation_is_the_longest_path(
    host: list[Any], launches: list[Any], less_ns: int, part: bool
) -> None:
    program = Program()
    threads = [program.thread, *(program.track(f"thread {tid}", pid=1, tid=tid) for tid in (2, 3))]
    for name, start, length, thread in host:
        category = CATEGORY.get(name, "annotation" if name.startswith("enum") else "host_op")
        program.run(name, start, start + length, category, track=threads[thread])
    for call, call_length, delay, length, stream in launches:
        program.launch((call, call + call_length), "k", (call + delay, call + delay + length), stream=stream)
    trace = program.trace()
    path = critical_path(trace, window_ns=(20, 70)) if part else critical_path(trace)
    holds(path)
    for name in sorted({"a", "k", "cudaDeviceSynchronize"} & set(trace.slices.text("name"))):
        changed = path.what_if(name=name, less_ns=less_ns)
        assert 0 <= changed.returned_ns <= changed.changed_ns
    work_ns = [max(ns - less_ns, 0) for ns in path.graph.pieces.work_ns.tolist()]
    assert resimulated(path.graph, np.array(work_ns, np.int64)).tolist() == relaxed(path.graph, work_ns)


def test_shortening_a_kernel_of_a_real_trace_returns_what_the_call_that_waits_for_it_allows(corpus: Path) -> None:
    # T005: spin_kernel runs [512.372, 512.408), cudaEventSynchronize begins at 512.382: 26 of its 36 us can return
    path = critical_path(load(next((corpus / "kineto").glob("T005*"))))
    assert path.window.total_ns == 3_154_000
    holds(path)
    spin = "at::cuda::(anonymous namespace)::spin_kernel(long)"
    assert [path.what_if(name=spin, less_ns=us * 1000).returned_ns for us in (10, 26, 30)] == [10_000, 26_000, 26_000]
    assert path.what_if(name="aten::empty", less_ns=1_000_000).returned_ns == 1_000_000


def test_a_real_trace_without_steps_is_one_window_and_its_unrecorded_time_a_gap(corpus: Path) -> None:
    # T006: the last sgemm ends at .173, cudaDeviceSynchronize lasts from .166 to .186: 7 us can return
    trace = load(next((corpus / "kineto").glob("T006*")))
    path = critical_path(trace)
    assert (path.window.start_ns, path.window.end_ns) == trace.time_range_ns
    holds(path)
    last = path.segments[path.segments["kind"] == "device compute"]["slice"].tolist()
    assert path.what_if(slices=last, less_ns=5_000).returned_ns == 5_000
    assert path.what_if(slices=last, factor=0).returned_ns == 7_000
    # nothing was recorded from the window's start to the first operator: 348.256 - 305.721 ms
    assert path.segments["kind"].iloc[0] == "gap"
    assert path.segments["dur_ns"].iloc[0] == 42_535_000


def test_the_path_that_another_tool_drew_into_a_trace_is_on_ours_but_for_work_nobody_waited_for(corpus: Path) -> None:
    # T008 has the arrows of HTA's critical path: 214 slices, 18 of them on streams
    trace = load(next((corpus / "kineto").glob("T008*")))
    slices, flows = trace.slices, trace.flows
    drawn = np.array(flows.text("kind")) == "critical_path"
    theirs = set(flows.from_slice[drawn].tolist()) | set(flows.to_slice[drawn].tolist())
    segments = critical_path(trace).segments
    missing = sorted(theirs - set(segments["slice"].tolist()))
    assert (len(theirs), len(missing)) == (214, 18)
    names = [trace.pool.strings[name] for name in slices.name[missing].tolist()]
    calls = [row for row, name in zip(missing, names, strict=True) if name == "cudaMemcpyAsync"]
    # the time of 16 calls is the launch delay of their copies, which are on the path
    delayed = set(segments.loc[segments["kind"] == "launch delay", "slice"].tolist())
    copied = {int(slices.correlation[row]) for row in delayed}
    assert len(calls) == 16
    assert {int(slices.correlation[row]) for row in calls} <= copied
    # and two kernels had ended before the call began that is said to wait for them
    kernels = [row for row in missing if row not in calls]
    waits = [row for row in range(len(slices)) if trace.pool.strings[slices.name[row]] == "cudaDeviceSynchronize"]
    began = int(slices.ts_ns[waits].max())
    assert [began - int(slices.ts_ns[row] + slices.dur_ns[row]) > 200_000 for row in kernels] == [True, True]


def test_of_many_slices_without_steps_the_middle_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "MOST_SLICES", 10)
    program = Program()
    for number in range(30):
        program.run(f"operation {number}", number * number * 10, number * number * 10 + 1)
    path = critical_path(program.trace())
    # the 10 around the 15th of 30 starts
    assert (path.window.start_ns, path.window.end_ns) == (1000, 4000)
    assert path.window.chosen_by == "middle of the whole window"
    holds(path)


@pytest.mark.parametrize(
    "folder", ["kineto", "kineto_multirank", "accel_other", "neuron_bin", "neuron_json", "rocm_rpd", "chrome_trace",
               "viztracer"]
)  # fmt: skip
def test_every_path_of_the_corpus_is_as_long_as_its_window(folder: str, corpus: Path) -> None:
    seen = 0
    for file in sorted((corpus / folder).iterdir()):
        try:
            trace = load(file)
        except NeuronProfileError:
            continue
        holds(critical_path(trace))
        seen += 1
    assert seen
