"""Transfers by size: how many of which, and what the small ones cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import Script, untimed

from neuron_profile import load
from neuron_profile.analysis import transfer_sizes
from neuron_profile.analysis.bandwidth.transfer_sizes import NO_MODEL, NOT_TOLD, OBSERVED, PACKET_MODEL
from trace_format import TraceBuilder
from trace_format.importers.neuron_device.tracks import DeviceTracks

TO_DEVICE = "Memcpy HtoD (Pinned -> Device)"


def rows(frame: Any, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in frame[list(columns)].itertuples(index=False)]


def host_copies(*sizes_and_times: tuple[int, int]) -> Script:
    script = Script()
    stream, start = script.stream(device=0), 0
    for size, dur in sizes_and_times:
        script.add(stream, TO_DEVICE, "memcpy", start, dur, bytes=size)
        start += dur
    return script


def test_bins_are_powers_of_two_and_the_first_is_empty_transfers() -> None:
    histogram = transfer_sizes(host_copies((0, 1), (1, 2), (4, 3), (7, 4), (8, 5)).trace()).histogram
    assert rows(histogram, "at_least_bytes", "below_bytes", "count", "bytes", "dur_ns") == [
        (0, 1, 1, 0, 1), (1, 2, 1, 1, 2), (4, 8, 2, 11, 7), (8, 16, 1, 8, 5),
    ]  # fmt: skip
    assert histogram["count_ratio"].tolist() == [0.2, 0.2, 0.4, 0.2]
    assert histogram["bytes_ratio"].tolist() == [0, 1 / 20, 11 / 20, 8 / 20]
    assert histogram["time_ratio"].tolist() == [1 / 15, 2 / 15, 7 / 15, 5 / 15]


def test_small_copies_would_take_what_the_large_ones_of_the_same_way_take() -> None:
    found = transfer_sizes(host_copies((100, 10), (100, 10), (100, 10), (131072, 1000)).trace())
    small = found.small.iloc[0]
    assert (small["direction"], small["small_below_bytes"]) == ("host_to_device", 65536)
    assert (small["count"], small["count_ratio"], small["bytes"], small["dur_ns"]) == (3, 0.75, 300, 30)
    assert small["time_ratio"] == pytest.approx(30 / 1030)
    # 131.072 bytes per ns: 300 take 2.3 ns; so 28 of the 30 would go
    assert (small["would_take_ns"], small["saved_active_ns"], small["model"]) == (2, 28, OBSERVED)


def test_what_they_would_take_is_unknown_where_nothing_tells() -> None:
    small = transfer_sizes(host_copies((100, 10)).trace()).small.iloc[0]
    assert (small["would_take_ns"], small["saved_active_ns"], small["model"]) == (-1, -1, NO_MODEL)


def test_the_operator_that_asked_for_a_small_copy_is_named() -> None:
    script = host_copies()
    host, stream = script.track(), script.stream("stream 8", device=0)
    script.add(host, "aten::copy_", "host_op", 0, 50)
    script.add(host, "cudaMemcpyAsync", "runtime", 10, 5, correlation=1)
    copy = script.add(stream, TO_DEVICE, "memcpy", 60, 20, correlation=1, bytes=4)
    script.add(stream, TO_DEVICE, "memcpy", 90, 10, bytes=4)
    assert copy == 2
    trace = script.trace()
    makers = transfer_sizes(trace).makers
    assert rows(makers, "what", "kind", "count", "bytes", "dur_ns") == [
        ("aten::copy_", "operator", 1, 4, 20), (NOT_TOLD, "operator", 1, 4, 10),
    ]  # fmt: skip
    assert trace.slices.ts_ns[makers["slice"].to_numpy()].tolist() == [60, 90]


def packets(*sizes: int, queue: str = "qIO", what: str = "data", **args: str) -> Script:
    """Packets of 100 ns, one after the other on DMA engines 64 and 65 in turn, each engine 50 ns behind the other."""
    script = Script()
    tracks = DeviceTracks(script.builder, "device", device=0, first_core=0)
    category = script.builder.string(what)
    for number, size in enumerate(sizes):
        track = tracks.queue(0, queue, 64 + number % 2)
        start = 100 * (number // 2) + 50 * (number % 2)
        script.add(track, queue, "dma", start, 100, bytes=size, source_category=category, args=args)
    return script


def test_packets_below_4_kib_are_small_and_the_time_of_one_of_4_kib_is_what_an_engine_takes() -> None:
    found = transfer_sizes(packets(512, 512, 512, 512, variable="weights").trace(device_model="trn2"))
    small = found.small.iloc[0]
    # NeuronCore-v3: 5.3 ns + 4096 / 27.1 = 156.44 ns for 4 KiB; 2 KiB are half of that
    assert (small["queue"], small["count"], small["would_take_ns"], small["model"]) == ("qIO", 4, 78, PACKET_MODEL)
    # the engines overlap: 400 ns of packets in 250 ns, of which 78 / 400 would stay
    assert (small["dur_ns"], small["active_ns"], small["saved_active_ns"]) == (400, 250, 201)
    assert rows(found.makers, "what", "kind", "count", "bytes") == [("weights", "tensor", 4, 2048)]


def test_4_kib_are_not_small() -> None:
    assert len(transfer_sizes(packets(4096, 8192).trace()).small) == 0


def test_updates_of_semaphores_and_fetches_of_instructions_are_not_small() -> None:
    assert len(transfer_sizes(packets(4, 4).trace()).small) == 0
    assert len(transfer_sizes(packets(64, 64, what="instruction").trace()).small) == 0
    assert len(transfer_sizes(packets(64, 64, what="instruction").trace()).histogram) == 1


def test_a_copy_within_a_memory_counts_once_and_a_memset_or_an_estimate_not_at_all() -> None:
    script = Script()
    host, stream = script.track(), script.stream()
    script.add(stream, "Memcpy DtoD (Device -> Device)", "memcpy", 0, 10, bytes=16)
    script.add(stream, "Memset (Device)", "memset", 10, 10, bytes=16)
    script.op(host, "aten::relu", 0, 8, [5])
    found = transfer_sizes(script.trace())
    assert rows(found.histogram, "direction", "count", "bytes") == [("memory", 1, 16)]
    assert len(found.small) == 0


def test_transfers_without_an_end_or_of_unknown_size_are_left_out() -> None:
    script = host_copies((100, 10))
    stream = script.stream("stream 8", device=0)
    script.add(stream, TO_DEVICE, "memcpy", 5, -1, bytes=7)
    script.add(script.stream("stream 9", device=0), TO_DEVICE, "memcpy", 5, 10)
    assert rows(transfer_sizes(script.trace()).histogram, "count", "bytes") == [(1, 100)]


def test_a_trace_without_transfers_gives_empty_frames() -> None:
    found = transfer_sizes(TraceBuilder().finish())
    assert len(found.histogram) == len(found.small) == len(found.makers) == 0
    assert "would_take_ns" in found.small
    assert "what" in found.makers


@untimed
@given(st.lists(st.tuples(st.integers(0, 2**50), st.integers(0, 10**6)), max_size=40))
def test_the_bins_add_up_to_all_transfers(transfers: list[tuple[int, int]]) -> None:
    found = transfer_sizes(host_copies(*transfers).trace())
    histogram, small = found.histogram, found.small
    assert histogram["count"].sum() == len(transfers)
    assert histogram["bytes"].sum() == sum(size for size, _ in transfers)
    assert histogram["dur_ns"].sum() == sum(dur for _, dur in transfers)
    assert (histogram["bytes"] >= histogram["count"] * histogram["at_least_bytes"]).all()
    assert (histogram["bytes"] < histogram["count"] * histogram["below_bytes"]).all()
    assert small["count"].sum() == sum(size < 65536 for size, _ in transfers) == found.makers["count"].sum()
    assert (small["would_take_ns"] <= small["dur_ns"]).all()


def test_a_real_kernel_that_loads_by_256_bytes_is_found(corpus: Path) -> None:
    found = transfer_sizes(load(corpus / "neuron_bin" / "T180_fused_exec_2.ntff"))
    small = found.small.set_index("queue")
    # of 672 packets of this queue 512 have 256 bytes, 96 have 4096 (AWS's JSON of the same run: dma rows of Q0)
    assert (small.loc["qGpSimdDynamic", "count"], small.loc["qGpSimdDynamic", "bytes"]) == (512, 512 * 256)
    assert "Q14" not in small.index
