"""What a simulated device would do with its time: its own table, never mixed with what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from script import Script

from neuron_profile import analysis, load
from neuron_profile.analysis.breakdown import SIMULATED_PARTS, busiest, by_device
from neuron_profile.simulation import Settings, simulate
from trace_format import Trace, TraceBuilder


def parts(trace: Trace) -> dict[str, int]:
    frame = analysis.simulated_breakdown(trace)
    assert len(frame) == 1
    row: Any = frame.iloc[0]
    assert row["total_ns"] == sum(row[name] for name in SIMULATED_PARTS)
    return {name: int(row[name]) for name in SIMULATED_PARTS if row[name]}


def device() -> Script:
    """Two runs [100, 200) and [250, 300): Tensor and Vector overlap, DMA before and after, a collective at the end."""
    script = Script()
    runs = script.track("Executions (simulated)", kind="device_annotation", simulated=1)
    script.add(runs, "neff", "annotation", 100, 100)
    script.add(runs, "neff", "annotation", 250, 50)
    tensor = script.track("Tensor (simulated)", kind="engine", simulated=1)
    vector = script.track("Vector (simulated)", kind="engine", simulated=1)
    queue = script.track("loads (simulated)", kind="dma_queue", simulated=1)
    lane = script.track("Collectives (simulated)", kind="collective", simulated=1)
    script.add(tensor, "mm", "compute", 120, 40)
    script.add(vector, "add", "compute", 150, 30)
    script.add(queue, "load", "dma", 105, 25)  # 15 before the engines
    script.add(tensor, "mm", "compute", 260, 30)
    script.add(lane, "all_reduce", "collective", 280, 70)  # 10 under the engine, past the end of the run
    return script


def test_the_parts_of_a_simulated_device_sum_to_its_time() -> None:
    # [100, 350): engines 120-180 and 260-290; collective 290-350; DMA 105-120; runs otherwise
    # 100-105, 180-200, 250-260; no run 200-250
    assert parts(device().trace()) == {
        "compute_ns": 90, "exposed_collective_ns": 60, "exposed_copy_ns": 15, "idle_run_ns": 35, "idle_host_ns": 50,
    }  # fmt: skip


def test_measured_work_is_no_part_of_it() -> None:
    script = device()
    alone = parts(script.trace())
    stream = script.stream("stream 7", device=0)
    script.add(stream, "gemm", "compute", 0, 1000)
    assert parts(script.trace()) == alone


def test_it_says_what_it_is_an_estimate_of() -> None:
    trace = device().trace(simulated={"generation": "trn2", "lnc": 1, "mode": "eager", "uncertainty": "±2x"})
    assert analysis.simulated_breakdown(trace).attrs == {
        "estimated": True, "generation": "trn2", "lnc": 1, "mode": "eager", "uncertainty": "±2x",
    }  # fmt: skip


def test_each_rank_has_a_device_of_its_own() -> None:
    script = Script()
    for rank, dur in ((0, 10), (1, 30)):
        engine = script.track("Tensor (simulated)", kind="engine", simulated=1, rank=rank)
        script.add(engine, "mm", "compute", 0, dur)
    frame = analysis.simulated_breakdown(script.trace())
    assert [(one["rank"], one["compute_ns"]) for one in by_device(frame)] == [(0, 10), (1, 30)]


def test_a_trace_without_a_simulated_device_has_no_rows() -> None:
    frame = analysis.simulated_breakdown(TraceBuilder().finish())
    assert len(frame) == 0
    assert busiest(frame) == {}
    assert frame.attrs["estimated"]


def test_a_simulated_real_trace_adds_up_and_its_engines_are_those_of_the_estimate(corpus: Path) -> None:
    trace = simulate(load(next((corpus / "kineto").glob("T001*"))), Settings(generation="trn2"))
    frame = analysis.simulated_breakdown(trace)
    assert (frame[list(SIMULATED_PARTS)].sum(axis=1) == frame["total_ns"]).all()
    found = analysis.simulated_device(trace)
    assert found is not None
    assert len(frame)
    engines = found.lines[found.lines["bytes"] < 0].groupby("rank")["busy_ns"]
    # the union of engines is at least the busiest one, at most all one after the other
    assert (frame["compute_ns"].to_numpy() >= engines.max().to_numpy()).all()
    assert (frame["compute_ns"].to_numpy() <= engines.sum().to_numpy()).all()
