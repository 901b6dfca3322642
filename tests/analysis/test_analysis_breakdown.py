"""Where the time of a step went, worked out by hand, and that it adds up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_profile import load
from neuron_profile.analysis import breakdown
from neuron_profile.analysis.breakdown import PARTS, busiest, by_device
from trace_format import CATEGORIES, NeuronProfileError, Trace, TraceBuilder


class Script:
    """A trace of one rank: a host thread and streams of devices, filled slice by slice."""

    def __init__(self) -> None:
        self.builder = TraceBuilder()
        self.thread = self.builder.track("python", kind="host_thread", pid=1, tid=1)
        self._streams: dict[tuple[int, int], int] = {}
        self._correlation = 0

    def host(self, name: str, start: int, end: int, category: str = "host_op") -> int:
        return self._add(self.thread, name, start, end, category, -1)

    def launch(self, call: int, start: int, end: int, *, name: str = "k", category: str = "compute",
               device: int = 0, stream: int = 7) -> None:  # fmt: skip
        """Work [start, end) on a device that a call beginning at `call` launches."""
        self._correlation += 1
        self._add(self.thread, "cudaLaunchKernel", call, call + 1, "runtime", self._correlation)
        self.work(start, end, name=name, category=category, device=device, stream=stream,
                  correlation=self._correlation)  # fmt: skip

    def work(self, start: int, end: int, *, name: str = "k", category: str = "compute", device: int = 0,
             stream: int = 7, correlation: int = -1) -> None:  # fmt: skip
        track = self._streams.get((device, stream))
        if track is None:
            track = self.builder.track(f"stream {stream}", kind="stream", device=device)
            self._streams[device, stream] = track
        self._add(track, name, start, end, category, correlation)

    def _add(self, track: int, name: str, start: int, end: int, category: str, correlation: int) -> int:
        return self.builder["slices"].append(
            ts_ns=[start], dur_ns=[end - start], track=track, name=self.builder.string(name),
            category=CATEGORIES.index(category), correlation=correlation,
        )  # fmt: skip

    def step(self, start: int, end: int, number: int = 0) -> None:
        self.host(f"ProfilerStep#{number}", start, end, "annotation")

    def breakdown(self) -> pd.DataFrame:
        return breakdown(self.builder.finish())


def parts(frame: pd.DataFrame, row: int = 0) -> dict[str, int]:
    """The parts of a row that are not 0."""
    return {name: int(frame[name][row]) for name in PARTS if frame[name][row]}


def test_what_is_hidden_under_compute_is_not_counted_twice() -> None:
    script = Script()
    script.step(0, 100)
    script.launch(0, 10, 40)
    script.launch(5, 30, 60, name="nccl", category="collective", stream=8)  # 30-40 under the compute
    script.launch(6, 55, 75, name="copy", category="memcpy", stream=9)  # 55-60 under the collective
    script.launch(7, 75, 90)
    frame = script.breakdown()
    # idle: 0-10, launched at 0; 90-100, ended by no work
    assert parts(frame) == {
        "compute_ns": 30 + 15, "exposed_collective_ns": 20, "exposed_copy_ns": 15,
        "idle_launch_ns": 10, "idle_other_ns": 10,
    }  # fmt: skip
    assert frame["total_ns"].tolist() == [100]


def test_a_gap_is_the_hosts_until_it_launches_and_the_launchs_from_then_on() -> None:
    script = Script()
    script.step(0, 50)
    script.launch(0, 0, 10)
    script.launch(30, 34, 50)  # idle 10-34: until 30 the host had not launched
    assert parts(script.breakdown()) == {"compute_ns": 26, "idle_host_ns": 20, "idle_launch_ns": 4}


def test_work_that_was_waiting_in_the_queue_is_not_the_hosts_fault() -> None:
    script = Script()
    script.step(0, 50)
    script.launch(0, 0, 10)
    script.launch(2, 34, 50)
    assert parts(script.breakdown()) == {"compute_ns": 26, "idle_launch_ns": 24}


def test_what_the_host_did_meanwhile_is_the_cause() -> None:
    script = Script()
    script.step(0, 100)
    script.launch(0, 0, 10)
    script.host("compile", 15, 35, "compile")
    script.host("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 30, 60, "annotation")
    script.launch(80, 85, 100)
    # idle 10-85: 20 compiling, 25 more loading data, 25 of the rest until the launch at 80, then 5
    assert parts(script.breakdown()) == {
        "compute_ns": 25, "idle_compile_ns": 20, "idle_data_loading_ns": 25, "idle_host_ns": 25, "idle_launch_ns": 5,
    }  # fmt: skip


def test_a_gap_that_begins_while_the_host_waits_for_the_device_is_the_syncs() -> None:
    script = Script()
    script.step(0, 60)
    script.launch(0, 2, 20)
    script.host("cudaDeviceSynchronize", 5, 22, "runtime")  # the queue is empty when it returns
    script.launch(40, 45, 60)
    assert parts(script.breakdown()) == {
        "compute_ns": 33, "idle_launch_ns": 2 + 5, "idle_sync_ns": 20,
    }  # fmt: skip


def test_work_whose_launch_was_not_recorded_blames_nobody() -> None:
    script = Script()
    script.step(0, 40)
    script.work(0, 10)
    script.work(30, 40)
    assert parts(script.breakdown()) == {"compute_ns": 20, "idle_other_ns": 20}


def test_each_step_of_each_device_has_a_row() -> None:
    script = Script()
    script.step(0, 100, 0)
    script.step(100, 200, 1)
    for device, end in ((0, 150), (1, 120)):
        script.launch(0, 0, end, device=device)  # reaches into the second step
    frame = script.breakdown()
    assert frame[["device", "step", "compute_ns", "total_ns"]].to_numpy().tolist() == [
        [0, 0, 100, 100], [0, 1, 50, 100], [1, 0, 100, 100], [1, 1, 20, 100],
    ]  # fmt: skip
    assert [(one["device"], one["compute_ns"]) for one in by_device(frame)] == [(0, 150), (1, 120)]
    assert busiest(frame)["compute_ns"] == 150


def test_where_no_operator_was_recorded_nobody_knows_what_the_time_was() -> None:
    script = Script()
    script.host("AllReduce", 0, 60, "other")
    script.host("f", 60, 100, "python")
    assert parts(script.breakdown()) == {"idle_other_ns": 100}


def test_without_a_device_the_operators_are_the_compute() -> None:
    script = Script()
    script.step(0, 100)
    script.host("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 30, "annotation")
    script.host("aten::stack", 10, 20)  # of the loader
    script.host("aten::mm", 40, 70)
    gloo = script.host("gloo:all_reduce", 60, 90, "annotation")
    script.builder["collectives"].append(1, slice=gloo)
    frame = script.breakdown()
    assert frame["device"].tolist() == [-1]
    assert parts(frame) == {
        "compute_ns": 30, "exposed_collective_ns": 20, "data_loading_ns": 30, "idle_host_ns": 20,
    }  # fmt: skip


def test_operators_that_run_while_their_thread_compiles_are_the_compiles() -> None:
    script = Script()
    script.step(0, 100)
    own = script.builder.track("compiles of thread 1", kind="compile", pid=1, tid=1)
    elsewhere = script.builder.track("neuronx-cc", kind="compile", pid=2, tid=9)
    script._add(own, "compile f 0/0", 10, 60, "compile", -1)
    script._add(elsewhere, "neuronx-cc", 0, 100, "compile", -1)  # in the background
    script.host("aten::mm", 20, 80)
    # 10-60 in the thread of the operators; 0-10 and 80-100 something compiles and no operator runs
    assert parts(script.breakdown()) == {"idle_compile_ns": 80, "compute_ns": 20}


def test_a_compile_in_a_thread_of_its_own_is_waited_for_where_no_operator_runs() -> None:
    script = Script()
    script.step(0, 100)
    elsewhere = script.builder.track("torch.compile", kind="compile", pid=1, tid=9)
    script._add(elsewhere, "compile f 0/0", 10, 60, "compile", -1)
    script.host("aten::mm", 0, 20)
    script.host("aten::mm", 70, 90)
    # 20-60 nothing but the compile; 60-70 and 90-100 nothing
    assert parts(script.breakdown()) == {"compute_ns": 40, "idle_compile_ns": 40, "idle_host_ns": 20}


def test_a_simulated_device_is_not_looked_at() -> None:
    script = Script()
    script.step(0, 100)
    script.host("aten::mm", 0, 40)
    engine = script.builder.track("Tensor (simulated)", kind="engine", device=0, simulated=1)
    script._add(engine, "mm", 0, 100, "compute", -1)
    assert parts(script.breakdown()) == {"compute_ns": 40, "idle_host_ns": 60}


def test_a_trace_of_nothing_has_no_rows() -> None:
    assert busiest(breakdown(TraceBuilder().finish())) in ({}, {"total_ns": 0, **dict.fromkeys(PARTS, 0)})


WORK = st.tuples(
    st.integers(0, 90), st.integers(0, 90), st.integers(1, 40),
    st.sampled_from(["compute", "collective", "memcpy", "sync", "overhead"]), st.integers(0, 1), st.integers(0, 2),
)  # fmt: skip


@given(st.lists(WORK, max_size=12), st.lists(st.tuples(st.integers(0, 120), st.integers(1, 50)), max_size=4))
def test_the_parts_are_never_negative_and_sum_to_each_step(work: list[Any], steps: list[tuple[int, int]]) -> None:
    script = Script()
    for number, (start, length) in enumerate(steps):
        script.step(start, start + length, number)
    for call, start, length, category, device, stream in work:
        script.launch(call, start, start + length, category=category, device=device, stream=stream)
    _adds_up(script.builder.finish())


def _adds_up(trace: Trace) -> pd.DataFrame:
    frame = breakdown(trace)
    assert (frame[list(PARTS)].to_numpy() >= 0).all()
    assert np.array_equal(frame[list(PARTS)].sum(axis=1).to_numpy(), frame["total_ns"].to_numpy())
    return frame


@pytest.mark.parametrize(
    "folder", ["kineto", "kineto_multirank", "accel_other", "neuron_bin", "neuron_json", "rocm_rpd"]
)
def test_every_trace_of_the_corpus_adds_up(folder: str, corpus: Path) -> None:
    seen = 0
    for path in sorted((corpus / folder).iterdir()):
        try:
            trace = load(path)
        except NeuronProfileError:
            continue
        _adds_up(trace)
        seen += 1
    assert seen
