"""Events of the runtime are paired and merged by hand-worked rules; what the ring lost is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neuron_system_files import T0, execution_events, runtime_event, runtime_events, saved

from trace_format import NeuronProfileError, Trace, TraceFileError
from trace_format.importers import load_file
from trace_format.importers.neuron_system import runtime_events as reading


def load(tmp_path: Path, events: list[object]) -> Trace:
    return load_file(saved(tmp_path / "events.json", {"events": events, "data_version": 2}))


def rows(trace: Trace) -> list[tuple[str, str, int, int]]:
    """Track, type, start after T0 and duration of each slice, in order of time."""
    slices, names = trace.slices, trace.tracks.text("name")
    found = zip(
        [names[track] for track in slices.track.tolist()], slices.text("source_category"),
        (slices.ts_ns - T0).tolist(), slices.dur_ns.tolist(), strict=True,
    )  # fmt: skip
    return sorted(found, key=lambda found: (found[2], found[0]))


def test_starts_find_their_stops_and_two_cores_make_one_execution(tmp_path: Path):
    trace = load_file(saved(tmp_path / "events.json", runtime_events()))
    assert rows(trace) == [
        ("NC 0 · TID 12", "tensor_write", 0, 40),
        ("NC 0 · TID 12", "nrt_execute", 100, 8_900),
        ("NC 0", "nc_exec_running", 1_000, 7_100),  # min(1000, 1200) to max(8000, 8100)
        ("NC 0:4", "nc_exec_running", 1_000, 7_000),
        ("NC 0:5", "nc_exec_running", 1_200, 6_900),
    ]
    assert trace.report.to_dict() == {"source_events": 9, "kept": 9, "left_out": {}, "repaired": {}}
    source = trace.metadata["sources"][0]
    assert (source["clock"], source["data_version"], source["executions_of_several_cores"]) == ("unix", 2, 1)
    assert source["events_by_nc"] == {"0": 9}


def test_the_merged_execution_is_no_second_work(tmp_path: Path):
    trace = load_file(saved(tmp_path / "events.json", runtime_events()))
    names = trace.tracks.text("name")
    by_track = {
        names[track]: category
        for track, category in zip(trace.slices.track.tolist(), trace.slices.text("category"), strict=True)
    }
    assert by_track["NC 0"] == "annotation"
    assert by_track["NC 0:4"] == "compute"
    assert trace.tracks.text("kind")[names.index("NC 0")] == "device_annotation"


def test_a_transfer_has_its_bytes_and_a_moment_is_an_instant(tmp_path: Path):
    trace = load_file(saved(tmp_path / "events.json", runtime_events()))
    write = trace.slices.text("source_category").index("tensor_write")
    assert (trace.slices.bytes[write], trace.slices.text("category")[write]) == (512, "memcpy")
    assert trace.pool.args(int(trace.slices.args[write])) == {"tensor_id": 5}
    assert trace.instants.text("name") == ["hw_notify"]
    assert trace.instants.ts_ns.tolist() == [T0 + 5_000]


def test_executions_of_one_core_or_with_a_number_used_again_are_not_merged(tmp_path: Path):
    events = [*execution_events(0, 10, 1, 4, 7), *execution_events(100, 110, 2, 4, 7)]
    assert rows(load(tmp_path, events)) == [
        ("NC 0:4", "nc_exec_running", 0, 10),
        ("NC 0:4", "nc_exec_running", 100, 10),
    ]
    both = [*events, *execution_events(2, 12, 3, 5, 7), *execution_events(103, 113, 4, 5, 7)]
    merged = [row for row in rows(load(tmp_path, both)) if row[0] == "NC 0"]
    assert merged == [("NC 0", "nc_exec_running", 0, 12), ("NC 0", "nc_exec_running", 100, 13)]


def test_what_the_ring_overwrote_and_what_did_not_end_is_counted(tmp_path: Path):
    events = [
        runtime_event("nrt_execute", "stop", 5, 1),
        runtime_event("nrt_execute", "start", 10, 2),
        runtime_event("nrt_execute", "stop", 30, 2),
        runtime_event("nrt_execute", "start", 40, 3),
    ]
    trace = load(tmp_path, events)
    assert [row[2:] for row in rows(trace)] == [(10, 20), (40, -1)]
    assert trace.report.to_dict() == {
        "source_events": 4, "kept": 3,
        "left_out": {"stop without its start (the ring had overwritten it)": 1},
        "repaired": {"start without its stop: shown as not finished": 1},
    }  # fmt: skip


def test_a_full_ring_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "_RING_EVENTS", 9)
    trace = load_file(saved(tmp_path / "events.json", runtime_events()))
    assert list(trace.report.repaired) == ["the ring of NC 0 is full (9 events): older ones were overwritten"]


def test_a_request_is_followed_to_the_hardware(tmp_path: Path):
    ran = execution_events(1_000, 2_000, 3, 4, 7)
    ran[0]["nrta_seq_id"] = 41
    call = [runtime_event("nrt_execute", "start", 0, 2, nrta_seq_id=41), runtime_event("nrt_execute", "stop", 50, 2)]
    trace = load(tmp_path, [*call, *ran])
    kinds = trace.slices.text("source_category")
    assert [(kinds[trace.flows.from_slice[0]], kinds[trace.flows.to_slice[0]])] == [("nrt_execute", "nc_exec_running")]
    assert trace.flows.flow_id.tolist() == [41]


def test_cores_on_a_clock_of_their_own_are_moved_by_their_sync_points(tmp_path: Path):
    ran = execution_events(0, 0, 1, 4, 7)
    ran[0]["data"]["nc_timestamp_ns"], ran[1]["data"]["nc_timestamp_ns"] = 5_000, 5_700
    sync = runtime_event("timestamp_sync_point", "instant", 300, 2,
                         data={"nc_timestamp_ns": 4_000, "cpu_timestamp_ns": T0 + 250})  # fmt: skip
    trace = load(tmp_path, [*ran, sync])
    assert rows(trace) == [("NC 0:4", "nc_exec_running", 1_250, 700)]  # 5000 - 4000 + 250
    trace = load(tmp_path, ran)
    assert rows(trace) == [("NC 0:4", "nc_exec_running", 50, 0)]  # the host saw both 50 ns after 0
    assert list(trace.report.repaired) == ["time of a core that cannot be related to the host's: the host's is shown"]


def test_types_that_nobody_documented_and_phases_by_number_are_read(tmp_path: Path):
    events = [runtime_event("Quantum_Leap", "start", 0, 1), runtime_event("Quantum_Leap", "stop", 7, 1),
              runtime_event("other", "unknown", 9, 2), {"event_type": "x"}, 5]  # fmt: skip
    events[0]["phase"], events[1]["phase"] = 0, 1
    trace = load(tmp_path, events)
    assert rows(trace) == [("NC 0 · TID 12", "quantum_leap", 0, 7)]
    assert trace.slices.text("name") == ["Quantum_Leap"]
    assert trace.instants.text("name") == ["other"]
    assert trace.report.to_dict()["left_out"] == {"event without a time": 1, "item that is no event": 1}


def test_a_file_without_events_that_can_be_read_is_refused(tmp_path: Path):
    with pytest.raises(TraceFileError, match="no event that can be read"):
        load_file(saved(tmp_path / "events.json", {"events": [{"event_type": "x"}], "data_version": 2}))


def test_an_empty_ring_is_an_empty_trace(tmp_path: Path):
    trace = load_file(saved(tmp_path / "events.json", {"events": [], "data_version": 2}))
    assert len(trace.slices) == 0
    assert trace.report.clean


WHOLE = json.dumps(runtime_events()).encode()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cut=st.integers(60, len(WHOLE)),
    flips=st.lists(st.tuples(st.integers(40, len(WHOLE) - 1), st.integers(0, 255)), max_size=4),
)
def test_damaged_events_open_or_are_refused_in_one_line(cut: int, flips: list[tuple[int, int]], tmp_path: Path):
    data = bytearray(WHOLE)
    for place, byte in flips:
        data[place] = byte
    path = tmp_path / "damaged.json"
    path.write_bytes(data[:cut])
    try:
        report = load_file(path).report.to_dict()
    except NeuronProfileError as error:
        assert "\n" not in str(error)
    else:
        assert report["kept"] + sum(report["left_out"].values()) == report["source_events"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.permutations(runtime_events()["events"]), kept=st.integers(0, 9))
def test_any_order_and_any_part_of_the_events_is_accounted_for(events: list[object], kept: int, tmp_path: Path):
    report = load(tmp_path, events[:kept]).report.to_dict()
    assert report["source_events"] == kept
    assert report["kept"] + sum(report["left_out"].values()) == kept
