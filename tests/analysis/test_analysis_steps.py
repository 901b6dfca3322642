"""Which steps a trace has."""

from __future__ import annotations

import pytest
from script import Script

from neuron_profile.analysis import WHOLE_WINDOW, records, steps
from trace_format import TraceBuilder

COLUMNS = ["step", "name", "start_ns", "end_ns", "dur_ns", "rank"]


def found(script: Script) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in records(steps(script.trace()))]


def test_profiler_steps_on_the_host_are_the_steps() -> None:
    script = Script()
    host, device = script.track(), script.stream()
    script.add(host, "ProfilerStep#7", "annotation", 100, 50)
    script.add(host, "ProfilerStep#6", "annotation", 40, 60)
    script.add(host, "train_step", "annotation", 45, 10)
    script.add(host, "aten::mm", "host_op", 0, 500)
    script.add(device, "ProfilerStep#6", "annotation", 70, 200)
    assert found(script) == [(6, "ProfilerStep#6", 40, 100, 60, -1), (7, "ProfilerStep#7", 100, 150, 50, -1)]
    assert steps(script.trace()).attrs == {"found_by": "ProfilerStep", "unfinished": 0}


def test_each_rank_has_its_own_steps() -> None:
    script = Script()
    for rank in (1, 0):
        track = script.track(f"rank {rank}", rank=rank, pid=1)
        script.add(track, "ProfilerStep#3", "annotation", 10 * rank, 100)
    assert found(script) == [(3, "ProfilerStep#3", 0, 100, 100, 0), (3, "ProfilerStep#3", 10, 110, 100, 1)]


def test_a_step_marked_on_several_threads_of_a_rank_is_one() -> None:
    script = Script()
    for tid, start in ((1, 10), (2, 5)):
        script.add(script.track(f"thread {tid}", pid=9, tid=tid), "ProfilerStep#0", "annotation", start, 20)
    assert found(script) == [(0, "ProfilerStep#0", 5, 30, 25, -1)]


def test_processes_without_ranks_are_told_apart() -> None:
    script = Script()
    for pid in (1, 2):
        script.add(script.track(f"process {pid}", pid=pid), "ProfilerStep#0", "annotation", pid, 20)
    assert found(script) == [(0, "ProfilerStep#0", 1, 21, 20, -1), (0, "ProfilerStep#0", 2, 22, 20, -1)]


@pytest.mark.parametrize("name", ["step", "train_step", "Step", "training step", "my.iteration"])
def test_annotations_of_ones_own_steps_are_numbered_in_order_of_time(name: str) -> None:
    script = Script()
    host = script.track()
    script.add(host, name, "annotation", 50, 20)
    script.add(host, name, "annotation", 10, 30)
    assert found(script) == [(0, name, 10, 40, 30, -1), (1, name, 50, 70, 20, -1)]
    assert steps(script.trace()).attrs["found_by"] == "annotation"


@pytest.mark.parametrize("name", ["step 12", "Step#12", "iteration=12", "iter_12", "train_step 12"])
def test_annotations_with_a_number_keep_it(name: str) -> None:
    script = Script()
    script.add(script.track(), name, "annotation", 0, 5)
    assert found(script) == [(12, name, 0, 5, 5, -1)]


@pytest.mark.parametrize(
    "name", ["Optimizer.step#SGD.step", "Optimizer.step", "stepping", "two steps", "## step", "step " + "9" * 5000]
)
def test_other_annotations_are_not_steps(name: str) -> None:
    script = Script()
    script.add(script.track(), name, "annotation", 0, 5)
    assert found(script) == [(0, WHOLE_WINDOW, 0, 5, 5, -1)]


def test_an_operator_called_step_is_not_a_step() -> None:
    script = Script()
    script.add(script.track(), "ProfilerStep#1", "host_op", 3, 5)
    assert found(script) == [(0, WHOLE_WINDOW, 3, 8, 5, -1)]
    assert steps(script.trace()).attrs == {"found_by": "window", "unfinished": 0}


def test_a_step_that_did_not_finish_is_left_out_and_counted() -> None:
    script = Script()
    host = script.track()
    script.add(host, "ProfilerStep#0", "annotation", 0, 5)
    script.add(host, "ProfilerStep#1", "annotation", 5, -1)
    assert found(script) == [(0, "ProfilerStep#0", 0, 5, 5, -1)]
    assert steps(script.trace()).attrs == {"found_by": "ProfilerStep", "unfinished": 1}


def test_a_trace_without_any_time_has_no_steps() -> None:
    frame = steps(TraceBuilder().finish())
    assert list(frame.columns) == COLUMNS
    assert len(frame) == 0
    assert frame.dtypes["dur_ns"] == "int64"
