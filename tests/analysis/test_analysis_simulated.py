"""What the analysis says of a simulated device, and that it keeps it apart from what was measured."""

from __future__ import annotations

import pandas as pd
import pytest
from script import Script

from neuron_profile import analysis
from neuron_profile.analysis.breakdown import breakdown
from neuron_profile.simulation import simulate
from trace_format import Trace
from trace_format.importers.neuron_device.tracks import DeviceTracks


def estimated() -> Trace:
    """A host op of 100 ns; a simulated core that runs a NEFF from 50 to 150 and one of two operators from 200 to 400.

    Tensor works 20 ns in the first and 60 in the second, of 300 ns in NEFFs; 64 + 32 bytes come in.
    """
    script = Script()
    script.op(script.track(rank=0), "aten::mm", 0, 100, [4, 4], [4, 4])
    tracks = DeviceTracks(script.builder, "core", first_core=0, rank=0, simulated=True)
    for name, start, dur in (
        ("aten::mm", 50, 100),
        ("graph", 200, 200),
        ("aten::mm", 200, 150),
        ("aten::add", 350, 50),
    ):
        script.add(tracks.executions(), name, "annotation", start, dur)
    script.add(tracks.engine(0, "Tensor"), "aten::mm", "compute", 60, 20)
    script.add(tracks.engine(0, "Tensor"), "aten::mm", "compute", 210, 60)
    script.add(tracks.queue(0, "loads", -1), "aten::mm", "dma", 55, 5, bytes=64)
    script.add(tracks.queue(0, "loads", -1), "aten::mm", "dma", 205, 5, bytes=32)
    return script.trace()


def test_engines_are_busy_in_the_time_that_neffs_run() -> None:
    found = analysis.simulated_device(estimated())
    assert found is not None
    assert (found.span_ns, found.running_ns) == (350, 300)
    lines = found.lines.set_index("line")
    assert lines["busy_ns"].to_dict() == {"Tensor": 80, "DMA loads": 10}
    assert lines["busy_ratio"].to_dict() == pytest.approx({"Tensor": 80 / 300, "DMA loads": 10 / 300})
    assert lines["bytes"].to_dict() == {"Tensor": -1, "DMA loads": 96}


def test_the_operators_of_a_graph_count_instead_of_it() -> None:
    found = analysis.simulated_device(estimated())
    assert found is not None
    assert found.operators[["name", "count", "total_ns"]].to_numpy().tolist() == [
        ["aten::mm", 2, 250],
        ["aten::add", 1, 50],
    ]


def test_the_window_and_the_steps_are_of_what_was_measured() -> None:
    trace = estimated()
    assert trace.time_range_ns == (0, 400)
    assert analysis.summarize(trace).window_ns == (0, 100)
    assert analysis.steps(trace)[["start_ns", "end_ns"]].to_numpy().tolist() == [[0, 100]]


def test_a_trace_without_a_simulated_device_has_none() -> None:
    script = Script()
    script.op(script.track(), "aten::mm", 0, 100, [4, 4], [4, 4])
    assert analysis.simulated_device(script.trace()) is None


def test_every_number_of_a_trace_stays_what_it_was() -> None:
    script = Script()
    thread = script.track(rank=0)
    script.add(thread, "ProfilerStep#1", "annotation", 0, 5000)
    for start in (100, 1000, 2000):
        script.op(thread, "aten::mm", start, 500, [64, 64], [64, 64])
    script.add(script.stream(rank=0, device=0), "gemm", "compute", 1500, 300)
    trace = script.trace()
    simulated = simulate(trace)
    for function in (
        analysis.hotspots, analysis.steps, analysis.time_by_category, analysis.bytes_moved, analysis.bandwidth,
        analysis.movers, breakdown,
    ):  # fmt: skip
        pd.testing.assert_frame_equal(function(trace), function(simulated))
