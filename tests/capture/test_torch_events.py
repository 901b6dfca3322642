"""What is read live agrees with torch's own JSON of the same run, event by event."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from event_comparison import DERIVED, described, flows
from torch.profiler import ProfilerActivity, profile

from collectors import Window
from collectors.torch_profiler.events import TorchEvents
from trace_format import Trace, TraceBuilder
from trace_format.importers import load_file

CPU = [ProfilerActivity.CPU]


def workload() -> None:
    """Forward and backward, an optimizer, annotations."""
    torch.manual_seed(0)
    model = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    convolution = torch.nn.Conv2d(2, 4, 3, padding=1)
    optimizer = torch.optim.AdamW([*model.parameters(), *convolution.parameters()])
    for number in range(2):
        with torch.profiler.record_function(f"step {number}"):
            optimizer.zero_grad()
            model(torch.randn(2, 4, 8)).sum().backward()
            convolution(torch.randn(1, 2, 5, 5)).square().mean().backward()
            optimizer.step()


def live(prof: Any) -> Trace:
    builder = TraceBuilder()
    TorchEvents(Window(profile=prof)).collect(builder, host="here", rank=-1)
    return builder.finish()


def saved(prof: Any, path: Path) -> Trace:
    prof.export_chrome_trace(str(path))
    return load_file(path)


@pytest.mark.parametrize("with_stack", [False, True], ids=["plain", "with_stack"])
@pytest.mark.parametrize("whole", [True, False], ids=["everything", "bare"])
def test_live_events_are_those_of_torchs_own_file(with_stack: bool, whole: bool, tmp_path: Path):
    with profile(
        activities=CPU, record_shapes=whole, with_flops=whole, profile_memory=whole, with_stack=with_stack,
        with_modules=with_stack,
    ) as prof:  # fmt: skip
        workload()
    one, other = live(prof), saved(prof, tmp_path / "torch.json")
    assert described(one, "slices", "flops", *DERIVED) == described(other, "slices", "flops", *DERIVED)
    assert described(one, "memory") == described(other, "memory")
    assert flows(one) == flows(other)
    assert len(one.instants) == 0
    assert (len(one.memory) > 0) is whole
    assert len(one.flows) > 0


def test_a_name_that_torchs_own_file_calls_unknown_is_kept():
    name = 'ß, "quotes" \\ and {"a": [1]}'
    with profile(activities=CPU) as prof, torch.profiler.record_function(name):
        pass
    assert name in live(prof).slices.text("name")


def test_what_had_not_ended_when_the_window_did_is_unfinished():
    block = torch.profiler.record_function("open")
    prof = profile(activities=CPU)
    prof.start()
    with torch.profiler.record_function("closed"):
        block.__enter__()
        torch.ones(2)
    prof.stop()
    block.__exit__(None, None, None)
    trace = live(prof)
    ends = dict(zip(trace.slices.text("name"), trace.slices.dur_ns.tolist(), strict=True))
    assert ends.pop("open") == -1
    assert min(ends.values()) > 0
    assert trace.report.kept == trace.report.source_events
    assert trace.report.repaired == {"still running when the profiler stopped: shown as unfinished": 1}


def test_every_event_torch_handed_over_is_counted(tmp_path: Path):
    with profile(activities=CPU, record_shapes=True, profile_memory=True) as prof:
        workload()
    trace = live(prof)
    activities = prof.profiler.kineto_results.trace_activities()
    flow_ends = sum(activity.flow_id() > 0 for activity in activities)
    assert trace.report.source_events == len(activities) + flow_ends
    assert trace.report.clean
    assert len(trace.slices) + len(trace.memory) == len(activities)


def test_the_way_by_the_saved_file_gives_the_same(tmp_path: Path):
    with profile(activities=CPU, record_shapes=True, with_flops=True, profile_memory=True) as prof:
        workload()
    old_results = SimpleNamespace(save=prof.profiler.kineto_results.save)  # as torch before 2.13 has them
    old_profiler = SimpleNamespace(kineto_results=old_results, trace_id=prof.get_trace_id())
    old = SimpleNamespace(profiler=old_profiler, with_flops=True, use_device=None)
    builder = TraceBuilder()
    collector = TorchEvents(Window(profile=prof))
    collector._profile = lambda: old
    collector.collect(builder, host="here", rank=2)
    found, expected = builder.finish(), live(prof)
    assert described(found, "slices", *DERIVED) == described(expected, "slices", *DERIVED)
    assert described(found, "memory") == described(expected, "memory")
    assert flows(found) == flows(expected)
    assert set(found.tracks.rank.tolist()) == {2}
    assert set(found.tracks.text("host")) == {"here"}
    assert found.metadata["sources"] == expected.metadata["sources"]


def multiply_and_convolve() -> None:
    a, b, c = torch.randn(3, 4), torch.randn(4, 5), torch.randn(2, 3, 4)
    convolve, x = torch.nn.functional.conv2d, torch.randn(2, 4, 9, 11)
    a @ b
    torch.addmm(torch.randn(5), a, b)
    torch.bmm(c, torch.randn(2, 4, 5))
    torch.baddbmm(torch.randn(2, 3, 5), c, torch.randn(2, 4, 5))
    torch.nn.functional.linear(c, torch.randn(5, 4))
    a + 1, a * 2, a + torch.randn(4), torch.randn(4) * a, torch.tensor(1.0) + a, torch.tensor(1.0) * torch.tensor(2.0)
    torch.ops.aten.mul.Scalar(a, 3), a.add_(1), a.mul_(2), a.int() + 1
    torch.empty(0, 4) @ b, torch.empty(3, 0) @ torch.empty(0, 5), torch.empty(0) + 1
    convolve(x, torch.randn(6, 4, 3, 3))
    convolve(x, torch.randn(6, 4, 3, 3), bias=torch.randn(6), stride=(2, 1), padding=(1, 2))
    convolve(x, torch.randn(8, 1, 3, 3), groups=4, dilation=2)
    convolve(x, torch.randn(6, 4, 3, 2), padding="same")
    convolve(x[0], torch.randn(6, 4, 3, 3))
    torch.nn.functional.scaled_dot_product_attention(c, c, c)


def flops_by_external_id(trace: Trace) -> dict[int, float]:
    pairs = zip(trace.slices.external_id.tolist(), trace.slices.flops.tolist(), strict=True)
    return {external: flops for external, flops in pairs if not math.isnan(flops)}


@pytest.mark.parametrize("body", [multiply_and_convolve, workload], ids=["ops", "training"])
def test_flops_are_those_torch_counts(body: Callable[[], None]):
    with profile(activities=CPU, record_shapes=True, with_flops=True) as prof:
        body()
    counted = {e.correlation_id(): float(e.flops()) for e in prof.profiler.kineto_results.events() if e.flops()}
    assert len(counted) > 5
    assert flops_by_external_id(live(prof)) == counted
