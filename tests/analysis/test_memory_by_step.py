"""The peak of memory in each step, worked out by hand."""

from __future__ import annotations

from script import Script

from neuron_profile.analysis import memory_by_step, records
from trace_format import TraceBuilder


def steps(script: Script, *spans: tuple[int, int], rank: int = 0) -> int:
    track = script.track(f"main {rank}", rank=rank, pid=rank + 1)
    for number, (start, end) in enumerate(spans):
        script.add(track, f"ProfilerStep#{number}", "annotation", start, end - start)
    return track


def test_the_peak_of_a_step_counts_what_was_allocated_when_it_began() -> None:
    script = Script()
    track = steps(script, (0, 10), (10, 20), (20, 30))
    script.memory("cuda:0", (2, 5, 5), (4, 3, 8), (6, -4, 4), (15, -1, 3), track=track)
    found = records(memory_by_step(script.trace()))
    # [0, 10): up to 8; [10, 20): begins with 4; [20, 30): nothing happens, 3 stay
    assert [(row["step"], row["peak_bytes"]) for row in found] == [(0, 8), (1, 4), (2, 3)]
    assert {(row["rank"], row["device"]) for row in found} == {(0, "cuda:0")}


def test_before_the_first_event_nothing_is_known() -> None:
    script = Script()
    track = steps(script, (0, 10), (10, 20))
    script.memory("cuda:0", (12, 5, 9), track=track)
    assert memory_by_step(script.trace())["peak_bytes"].tolist() == [-1, 9]


def test_an_event_at_the_border_of_two_steps_is_of_the_second() -> None:
    script = Script()
    track = steps(script, (0, 10), (10, 20))
    script.memory("cuda:0", (5, 1, 1), (10, 6, 7), track=track)
    assert memory_by_step(script.trace())["peak_bytes"].tolist() == [1, 7]


def test_each_rank_has_its_own_steps_and_a_device_of_no_rank_those_of_all() -> None:
    script = Script()
    tracks = [steps(script, (0, 10), rank=0), steps(script, (5, 25), rank=1)]
    for rank, track in enumerate(tracks):
        script.memory("cuda:0", (7 + 10 * rank, 1, 100 + rank), track=track)
    script.memory("cpu", (6, 2, 2), (20, 1, 3))
    found = records(memory_by_step(script.trace()))
    assert sorted((row["device"], row["rank"], row["peak_bytes"]) for row in found) == [
        ("cpu", 0, 2), ("cpu", 1, 3), ("cuda:0", 0, 100), ("cuda:0", 1, 101),
    ]  # fmt: skip


def test_without_memory_or_time_there_are_no_rows_but_the_same_columns() -> None:
    frame = memory_by_step(TraceBuilder().finish())
    assert list(frame.columns) == ["rank", "device", "step", "start_ns", "end_ns", "peak_bytes"]
    assert len(frame) == 0
    script = Script()
    steps(script, (0, 10))
    assert len(memory_by_step(script.trace())) == 0
