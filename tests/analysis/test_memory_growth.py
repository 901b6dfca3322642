"""Memory that grows from step to step, and who made what stays."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import Script, untimed

from neuron_profile.analysis import memory_growth
from trace_format import Trace, TraceBuilder

STEP_NS = 100


class Training:
    """Steps of 100 ns on one thread, and what they allocate: (time, place, bytes), a free with negative bytes."""

    def __init__(self, steps: int, first: int = 0) -> None:
        self.script = Script()
        self.host = self.script.track()
        self.events: list[tuple[int, int, int]] = []
        self.steps = range(steps)
        for step in self.steps:
            self.script.add(
                self.host, f"ProfilerStep#{first + step}", "annotation", step * STEP_NS, STEP_NS
            )  # fmt: skip
            self.script.add(self.host, "aten::mm", "host_op", step * STEP_NS + 40, 20)

    def allocate(self, at: int, place: int, size: int) -> None:
        self.events.append((at, place, size))

    def trace(self, device: str = "cuda:0") -> Trace:
        total, rows = 0, []
        for at, place, size in sorted(self.events, key=lambda event: event[0]):
            total += size
            rows.append((at, place, size, total))
        for at, place, size, after in rows:
            self.script.memory(device, (at, size, after), address=place, track=self.host)
        return self.script.trace()


def leaking(steps: int = 7, first: int = 0) -> Training:
    """Each step frees its 1000 bytes and keeps the 64 that aten::mm made."""
    training = Training(steps, first)
    for step in training.steps:
        begin = step * STEP_NS
        training.allocate(begin + 10, 1, 1000)
        training.allocate(begin + 20, 1, -1000)
        training.allocate(begin + 50, 100 + step, 64)
    return training


def rows(frame: Any, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in frame[list(columns)].itertuples(index=False)]


def test_each_step_has_what_it_found_its_peak_and_what_it_left() -> None:
    found = memory_growth(leaking(3).trace()).steps
    assert rows(found, "step", "start_bytes", "peak_bytes", "end_bytes", "growth_bytes", "is_used") == [
        (0, 0, 1000, 64, 64, False), (1, 64, 1064, 128, 64, False), (2, 128, 1128, 192, 64, True),
    ]  # fmt: skip


def test_what_was_there_before_the_first_event_is_there_when_the_first_step_starts() -> None:
    script = Script()
    host = script.track()
    script.add(host, "ProfilerStep#5", "annotation", 0, 100)
    script.memory("cuda:0", (10, 100, 5100))
    assert rows(memory_growth(script.trace()).steps, "start_bytes", "peak_bytes", "end_bytes") == [(5000, 5100, 5100)]


def test_a_leak_is_named_with_its_bytes_per_step() -> None:
    found = memory_growth(leaking().trace())
    device = found.devices.iloc[0]
    # steps 2 to 6; all five rise, which one order in 120 does
    assert (device["device"], device["steps"], device["bytes_per_step"]) == ("cuda:0", 5, 64)
    assert device["p_value"] == pytest.approx(1 / 120)
    assert device["grows"]
    # the last step may yet free what it made: steps 2 to 5
    assert rows(found.holders, "op", "count", "bytes", "steps", "steps_ratio", "bytes_per_step") == [
        ("aten::mm", 4, 256, 4, 1.0, 64.0)
    ]
    assert (device["kept_bytes_per_step"], device["kept_ratio"]) == (64.0, 1.0)


def test_steps_are_numbered_from_the_start_of_the_program_not_of_the_window() -> None:
    assert memory_growth(leaking(3, first=10).trace()).devices["steps"].tolist() == [3]


def test_what_settles_in_the_first_steps_is_no_growth() -> None:
    training = Training(8)
    for step in training.steps:
        if step < 2:
            training.allocate(step * STEP_NS + 50, 10 + step, 10**6)
        training.allocate(step * STEP_NS + 60, 1, 500)
        training.allocate(step * STEP_NS + 70, 1, -500)
    found = memory_growth(training.trace())
    device = found.devices.iloc[0]
    assert (device["bytes_per_step"], device["grows"]) == (0.0, False)
    assert device["kept_bytes_per_step"] == 0
    assert math.isnan(device["kept_ratio"])
    assert len(found.holders) == 0


def test_what_the_next_step_frees_is_not_kept() -> None:
    training = Training(8)
    for step in training.steps:
        if step:
            training.allocate(step * STEP_NS + 10, 100 + step - 1, -64)
        training.allocate(step * STEP_NS + 50, 100 + step, 64)
    found = memory_growth(training.trace())
    assert not found.devices["grows"].any()
    assert len(found.holders) == 0


def test_memory_that_shrinks_does_not_grow() -> None:
    training = Training(8)
    for step in training.steps:
        training.allocate(1, 1000 + step, 100)
        training.allocate(step * STEP_NS + 50, 1000 + step, -100)
    device = memory_growth(training.trace()).devices.iloc[0]
    assert (device["bytes_per_step"], device["p_value"], device["grows"]) == (-100.0, 1.0, False)


def test_three_steps_are_too_few_to_say_that_it_grows() -> None:
    found = memory_growth(leaking(5).trace())
    assert (found.devices["bytes_per_step"].tolist(), found.devices["grows"].tolist()) == ([64.0], [False])
    # yet what they kept is told
    assert found.holders["bytes_per_step"].tolist() == [64.0]


def test_a_trace_without_steps_has_a_window_and_no_growth() -> None:
    script = Script()
    script.add(script.track(), "aten::mm", "host_op", 0, 100)
    script.memory("cpu", (10, 100, 100))
    found = memory_growth(script.trace())
    assert found.steps["is_used"].tolist() == [False]
    assert math.isnan(found.devices["bytes_per_step"].iloc[0])
    assert not found.devices["grows"].any()


def test_ranks_grow_each_for_itself() -> None:
    script = Script()
    for rank in (0, 1):
        host = script.track(rank=rank)
        for step in range(8):
            script.add(host, f"ProfilerStep#{step}", "annotation", step * STEP_NS, STEP_NS)
            kept = 8 * rank * step + 8 * rank
            script.memory(
                "cuda:0", (step * STEP_NS + 50, 8 if rank else 0, kept), address=1 + step + 100 * rank, track=host
            )  # fmt: skip
    devices = memory_growth(script.trace()).devices
    assert rows(devices, "rank", "bytes_per_step", "grows") == [(0, 0.0, False), (1, 8.0, True)]


def test_top_keeps_the_largest_holders() -> None:
    training = leaking()
    training.script.add(training.host, "aten::add", "host_op", 2 * STEP_NS + 70, 10)
    training.allocate(2 * STEP_NS + 75, 999, 10_000)
    assert memory_growth(training.trace(), top=1).holders["op"].tolist() == ["aten::add"]


def test_a_trace_without_memory_events_gives_empty_frames() -> None:
    found = memory_growth(TraceBuilder().finish())
    assert len(found.steps) == len(found.devices) == len(found.holders) == 0
    assert "grows" in found.devices


@untimed
@given(st.lists(st.tuples(st.integers(0, 799), st.integers(1, 5), st.integers(-100, 100)), max_size=40))
def test_growth_is_what_was_allocated_less_what_was_freed(events: list[tuple[int, int, int]]) -> None:
    training = Training(8)
    for at, place, size in events:
        training.allocate(at, place, size)
    found = memory_growth(training.trace()).steps
    for step in found.to_dict("records"):
        inside = sum(size for at, _, size in events if step["start_ns"] <= at < step["end_ns"])
        assert step["growth_bytes"] == inside
        assert step["peak_bytes"] >= max(step["start_bytes"], step["end_bytes"])
