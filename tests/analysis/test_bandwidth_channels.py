"""Bandwidth by channel: which way bytes went, how fast, and what share of the peak that is."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import Script, untimed

from neuron_profile import load
from neuron_profile.analysis import bandwidth, bandwidth_summary, movers, transfer_sizes
from neuron_profile.analysis.bandwidth.summary import CACHES_OR_PEAK, PEAK_IS_WRONG
from neuron_profile.hardware import DevicePeaks
from trace_format import Trace, TraceBuilder
from trace_format.importers.neuron_device.execution import Execution, add_execution
from trace_format.importers.neuron_device.tracks import DeviceTracks
from trace_format.limits import LATEST_NS, LONGEST_NS


def copies() -> Script:
    """On one device: 1000 bytes to it in 100 ns, 300 within it in 100, 200 set in 50, and 150 ns of who knows."""
    script = Script()
    stream = script.stream(device=0)
    script.add(stream, "Memcpy HtoD (Pinned -> Device)", "memcpy", 0, 100, bytes=1000)
    script.add(stream, "Memcpy DtoD (Device -> Device)", "memcpy", 100, 100, bytes=300)
    script.add(stream, "Memset (Device)", "memset", 200, 50, bytes=200)
    script.add(stream, "kernel", "compute", 250, 150)
    return script


def by_direction(trace: Trace, **options: Any) -> dict[str, dict[str, Any]]:
    frame = bandwidth_summary(trace, **options)
    assert not frame.duplicated(["rank", "device", "core", "side", "direction", "queue"]).any()
    return {row["queue"] or row["direction"]: row for row in frame.to_dict("records")}


def test_a_copy_within_a_memory_is_read_and_written_there() -> None:
    rows = by_direction(copies().trace(), bins=5)
    assert {name: row["bytes"] for name, row in rows.items()} == {
        "memory_read": 300, "memory_write": 300 + 200, "memory": 800, "host_to_device": 1000,
    }  # fmt: skip


def test_rates_are_over_the_window_over_the_active_time_and_of_the_fullest_bin() -> None:
    row = by_direction(copies().trace(), bins=5)["memory"]
    # 800 bytes in 250 ns, of which 150 moved some; bins of 50 ns hold 0, 0, 300, 300, 200
    assert (row["window_ns"], row["active_ns"], row["bin_ns"]) == (250, 150, 50)
    assert row["average_bytes_per_s"] == pytest.approx(3.2e9)
    assert row["active_bytes_per_s"] == pytest.approx(800 / 150 * 1e9)
    assert row["highest_bytes_per_s"] == pytest.approx(6e9)


def test_coverage_is_of_the_time_of_the_work_that_the_channel_is_about() -> None:
    rows = by_direction(copies().trace())
    # of 300 ns that are no copy over the link, 150 tell their bytes
    assert rows["memory"]["coverage_ratio"] == pytest.approx(0.5)
    assert rows["host_to_device"]["coverage_ratio"] == 1.0


def test_a_share_above_one_says_that_the_peak_is_wrong() -> None:
    peaks = DevicePeaks(name="made", source="this test", memory_bytes_per_s=4.9e9)
    rows = by_direction(copies().trace(), bins=5, peaks=peaks)
    row = rows["memory"]
    assert row["peak_source"] == "made: this test"
    assert row["highest_share_ratio"] == pytest.approx(6 / 4.9)
    assert row["warning"] == PEAK_IS_WRONG
    # above 3.92 GB/s: the bins with 6, 6 and 4
    assert (row["above_80_percent_ns"], row["above_80_percent_ratio"]) == (150, pytest.approx(0.6))
    assert rows["memory_read"]["warning"] == ""
    assert math.isnan(rows["host_to_device"]["average_share_ratio"])
    assert rows["host_to_device"]["above_80_percent_ns"] == -1


def test_estimates_above_the_peak_may_come_from_caches() -> None:
    script = Script()
    host, stream = script.track(), script.stream(device=0)
    # 6 + 15 floats read, 10 written
    script.op(host, "aten::mm", 0, 50, [2, 3], [3, 5], external_id=7)
    script.add(stream, "kernel", "compute", 100, 10, external_id=7)
    peaks = DevicePeaks(name="made", source="this test", memory_bytes_per_s=10e9)
    rows = by_direction(script.trace(), peaks=peaks)
    assert {name: row["bytes"] for name, row in rows.items()} == {
        "memory_read": 84, "memory_write": 40, "memory": 124,
    }  # fmt: skip
    assert rows["memory"]["estimated_ratio"] == 1.0
    assert rows["memory"]["warning"] == CACHES_OR_PEAK
    assert rows["memory_read"]["warning"] == ""


def test_the_peak_is_that_of_the_device_by_the_name_it_reports() -> None:
    row = by_direction(copies().trace(device_model="NVIDIA A100-SXM4-80GB"))["memory"]
    # NVIDIA A100 datasheet: 2,039 GB/s
    assert row["peak_bytes_per_s"] == pytest.approx(2.039e12)
    assert "A100" in row["peak_source"]
    assert row["warning"] == ""


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("Memcpy HtoD (Pageable -> Device)", "host_to_device"),
        ("CopyHostToDevice", "host_to_device"),
        ("MemcpyH2D", "host_to_device"),
        ("zeCommandListAppendMemoryCopy(M2D)", "host_to_device"),
        ("Memcpy DtoH (Device -> Pinned)", "device_to_host"),
        ("MemcpyD2H", "device_to_host"),
        ("Memcpy PtoP (Device -> Device)", "peer"),
        ("MemcpyP2P", "peer"),
        ("somebody's copy", "memory"),
    ],
)
def test_the_name_of_a_copy_tells_its_direction(name: str, direction: str) -> None:
    script = Script()
    script.add(script.stream(), name, "memcpy", 0, 10, bytes=8)
    assert list(by_direction(script.trace())) == [direction]


def test_the_runtime_of_neuron_copies_to_and_from_the_device_on_the_host() -> None:
    script = Script()
    host = script.track()
    script.add(host, "tensor_write", "memcpy", 0, 10, bytes=8)
    script.add(host, "tensor_read", "memcpy", 20, 10, bytes=4)
    script.add(host, "mystery", "memcpy", 40, 10, bytes=2)
    rows = by_direction(script.trace())
    assert {name: (row["side"], row["bytes"]) for name, row in rows.items()} == {
        "host_to_device": ("host", 8), "device_to_host": ("host", 4), "unknown": ("host", 2),
    }  # fmt: skip


def test_what_a_runtime_call_allocates_does_not_move() -> None:
    script = Script()
    script.add(script.track(), "hipMalloc", "runtime", 0, 10, bytes=1 << 20)
    assert len(movers(script.trace())) == len(bandwidth_summary(script.trace())) == 0


def neuron_device() -> tuple[Script, DeviceTracks]:
    script = Script()
    tracks = DeviceTracks(script.builder, "trn2", device=0, first_core=4)
    for engine, start in ((64, 0), (65, 50)):
        queue = tracks.queue(4, "qIO", engine)
        script.add(queue, "qIO", "dma", start, 100, bytes=1000, source_category=script.builder.string("data"))
    counter = tracks.counter(4, "HBM throughput", "B/s")
    script.builder["counters"].append(ts_ns=[0, 100, 200], track=counter, value=[1e9, 3e9, 0.0])
    return script, tracks


def test_a_dma_queue_is_one_channel_whatever_engines_serve_it() -> None:
    rows = by_direction(neuron_device()[0].trace())
    queue = rows["qIO"]
    assert (queue["core"], queue["direction"], queue["bytes"], queue["active_ns"]) == (4, "dma_queue", 2000, 150)
    assert queue["coverage_ratio"] == 1.0


def test_a_counter_of_hbm_throughput_tells_the_bytes_of_the_memory() -> None:
    # 1 byte per ns for 100 ns, then 3
    row = by_direction(neuron_device()[0].trace())["memory"]
    assert (row["bytes"], row["active_ns"], row["coverage_ratio"]) == (400, 200, 1.0)


def test_the_peaks_that_a_neuron_profile_states_are_taken() -> None:
    script, tracks = neuron_device()
    facts = Execution(total_time_ps=200_000, instance_type="trn2", hbm_bytes_per_s=7e11, dma_bytes_per_s=4e11)
    add_execution(script.builder, tracks, facts, start_ns=0)
    rows = by_direction(script.trace())
    assert rows["memory"]["peak_bytes_per_s"] == 7e11
    assert rows["qIO"]["peak_bytes_per_s"] == 4e11


def test_a_simulated_queue_has_no_part_in_it() -> None:
    script = Script()
    tracks = DeviceTracks(script.builder, "trn2", device=0, first_core=0, simulated=True)
    script.add(tracks.queue(0, "qIO", 0), "qIO", "dma", 0, 100, bytes=1000)
    counter = tracks.counter(0, "HBM throughput", "B/s")
    script.builder["counters"].append(ts_ns=[0, 100], track=counter, value=[1e9, 0.0])
    assert len(bandwidth_summary(script.trace())) == 0


def test_a_trace_that_tells_of_no_bytes_gives_empty_frames() -> None:
    trace = TraceBuilder().finish()
    assert len(bandwidth_summary(trace)) == len(bandwidth(trace, by="channel")) == 0
    assert list(bandwidth(trace, by="channel").columns)[-2:] == ["bytes_per_s", "estimated_ratio"]


def test_what_is_asked_for_wrongly_is_refused_in_a_line() -> None:
    with pytest.raises(ValueError, match="at least one bin, not 0"):
        bandwidth_summary(copies().trace(), bins=0)
    with pytest.raises(ValueError, match="by 'queue' is unknown: use one of side, channel"):
        bandwidth(copies().trace(), by="queue")


NAMES = ("Memcpy HtoD", "Memcpy DtoH", "Memcpy DtoD", "Memset", "kernel")
EVENTS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 10**6), st.integers(-1, 10**5), st.integers(0, 2**40)),
    min_size=1, max_size=30,
)  # fmt: skip


@untimed
@given(EVENTS, st.integers(1, 40))
def test_the_series_of_each_channel_integrates_to_its_bytes(events: list[tuple[str, int, int, int]], bins: int) -> None:
    script = Script()
    stream = script.stream(device=3)
    for name, start, dur, nbytes in events:
        category = {"Memset": "memset", "kernel": "compute"}.get(name, "memcpy")
        script.add(stream, name, category, start + 1_700_000_000_000_000_000, dur, bytes=nbytes)
    trace = script.trace()

    def whole(*names: str) -> int:
        return sum(nbytes for name, _, dur, nbytes in events if dur >= 0 and name in names)

    expected = {
        "host_to_device": whole("Memcpy HtoD"), "device_to_host": whole("Memcpy DtoH"),
        "memory_read": whole("Memcpy DtoD"), "memory_write": whole("Memcpy DtoD", "Memset"),
    }  # fmt: skip
    series = bandwidth(trace, bins=bins, by="channel")
    moved = series["bytes_per_s"] * (series["end_ns"] - series["start_ns"]) / 1e9
    expected["memory"] = expected["memory_read"] + expected["memory_write"] + whole("kernel")
    for direction, nbytes in moved.groupby(series["direction"]).sum().items():
        assert nbytes == pytest.approx(expected[str(direction)], rel=1e-9, abs=1e-3)
    assert series["direction"].drop_duplicates().tolist() == list(by_direction(trace, bins=bins))
    for direction, row in by_direction(trace, bins=bins).items():
        assert row["bytes"] == expected[direction]
        assert row["active_ns"] <= row["window_ns"]
        assert row["highest_bytes_per_s"] >= row["average_bytes_per_s"] * (1 - 1e-9)


def test_copies_of_a_real_trace_add_up_to_what_its_json_says(corpus: Path) -> None:
    path = corpus / "kineto" / "T019_rank0.json.gz"
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    told = {"HtoD": 0, "DtoH": 0}
    for event in events:
        if event.get("cat") == "gpu_memcpy" and event["name"][7:11] in told:
            told[event["name"][7:11]] += event["args"]["bytes"]
    rows = by_direction(load(path))
    assert (rows["host_to_device"]["bytes"], rows["device_to_host"]["bytes"]) == (told["HtoD"], told["DtoH"])
    assert 0 < rows["memory"]["active_share_ratio"] < 1


def test_the_hbm_bytes_of_a_real_profile_are_those_of_aws_own_summary(corpus: Path) -> None:
    with (corpus / "neuron_json" / "T178_fused_exec_2_profile_full.json").open() as file:
        summary = json.load(file)["summary"][0]
    told = summary["hbm_read_bytes"] + summary["hbm_write_bytes"]
    row = by_direction(load(corpus / "neuron_bin" / "T180_fused_exec_2.ntff"))["memory"]
    # the counter's times are whole nanoseconds, and 4-byte semaphore updates are in it
    assert row["bytes"] == pytest.approx(told, rel=2e-3)


# what importers let through: see trace_format.limits
_FAR = st.one_of(st.integers(-LATEST_NS, LATEST_NS), st.sampled_from([LATEST_NS, -LATEST_NS, 0]))


@untimed
@given(st.lists(st.tuples(st.sampled_from(NAMES), _FAR, st.integers(-1, LONGEST_NS), st.integers(-1, 2**63 - 1))))
def test_times_and_sizes_of_a_broken_file_cost_no_more_than_their_own_numbers(
    events: list[tuple[str, int, int, int]],
) -> None:
    script = Script()
    stream = script.stream(device=0)
    for name, start, dur, nbytes in events:
        script.add(stream, name, "memcpy", start, dur, bytes=nbytes)
    trace = script.trace()
    # a copy within the memory is in two channels, and "memory" is no copy of its own
    told = {"Memcpy HtoD": {"host_to_device"}, "Memcpy DtoH": {"device_to_host"}}
    expected = {
        direction
        for name, _, dur, nbytes in events
        if dur >= 0 and nbytes >= 0
        for direction in told.get(name, {"memory"} | ({"memory_read", "memory_write"} if "DtoD" in name else set()))
    }
    assert set(bandwidth_summary(trace)["direction"]) == expected
    assert len(bandwidth(trace, by="channel")["direction"].unique()) == len(expected)
    assert transfer_sizes(trace).histogram["count"].sum() == sum(d >= 0 and n >= 0 for _, _, d, n in events)
