"""Under which headings the timeline shows tracks: processes, and the groups within them."""

from __future__ import annotations

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


def test_parents_in_a_circle_end() -> None:
    builder = TraceBuilder()
    first = builder.track("a", parent=1)
    second = builder.track("b", parent=0)
    builder["slices"].append(2, track=[first, second], ts_ns=[0, 0], dur_ns=[1, 1])
    assert sorted(name for _, _, _, names in headings(builder.finish()) for name in names) == ["a", "b"]
