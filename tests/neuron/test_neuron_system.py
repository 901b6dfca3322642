"""A system profile shows framework, runtime and hardware of each process; what is damaged costs itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neuron_system_files import INSTANCE, T0, saved, system_event, system_profile

from trace_format import NeuronProfileError, Trace, TraceFileError
from trace_format.importers import load_file


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    return load_file(saved(tmp_path / "system_profile.json", system_profile()))


def path_of(trace: Trace, track: int) -> str:
    names, parents = trace.tracks.text("name"), trace.tracks.parent.tolist()
    parts = []
    while track >= 0:
        parts.append(names[track])
        track = parents[track]
    return "/".join(reversed(parts))


def lanes(trace: Trace) -> dict[str, str]:
    """The place of each slice, by its name."""
    slices = trace.slices
    places = [path_of(trace, track) for track in slices.track.tolist()]
    return dict(zip(slices.text("name"), places, strict=True))


def row(trace: Trace, name: str) -> int:
    return trace.slices.text("name").index(name)


def test_events_lie_where_awss_viewer_has_them(trace: Trace):
    assert lanes(trace) == {
        "aten::mm": "instance 0/PID 77/framework/TID 9",
        "nrt_execute": "instance 0/PID 77/neuron_rt/NC 0 · TID 12",
        "tensor_read": "instance 0/PID 77/neuron_rt/NC 0 · TID 12",
        "model.neff": "instance 0/PID 77/neuron_hw/NC 0:4",
        "cc_running": "instance 0/PID 77/neuron_hw/NC 0 collectives",
    }


def test_an_event_keeps_its_time_category_bytes_ids_and_what_else_it_says(trace: Trace):
    slices = trace.slices
    ran, read = row(trace, "model.neff"), row(trace, "tensor_read")
    assert (slices.ts_ns[ran], slices.dur_ns[ran]) == (T0 + 1_000, 7_000)
    assert slices.text("category")[ran] == "compute"
    assert slices.text("source_category")[ran] == "nc_exec_running"
    assert (slices.correlation[ran], slices.event_index[ran]) == (41, 4)
    assert trace.pool.args(int(slices.args[ran])) == {"exec_id": 3, "model_name": "model.neff"}
    assert trace.tracks.core[slices.track[ran]] == 4
    assert (slices.text("category")[read], slices.bytes[read]) == ("memcpy", 4096)
    assert trace.pool.args(int(slices.args[read])) == {"tensor_id": 5, "tensor_name": "out"}


def test_one_request_is_followed_from_the_framework_to_the_hardware(trace: Trace):
    names, flows = trace.slices.text("name"), trace.flows
    arrows = {
        (names[a], names[b], kind)
        for a, b, kind in zip(flows.from_slice.tolist(), flows.to_slice.tolist(), flows.text("kind"), strict=True)
    }
    assert arrows == {
        ("aten::mm", "nrt_execute", "nrta_seq_id"),
        ("nrt_execute", "model.neff", "nrta_seq_id"),
        ("nrt_execute", "model.neff", "parent_id"),
    }


def test_a_collective_whose_operation_is_told_is_a_row_of_collectives(trace: Trace):
    assert trace.collectives.text("op") == ["all_reduce"]
    assert trace.collectives.text("algorithm") == ["Ring"]
    assert trace.slices.text("name")[trace.collectives.slice[0]] == "cc_running"


def test_cpu_and_memory_are_counters_with_units(trace: Trace):
    tracks, counters = trace.tracks, trace.counters
    found: dict[str, list[float]] = {}
    for track, value in zip(counters.track.tolist(), counters.value.tolist(), strict=True):
        found.setdefault(f"{tracks.text('name')[track]} [{tracks.text('unit')[track]}]", []).append(value)
    assert found == {
        "CPU 0 host_cpu_util [ratio]": [0.25, 0.75],
        "host memory [bytes]": [float(1 << 33)],
        "host memory used [ratio]": [0.5],
        "HBM 1 total [bytes]": [1000.0],
        "HBM 1 dram spill [bytes]": [24.0],
    }


def test_the_report_counts_every_row_and_repeats_the_profilers_warnings(trace: Trace):
    assert trace.report.to_dict() == {
        "source_events": 9, "kept": 9, "left_out": {},
        "repaired": {"the profiler warns: DGE notifications were off": 1},
    }  # fmt: skip
    source = trace.metadata["sources"][0]
    assert (source["clock"], source["hbm_capacity_bytes"], source["instances"]) == ("unix", 1 << 34, 1)
    assert trace.metadata["pid"] == 77


def test_the_id_of_the_machine_is_nowhere_in_the_trace(trace: Trace):
    texts = [*trace.pool.strings.values, *(a.decode() for a in trace.pool.arg_sets.values), str(dict(trace.metadata))]
    assert not any(INSTANCE in text for text in texts)


def test_the_older_key_is_read_and_events_of_two_processes_stay_apart(tmp_path: Path):
    events = [
        system_event("nrt_execute", 0, 5, nc_idx=0, id=1),
        system_event("nrt_execute", 0, 5, nc_idx=0, id=1, process_id="78", instance_id="other-host"),
    ]
    trace = load_file(saved(tmp_path / "a.json", {"trace_events": events}))
    places = {path_of(trace, track) for track in trace.slices.track.tolist()}
    assert places == {"instance 0/PID 77/neuron_rt/NC 0", "other-host/PID 78/neuron_rt/NC 0"}
    assert "pid" not in trace.metadata


@pytest.mark.parametrize(
    ("event", "cause"),
    [
        ({"name": "x"}, "event without a time"),
        ({"timestamp": 5}, "event without a name"),
        (7, "item that is no event"),
        (system_event("x", 2**62, 1), "event whose time no clock shows"),
        (system_event("x", 0, 2**54), "event longer than 104 days"),
    ],
)
def test_an_event_that_cannot_be_shown_is_counted(event: Any, cause: str, tmp_path: Path):
    trace = load_file(saved(tmp_path / "a.json", {"trace_event": [system_event("ok", 0, 1), event]}))
    assert trace.slices.text("name") == ["ok"]
    assert trace.report.to_dict()["left_out"] == {cause: 1}
    assert trace.report.kept == 1


def test_numbers_as_text_and_other_units_are_understood(tmp_path: Path):
    event = {"name": "x", "timestamp": "1700000000000000", "duration": "3", "timestamp_unit": "us", "process_id": 4}
    trace = load_file(saved(tmp_path / "a.json", {"trace_event": [event]}))
    assert trace.slices.ts_ns.tolist() == [T0]
    assert trace.slices.dur_ns.tolist() == [3000]


def test_a_file_cut_off_gives_what_is_whole(tmp_path: Path):
    whole = json.dumps({"trace_event": [system_event("a", 0, 1), system_event("b", 2, 1), system_event("c", 4, 1)]})
    path = tmp_path / "cut.json"
    path.write_text(whole[: whole.index('"c"') + 1])
    trace = load_file(path)
    assert trace.slices.text("name") == ["a", "b"]
    assert trace.report.to_dict()["left_out"] == {"item that the file ends in": 1}
    assert any("ends early" in cause for cause in trace.report.repaired)


def test_a_profile_without_a_row_that_can_be_read_is_refused_in_one_line(tmp_path: Path):
    with pytest.raises(TraceFileError, match="no row can be read") as refused:
        load_file(saved(tmp_path / "a.json", {"trace_event": [{"name": 3}]}))
    assert "\n" not in str(refused.value)


WHOLE = json.dumps(system_profile()).encode()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cut=st.integers(0, len(WHOLE)),
    flips=st.lists(st.tuples(st.integers(20, len(WHOLE) - 1), st.integers(0, 255)), max_size=4),
)
def test_a_damaged_profile_opens_or_is_refused_in_one_line(
    cut: int, flips: list[tuple[int, int]], tmp_path: Path
) -> None:
    data = bytearray(WHOLE)
    for place, byte in flips:
        data[place] = byte
    path = tmp_path / "damaged.json"
    path.write_bytes(data[: max(cut, 40)])
    try:
        report = load_file(path).report.to_dict()
    except NeuronProfileError as error:
        assert "\n" not in str(error)
    else:
        assert report["kept"] + sum(report["left_out"].values()) == report["source_events"]
