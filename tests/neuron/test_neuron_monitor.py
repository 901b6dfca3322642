"""A stream of neuron-monitor is counters with units, however its objects are printed."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuron_profile import load
from trace_format import NeuronProfileError, Trace, TraceFileError
from trace_format.importers import load_file

T0 = 1_700_000_000_000_000_000


def period(utilization: float = 50.0, **top: Any) -> dict[str, Any]:
    """One period of 2 seconds: a runtime on core 3, and the machine."""
    return {
        "neuron_runtime_data": [{
            "pid": 77, "address": "", "neuron_runtime_tag": "train", "error": "",
            "report": {
                "neuroncore_counters": {"period": 2.0, "error": "", "neuroncores_in_use": {
                    "3": {"neuroncore_utilization": utilization, "flops": 1_000}}},
                "execution_stats": {"period": 2.0, "error": "", "execution_summary": {"completed": 8, "timed_out": 1},
                    "error_summary": {"numerical": 2}, "latency_stats": {"total_latency": {"p50": 0.25}}},
                "memory_used": {"period": 2.0, "error": "", "neuron_runtime_used_bytes": {
                    "host": 100, "usage_breakdown": {"neuroncore_memory_usage": {"3": {"tensors": 64}}}},
                    "loaded_models": [{"name": "m.neff", "uuid": "ab12", "model_id": 10001, "is_running": True}]},
                "neuron_runtime_vcpu_usage": {"period": 2.0, "error": "", "vcpu_usage": {"user": 12.5}},
            },
        }],
        "system_data": {
            "memory_info": {"period": 2.0, "error": "", "memory_used_bytes": 4096},
            "vcpu_usage": {"period": 2.0, "error": "", "usage_data": {"0": {"user": 25.0}}},
            "neuron_hw_counters": {"period": 2.0, "error": "", "neuron_devices": [
                {"neuron_device_index": 1, "mem_ecc_corrected": 3}]},
        },
        "instance_info": {"instance_name": "x", "instance_id": "i-0123456789abcdef0", "error": ""},
        "neuron_hardware_info": {"neuron_device_count": 16, "error": ""},
        **top,
    }  # fmt: skip


def series(trace: Trace) -> dict[str, tuple[str, list[int], list[float]]]:
    """Unit, times and values of each counter, by its group and name."""
    tracks, counters = trace.tracks, trace.counters
    names, units, parents = tracks.text("name"), tracks.text("unit"), tracks.parent.tolist()
    found: dict[str, tuple[str, list[int], list[float]]] = {}
    for ts, track, value in zip(*(getattr(counters, c).tolist() for c in ("ts_ns", "track", "value")), strict=True):
        key = f"{names[parents[track]]}: {names[track]}"
        found.setdefault(key, (units[track], [], []))
        found[key][1].append(ts)
        found[key][2].append(value)
    return found


def write(path: Path, *periods: dict[str, Any], indent: int | None = None, between: str = "\n") -> Path:
    path.write_text(between.join(json.dumps(p, indent=indent) for p in periods))
    return path


def test_every_number_is_a_counter_with_its_unit(tmp_path: Path):
    trace = load_file(write(tmp_path / "monitor.json", period()))
    assert series(trace) == {
        "runtime train PID 77: NC 3 neuroncore utilization": ("ratio", [0], [0.5]),
        "runtime train PID 77: NC 3 flops": ("flop/s", [0], [1000.0]),
        "runtime train PID 77: completed": ("executions", [0], [8.0]),
        "runtime train PID 77: timed out": ("executions", [0], [1.0]),
        "runtime train PID 77: error summary numerical": ("errors", [0], [2.0]),
        "runtime train PID 77: total latency p50": ("s", [0], [0.25]),
        "runtime train PID 77: host": ("bytes", [0], [100.0]),
        "runtime train PID 77: neuroncore memory usage NC 3 tensors": ("bytes", [0], [64.0]),
        "runtime train PID 77: vcpu usage user": ("ratio", [0], [0.125]),
        "system: memory used bytes": ("bytes", [0], [4096.0]),
        "system: vcpu usage CPU 0 user": ("ratio", [0], [0.25]),
        "system: device 1 mem ecc corrected": ("errors", [0], [3.0]),
    }
    names = trace.tracks.text("name")
    assert trace.tracks.core[names.index("NC 3 flops")] == 3
    assert (trace.neffs.text("name"), trace.neffs.text("uuid")) == (["m.neff"], ["ab12"])
    assert trace.report.to_dict() == {"source_events": 1, "kept": 1, "left_out": {}, "repaired": {}}
    assert trace.metadata["sources"][0]["hardware"] == {"neuron_device_count": 16}


@pytest.mark.parametrize(("indent", "between"), [(None, "\n"), (2, "\n"), (None, ""), (1, ",\n")])
def test_periods_follow_each_other_however_they_are_printed(indent: int | None, between: str, tmp_path: Path):
    path = write(tmp_path / "monitor.json", period(10.0), period(20.0), period(30.0), indent=indent, between=between)
    trace = load_file(path)
    found = series(trace)["runtime train PID 77: NC 3 neuroncore utilization"]
    assert found == ("ratio", [0, 2 * 10**9, 4 * 10**9], [0.1, 0.2, 0.3])
    source = trace.metadata["sources"][0]
    assert (source["clock"], source["times_from"]) == ("unknown", "periods")


def test_a_time_that_was_stored_with_a_period_is_its_end(tmp_path: Path):
    path = write(tmp_path / "m.json", period(10.0, timestamp_ns=T0), period(20.0, timestamp="2023-11-14T22:13:25Z"))
    trace = load_file(path)
    times = series(trace)["system: memory used bytes"][1]
    assert times == [T0 - 2 * 10**9, T0 + 3 * 10**9]  # the second ends at T0 + 5 s
    assert trace.metadata["sources"][0]["clock"] == "unix"


def test_a_section_with_an_error_is_counted_and_the_machine_is_not_named(tmp_path: Path):
    bad = period()
    bad["system_data"]["vcpu_usage"] = {"period": 2.0, "error": "no such\nfile"}
    bad["neuron_runtime_data"][0]["error"] = "gone"
    trace = load_file(write(tmp_path / "m.json", bad, bad))
    assert dict(trace.report.repaired) == {
        "runtime train PID 77 has an error in place of values: gone": 2,
        "vcpu_usage has an error in place of values: no such file": 2,
    }
    assert not any("i-0123" in text for text in trace.pool.strings.values)


def test_a_value_that_no_counter_can_have_is_told(tmp_path: Path):
    path = tmp_path / "monitor.json"
    path.write_text(json.dumps(period()).replace("50.0", "1e305") + json.dumps(period()).replace("50.0", "1" * 310))
    trace = load_file(path)
    assert not any("utilization" in name for name in series(trace))
    assert trace.report.repaired == {"value that is no number a counter can have: not shown": 2}


def test_a_stream_cut_off_gives_its_whole_periods(tmp_path: Path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(period()) + "\n" + json.dumps(period())[:-40])
    trace = load_file(path)
    assert trace.report.source_events == 2
    assert trace.report.kept == 1
    assert "the file ends in" in next(iter(trace.report.left_out))


def test_a_stream_without_one_whole_period_is_refused(tmp_path: Path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(period())[:-40])
    with pytest.raises(TraceFileError, match="without one whole period"):
        load_file(path)


def test_a_pipe_is_read_to_its_end(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = json.dumps(period(10.0)) + json.dumps(period(20.0))
    writer = threading.Thread(target=lambda: pipe.write_text(text))
    writer.start()
    trace = load(pipe)
    writer.join()
    assert series(trace)["runtime train PID 77: NC 3 neuroncore utilization"][2] == [0.1, 0.2]
    assert trace.metadata["sources"][0]["path"] == "pipe"


WHOLE = (json.dumps(period()) + "\n" + json.dumps(period())).encode()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cut=st.integers(60, len(WHOLE)),
    flips=st.lists(st.tuples(st.integers(30, len(WHOLE) - 1), st.integers(0, 255)), max_size=5),
)
def test_a_damaged_stream_opens_or_is_refused_in_one_line(cut: int, flips: list[tuple[int, int]], tmp_path: Path):
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
