"""How busy the lanes of devices are; every number worked out beside its test."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from collective_script import Ranks
from hypothesis import given
from hypothesis import strategies as st
from script import Script, untimed

from neuron_profile.analysis import device_lanes
from trace_format import TraceBuilder


def two_streams() -> Script:
    """Device 0 of rank 1: stream 7 works in [0, 30) and [20, 50), stream 9 copies in [40, 60); the host to 100."""
    script = Script()
    host = script.track(rank=1)
    script.add(host, "aten::mm", "host_op", 0, 100)
    late = script.stream("stream 9", rank=1, device=0)
    early = script.stream("stream 7", rank=1, device=0)
    script.add(early, "gemm", "compute", 0, 30)
    script.add(early, "gemm", "compute", 20, 30)
    script.add(early, "ProfilerStep#1", "annotation", 0, 100)  # names work, is none
    script.add(late, "Memcpy HtoD", "memcpy", 40, 20)
    return script


def test_a_device_is_busy_while_any_of_its_streams_works() -> None:
    found = device_lanes(two_streams().trace(), bins=10)
    lanes = found.lanes
    assert lanes["name"].tolist() == ["", "stream 9", "stream 7"]
    assert lanes["kind"].tolist() == ["device", "stream", "stream"]
    assert lanes[["rank", "device", "core"]].drop_duplicates().to_numpy().tolist() == [[1, 0, -1]]
    assert lanes["slices"].tolist() == [3, 1, 2]
    assert lanes["busy_ns"].tolist() == [60, 20, 50]  # [0, 50) and [40, 60) are [0, 60)
    assert lanes["busy_ratio"].tolist() == [0.6, 0.2, 0.5]
    assert found.edges_ns.tolist() == list(range(0, 101, 10))
    assert found.busy_ratio.tolist() == [
        [1, 1, 1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 0, 0, 0, 0, 0],
    ]  # fmt: skip


def test_measured_and_simulated_lanes_are_never_mixed() -> None:
    script = two_streams()
    for name, kind, engine in (("loads (simulated)", "dma_queue", ""), ("Vector (simulated)", "engine", "Vector"),
                               ("Tensor (simulated)", "engine", "Tensor")):  # fmt: skip
        track = script.builder.track(name, kind=kind, simulated=1, core=0, engine=engine)
        script.add(track, "mm", "dma" if kind == "dma_queue" else "compute", 200, 50)
    trace = script.trace()
    assert device_lanes(trace).lanes["busy_ns"].tolist() == [60, 20, 50]
    simulated = device_lanes(trace, bins=2, simulated=True)
    assert simulated.lanes["name"].tolist() == ["", "Tensor", "Vector", "loads (simulated)"]
    assert simulated.edges_ns.tolist() == [200, 225, 250]
    assert simulated.busy_ratio.tolist() == [[1, 1]] * 4


def test_a_trace_without_devices_has_no_lanes() -> None:
    for trace in (TraceBuilder().finish(), two_streams().trace()):
        found = device_lanes(trace, simulated=True)
        assert len(found.lanes) == 0
        assert found.busy_ratio.size == 0
    with pytest.raises(ValueError, match="at least one bin"):
        device_lanes(TraceBuilder().finish(), bins=0)


@untimed
@given(st.lists(st.tuples(st.integers(0, 90), st.integers(1, 60)), min_size=1, max_size=12), st.integers(1, 20))
def test_the_bins_of_a_lane_hold_what_a_naive_count_finds(slices: list[tuple[int, int]], bins: int) -> None:
    script = Script()
    track = script.stream(device=0)
    for start, dur in slices:
        script.add(track, "gemm", "compute", start, dur)
    found = device_lanes(script.trace(), bins=bins)
    busy = {moment for start, dur in slices for moment in range(start, start + dur)}
    edges = found.edges_ns.tolist()
    naive = [sum(first <= at < last for at in busy) / (last - first) for first, last in itertools.pairwise(edges)]
    assert np.allclose(found.busy_ratio[0], naive)
    assert found.lanes["busy_ns"].tolist() == [len(busy)] * 2


def test_a_device_that_waits_for_a_rank_in_a_collective_does_not_work() -> None:
    script = Ranks(2)
    for rank, come in enumerate((2000, 2800)):
        script.work(rank, 1000, come)
        script.collective(rank, come, 3000, seq=1)
    lanes = device_lanes(script.job(hosts=["a", "a"]), bins=10).lanes
    # rank 0 computes 1000 and is alone in the collective for 800; then both move data for 200; rank 1 computes 1800
    assert lanes[lanes["track"] < 0]["busy_ns"].tolist() == [1200, 2000]
    assert lanes[lanes["name"].str.startswith("nccl")]["busy_ns"].tolist() == [200, 200]
