"""What Chrome, Node and viztracer write beside torch.profiler's kinds of events. Values are worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trace_event_files import complete, event, load_events, load_text

from trace_format import Trace


def flows_of(trace: Trace) -> set[tuple[str, str]]:
    names = trace.slices.text("name")
    return {(names[a], names[b]) for a, b in zip(trace.flows.from_slice, trace.flows.to_slice, strict=True)}


def samples_of(trace: Trace) -> list[tuple[int, tuple[str, ...], int]]:
    rows = zip(trace.samples.ts_ns.tolist(), trace.samples.stack.tolist(), trace.samples.weight.tolist(), strict=True)
    return [(ts, trace.pool.frames(stack), weight) for ts, stack, weight in rows]


def test_object_events_are_moments_on_a_track_of_the_object(tmp_path: Path) -> None:
    events = [
        event("N", "Layer", 1, id="0x1"),
        event("O", "Layer", 2, id="0x1", args={"snapshot": {"w": 3}}),
        event("D", "Layer", 3, id="0x1"),
        event("N", "Layer", 4, id="0x2"),
    ]
    trace = load_events(tmp_path, events)
    instants, tracks = trace.instants, trace.tracks
    assert instants.ts_ns.tolist() == [1000, 2000, 3000, 4000]
    assert [tracks.text("source_tid")[t] for t in instants.track] == ["0x1", "0x1", "0x1", "0x2"]
    assert [trace.pool.args(int(a)) for a in instants.args] == [
        {"object": "created"}, {"object": "snapshot", "snapshot": {"w": 3}}, {"object": "deleted"},
        {"object": "created"},
    ]  # fmt: skip
    assert trace.report.clean


@pytest.mark.parametrize(
    ("phase", "said"),
    [("v", "process memory dump"), ("V", "global memory dump"), ("c", "clock sync"), ("(", "enter context"),
     (")", "leave context"), ("=", "link")],
)  # fmt: skip
def test_events_of_rare_kinds_are_moments_that_say_what_they_were(phase: str, said: str, tmp_path: Path) -> None:
    trace = load_events(tmp_path, [event(phase, "x", 1, args={"k": 1})])
    assert trace.pool.args(int(trace.instants.args[0])) == {"event": said, "k": 1}
    assert trace.report.clean


def test_slices_that_name_a_flow_themselves_are_joined(tmp_path: Path) -> None:
    events = [
        complete("send", 0, 2, bind_id="0x9", flow_out=True),
        complete("relay", 5, 2, tid=2, bind_id="0x9", flow_in=True, flow_out=True),
        complete("receive", 9, 2, tid=3, bind_id="0x9", flow_in=True),
        complete("alone", 20, 2, bind_id="0x8", flow_out=True),
    ]
    trace = load_events(tmp_path, events)
    assert flows_of(trace) == {("send", "relay"), ("relay", "receive")}
    assert trace.flows.flow_id.tolist() == [9, 9]
    assert trace.report.clean  # an arrow into nowhere costs no event


def test_ids_in_their_process_and_in_a_scope_keep_operations_apart(tmp_path: Path) -> None:
    events = [
        event("b", "op", 1, id2={"local": "0x1"}), event("e", "op", 3, id2={"local": "0x1"}),
        event("b", "op", 2, id="0x1", scope="frame"), event("e", "op", 6, id="0x1", scope="frame"),
    ]  # fmt: skip
    trace = load_events(tmp_path, events)
    shown = [trace.tracks.text("source_tid")[t] for t in trace.slices.track]
    assert dict(zip(shown, trace.slices.dur_ns.tolist(), strict=True)) == {"local:0x1": 2000, "frame:0x1": 4000}


def test_the_chunks_of_a_cpu_profile_become_samples_at_their_times(tmp_path: Path) -> None:
    def chunk(ts: float, samples: list[int], deltas: list[int], nodes: list[dict[str, Any]]) -> dict[str, Any]:
        data = {"cpuProfile": {"nodes": nodes, "samples": samples}, "timeDeltas": deltas}
        return event("P", "ProfileChunk", ts, id="0x1", tid=9, args={"data": data})

    frames: list[dict[str, Any]] = [
        {"id": 1, "callFrame": {"functionName": "(root)"}},
        {"id": 2, "parent": 1, "callFrame": {"functionName": "f", "url": "a.js", "lineNumber": 6}},
        {"id": 3, "parent": 2, "callFrame": {"functionName": ""}},
    ]
    events = [
        event("P", "Profile", 100, id="0x1", tid=4, args={"data": {"startTime": 100}}),
        chunk(400, [2], [50], frames[2:]),  # chunks come out of order
        chunk(300, [3, 1], [10, 20], frames[:2]),
    ]
    trace = load_events(tmp_path, events)
    assert samples_of(trace) == [
        (110_000, ("(root)", "f a.js:7", "(anonymous)"), 1),
        (130_000, ("(root)",), 1),
        (180_000, ("(root)", "f a.js:7"), 1),
    ]
    assert trace.tracks.tid[trace.samples.track].tolist() == [4, 4, 4]
    assert trace.report.to_dict()["kept"] == 3


def test_sample_events_and_samples_beside_the_events_name_a_shared_stack(tmp_path: Path) -> None:
    frames = {"1": {"name": "main"}, "7": {"name": "f", "parent": 1}, "8": {"name": "g", "parent": "7"}}
    events = [event("P", "SampleA", 5), event("P", "SampleB", 7, sf=8)]
    beside = [{"cpu": 0, "tid": "1", "ts": "9.5", "sf": 7, "weight": "3"}, {"tid": 1, "sf": 1}, "nonsense"]
    trace = load_events(tmp_path, events, samples=beside, stackFrames=frames)
    assert samples_of(trace) == [
        (5000, ("SampleA",), 1), (7000, ("main", "f", "g"), 1), (9500, ("main", "f"), 3),
    ]  # fmt: skip
    assert trace.report.to_dict() == {
        "source_events": 2, "kept": 2, "left_out": {}, "repaired": {"sample without a time: left out": 2},
    }  # fmt: skip


def test_stack_frames_that_go_in_circles_end(tmp_path: Path) -> None:
    frames = {"1": {"name": "a", "parent": "2"}, "2": {"name": "b", "parent": "1"}}
    trace = load_events(tmp_path, [event("P", "x", 1, sf=1)], stackFrames=frames)
    assert samples_of(trace) == [(1000, ("b", "a"), 1)]


def test_a_file_cut_out_of_the_middle_of_a_list_opens(tmp_path: Path) -> None:
    text = '"name":"cut","ts":1,"dur":1,"ph":"X"},\n{"ph":"X","name":"a","ts":5,"dur":2},{"ph":"X","na'
    trace = load_text(tmp_path, text)
    assert trace.slices.text("name") == ["cut", "a"]
    assert trace.report.to_dict() == {
        "source_events": 3, "kept": 2,
        "left_out": {f"event cut off by the end of the file (byte {text.rindex('{')})": 1},
        "repaired": {"the file begins inside its list of events": 1},
    }  # fmt: skip
