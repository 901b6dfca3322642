"""Under which headings the timeline shows tracks: processes, and the groups within them."""

from __future__ import annotations

import pytest
from neuron_runs import attention

from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.overview import overview
from trace_format import Trace, TraceBuilder


def headings(trace: Trace) -> list[tuple[str, int, bool, list[str]]]:
    return [
        (process["name"], process["level"], process["folded"], [track["name"] for track in process["tracks"]])
        for process in overview(TimelineData(trace))["processes"]
    ]


def test_a_device_stands_as_cores_with_their_engines_queues_and_semaphores_below() -> None:
    assert headings(attention().trace()) == [
        ("nd0 nc4", 0, False, ["Executions"]),
        ("Core 4", 1, False, ["Tensor", "Vector", "GpSimd", "Throttle"]),
        ("DMA", 2, False, ["qSyncDynamicHW · E64", "qGpSimdDynamic · E64", "Q14 · E64", "qSyncDynamicHW · E65"]),
        ("Semaphores", 2, True, ["S[3] (GpSimd)"]),
        ("Core 5", 1, False, ["Tensor"]),
    ]


def test_a_group_without_tracks_of_its_own_is_named_in_those_below_it() -> None:
    builder = TraceBuilder()
    outer = builder.track("job")
    middle = builder.track("node", parent=outer)
    line = builder.track("cpu", parent=builder.track("socket", parent=middle))
    builder["slices"].append(1, track=line, ts_ns=0, dur_ns=1)
    assert headings(builder.finish()) == [("job › node › socket", 0, False, ["cpu"])]


def test_tracks_below_one_that_has_slices_stand_under_its_process() -> None:
    builder = TraceBuilder()
    process = builder.track("process")
    thread = builder.track("thread", parent=process)
    fiber = builder.track("fiber", parent=thread)
    builder["slices"].append(2, track=[thread, fiber], ts_ns=[0, 0], dur_ns=[1, 1])
    assert headings(builder.finish()) == [("process", 0, False, ["thread", "fiber"])]


def test_a_long_group_within_a_process_begins_folded() -> None:
    builder = TraceBuilder()
    group = builder.track("queues", parent=builder.track("device"))
    tracks = [builder.track(f"q{number}", parent=group) for number in range(25)]
    own = builder.track("runs", parent=0)
    builder["slices"].append(26, track=[*tracks, own], ts_ns=[0] * 26, dur_ns=[1] * 26)
    assert [(name, folded) for name, _, folded, _ in headings(builder.finish())] == [
        ("device", False),
        ("queues", True),
    ]


def test_streams_stand_in_the_order_of_their_numbers_at_the_places_of_streams() -> None:
    builder = TraceBuilder()
    gpu = builder.track("GPU 0")
    names = [f"stream {number}" for number in (7, 25, 285, 84)]
    tracks = [builder.track(name, kind="stream", parent=gpu) for name in names]
    tracks.insert(2, builder.track("marks", kind="device_annotation", parent=gpu))
    builder["slices"].append(5, track=tracks, ts_ns=[0] * 5, dur_ns=[1] * 5)
    ((_, _, _, shown),) = headings(builder.finish())
    assert [name for name in shown if name != "marks"] == ["stream 7", "stream 25", "stream 84", "stream 285"]


@pytest.mark.parametrize(("ranks", "open_"), [(8, 8), (9, 2)])
def test_of_many_ranks_the_first_two_begin_open(ranks: int, open_: int) -> None:
    builder = TraceBuilder()
    tracks = [builder.track("main", kind="host_thread", pid=rank, rank=rank) for rank in range(ranks)]
    builder["slices"].append(ranks, track=tracks, ts_ns=[0] * ranks, dur_ns=[1] * ranks)
    outer = [(name, folded) for name, level, folded, _ in headings(builder.finish()) if level == 0]
    assert outer == [(f"Rank {rank}", rank >= open_) for rank in range(ranks)]


def test_parents_in_a_circle_end() -> None:
    builder = TraceBuilder()
    first = builder.track("a", parent=1)
    second = builder.track("b", parent=0)
    builder["slices"].append(2, track=[first, second], ts_ns=[0, 0], dur_ns=[1, 1])
    assert sorted(name for _, _, _, names in headings(builder.finish()) for name in names) == ["a", "b"]
