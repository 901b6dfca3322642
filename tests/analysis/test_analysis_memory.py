"""Allocated memory over time."""

from __future__ import annotations

from script import Script

from neuron_profile.analysis import memory_timeline
from trace_format import TraceBuilder


def totals(script: Script) -> list[tuple[int, str, int, int]]:
    frame = memory_timeline(script.trace())
    assert list(frame.columns) == ["ts_ns", "device", "total_bytes", "rank"]
    return list(frame.itertuples(index=False, name=None))


def test_recorded_totals_are_taken_as_they_are() -> None:
    script = Script()
    script.memory("cuda:0", (10, 100, 1100), (20, -100, 1000))
    script.memory("cpu", (15, 8, 8))
    assert totals(script) == [(10, "cuda:0", 1100, -1), (15, "cpu", 8, -1), (20, "cuda:0", 1000, -1)]


def test_totals_between_recorded_ones_follow_from_the_sizes() -> None:
    script = Script()
    # before the first total: 500 - 50 = 450; after it: 500 + 7, then the recorded 900
    script.memory("cpu", (1, 5, -1), (2, 50, 500), (3, 7, -1), (4, 1, 900))
    assert [total for _, _, total, _ in totals(script)] == [450, 500, 507, 900]


def test_without_any_total_the_least_is_zero_and_the_device_is_called_relative() -> None:
    script = Script()
    # running: 10, -20, -15; the least is -20
    script.memory("cpu", (1, 10, -1), (2, -30, -1), (3, 5, -1))
    assert [total for _, _, total, _ in totals(script)] == [30, 0, 5]
    assert memory_timeline(script.trace()).attrs == {"relative": ["cpu"]}


def test_a_cpu_is_relative_though_totals_are_recorded_as_its_allocator_counts_only_while_profiled() -> None:
    script = Script()
    script.memory("cpu", (1, 4000, 4000), (2, 8000, 12000))
    script.memory("cuda:0", (3, 100, 1100))
    assert memory_timeline(script.trace()).attrs == {"relative": ["cpu"]}


def test_nothing_is_allocated_before_the_first_event_where_only_allocations_are_seen() -> None:
    script = Script()
    script.memory("cpu", (1, 10, -1), (2, 5, -1))
    assert [total for _, _, total, _ in totals(script)] == [10, 15]


def test_ranks_have_devices_of_their_own() -> None:
    script = Script()
    for rank in (0, 1):
        track = script.track(f"rank {rank}", rank=rank)
        script.memory("cuda:0", (rank, 10 + rank, -1), track=track)
    assert totals(script) == [(0, "cuda:0", 10, 0), (1, "cuda:0", 11, 1)]
    assert memory_timeline(script.trace()).attrs == {"relative": ["rank 0 cuda:0", "rank 1 cuda:0"]}


def test_a_trace_without_memory_events_gives_an_empty_frame() -> None:
    frame = memory_timeline(TraceBuilder().finish())
    assert list(frame.columns) == ["ts_ns", "device", "total_bytes", "rank"]
    assert len(frame) == 0
