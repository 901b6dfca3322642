"""Lines of the user's own code by their time, worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from script import Script, untimed
from trace_strategies import traces

from neuron_profile import analysis
from trace_format import Trace

COLUMNS = ["self_ns", "total_ns", "device_ns", "device_total_ns", "slices", "calls"]


def row(trace: Trace, file: str, line: int) -> list[int]:
    frame = analysis.source_lines(trace)
    found = frame[(frame["file"] == file) & (frame["line"] == line)]
    assert len(found) == 1
    return [int(value) for value in found.iloc[0][COLUMNS]]


def recorded_calls() -> Trace:
    """train.py(1): main for 100 ns calls model.py(7): forward for 60, twice nested, which calls aten::mm for 20.

    aten::mm launches a kernel of 50 ns; main itself launches one of 30 by a copy of 10.
    """
    script = Script()
    thread, stream = script.track(rank=0), script.stream(rank=0, device=0)
    script.add(thread, "train.py(1): main", "python", 0, 100)
    script.add(thread, "model.py(7): forward", "python", 10, 60)
    script.add(thread, "model.py(7): forward", "python", 20, 40)  # it calls itself
    script.add(thread, "torch/nn/functional.py(3): linear", "python", 20, 30)
    script.add(thread, "aten::mm", "host_op", 25, 20, external_id=1)
    script.add(thread, "aten::copy_", "host_op", 80, 10, external_id=2)
    script.add(stream, "gemm", "compute", 40, 50, external_id=1)
    script.add(stream, "copy", "compute", 100, 30, external_id=2)
    return script.trace()


def test_the_time_of_recorded_calls_is_told_by_function() -> None:
    trace = recorded_calls()
    # main: 100 - 60 = 40 of its own (30 and the copy's 10); forward: its 60, whatever torch did in them
    assert row(trace, "train.py", 1) == [40, 100, 30, 80, 3, 1]
    assert row(trace, "model.py", 7) == [60, 60, 50, 50, 5, 2]
    frame = analysis.source_lines(trace)
    assert frame["file"].tolist() == ["model.py", "train.py"]  # 110 and 70 of their own
    assert frame["function"].tolist() == ["forward", "main"]
    assert frame.attrs["host_self_ns"] == 100
    assert frame.attrs["device_self_ns"] == 80
    assert frame.attrs["unknown_ns"] == 0


def test_stacks_tell_the_line_that_ran() -> None:
    script = Script()
    thread = script.track(rank=0)
    outer, inner = "train.py(3): main", "model.py(12): forward"
    script.add(thread, "aten::mm", "host_op", 0, 20, stack=[outer, inner, "torch/x.py(1): f"])
    script.add(thread, "aten::relu", "host_op", 30, 5, stack=[outer, outer])
    script.add(thread, "aten::add", "host_op", 40, 7)
    trace = script.trace()
    assert row(trace, "model.py", 12) == [20, 20, 0, 0, 1, -1]
    assert row(trace, "train.py", 3) == [5, 25, 0, 0, 1, -1]
    assert analysis.source_lines(trace).attrs["unknown_ns"] == 7


def test_the_slices_of_a_line_are_those_with_most_time_of_their_own_first() -> None:
    frame = analysis.slices_of_line(recorded_calls(), "model.py", 7)
    # gemm 50; of forward 60 - 40 = 20 and 40 - 30 = 10; linear 30 - 20 = 10; mm 20
    assert frame["name"].iloc[0] == "gemm"
    assert frame["self_ns"].tolist() == [50, 20, 20, 10, 10]
    assert frame["side"].tolist() == ["device", *["host"] * 4]
    assert analysis.slices_of_line(recorded_calls(), "model.py", 8).empty
    assert len(analysis.slices_of_line(recorded_calls(), "model.py", 7, top=2)) == 2


def test_a_trace_without_lines_says_what_would_tell_them() -> None:
    script = Script()
    script.add(script.track(), "aten::mm", "host_op", 0, 10)
    frame = analysis.source_lines(script.trace())
    assert frame.empty
    assert "with_stack=True" in frame.attrs["why"]


@untimed
@given(traces())
def test_no_time_is_lost_between_lines_and_what_belongs_to_none(trace: Trace) -> None:
    frame = analysis.source_lines(trace)
    whole = frame.attrs["host_self_ns"] + frame.attrs["device_self_ns"]
    if "why" not in frame.attrs:
        assert int(frame["self_ns"].sum()) + int(frame["device_ns"].sum()) + frame.attrs["unknown_ns"] == whole
    assert (frame["total_ns"] >= frame["self_ns"]).all()


@pytest.mark.parametrize("name", ["model.py(x): f", "model.py: f", "(3): f", "model.txt(3): f"])
def test_what_is_no_frame_is_no_line(name: str) -> None:
    script = Script()
    script.add(script.track(), name, "python", 0, 10)
    assert analysis.source_lines(script.trace()).empty
