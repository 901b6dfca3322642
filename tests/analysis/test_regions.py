"""Steps, modules and the times between collectives, as regions of a trace."""

from __future__ import annotations

from typing import Any

import pytest
from script import Script

from neuron_profile import analysis
from trace_format import Trace

ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def found(trace: Trace, kind: str, **how: Any) -> list[tuple[str, int, int, int]]:
    frame = analysis.regions(trace, kind, **how)
    assert (frame["dur_ns"] == frame["end_ns"] - frame["start_ns"]).all()
    return list(frame[["name", "start_ns", "end_ns", "rank"]].itertuples(index=False, name=None))


def model() -> Script:
    """A model of two layers, the second with an attention; the loss lies beside the model and did not end."""
    script = Script()
    main = script.track(rank=0)
    for name, start, dur in (
        ("nn.Module: Net_0", 10, 90), ("nn.Module: Layer_0", 20, 30), ("nn.Module: Layer_1", 55, 40),
        ("net.py(7): forward", 56, 38), ("nn.Module: Attention_0", 60, 20), ("nn.Module: Loss_0", 100, -1),
    ):  # fmt: skip
        script.add(main, name, "python", start, dur)
    return script


def test_modules_are_told_apart_by_how_many_lie_around_them() -> None:
    trace = model().trace()
    assert found(trace, "modules") == [("Net_0", 10, 100, 0)]
    assert found(trace, "modules", depth=1) == [("Layer_0", 20, 50, 0), ("Layer_1", 55, 95, 0)]
    assert found(trace, "modules", depth=2) == [("Attention_0", 60, 80, 0)]
    assert found(trace, "modules", depth=3) == []
    assert analysis.regions(trace, "modules").attrs == {"deepest": 2, "unfinished": 1, "kind": "modules", "why": ""}


def test_modules_in_recorded_stacks_span_the_operators_that_follow_one_another_in_them() -> None:
    script = Script()
    main, other = script.track("main"), script.track("other")
    net, first, second = "nn.Module: Net_0", "nn.Module: Linear_0", "nn.Module: Linear_1"
    script.add(main, "aten::mm", "host_op", 0, 10, stack=["train.py(3): step", net, first])
    script.add(main, "aten::add", "host_op", 12, 3, stack=[net, "net.py(9): forward", first])
    script.add(main, "aten::mm", "host_op", 20, 10, stack=[net, second])
    script.add(main, "aten::sum", "host_op", 40, 5, stack=["train.py(4): step"])
    script.add(other, "aten::mm", "host_op", 5, 1, stack=[net, first])
    trace = script.trace()
    assert found(trace, "modules") == [("Net_0", 0, 30, -1), ("Net_0", 5, 6, -1)]
    assert found(trace, "modules", depth=1) == [
        ("Linear_0", 0, 15, -1),
        ("Linear_0", 5, 6, -1),
        ("Linear_1", 20, 30, -1),
    ]
    assert analysis.regions(trace, "modules").attrs["deepest"] == 1


def test_between_collectives_is_what_no_collective_of_the_rank_covers() -> None:
    script = Script()
    streams = [script.stream(f"stream of {rank}", rank=rank, device=rank) for rank in (0, 1)]
    for track, name, start, dur in (
        (streams[0], "gemm", 0, 10), (streams[0], ALL_REDUCE, 10, 10),
        (streams[0], "ncclDevKernel_AllGather_RING_LL", 18, 12), (streams[0], ALL_REDUCE, 50, 5),
        (streams[1], ALL_REDUCE, 0, 60),
    ):  # fmt: skip
        script.add(track, name, "collective" if "nccl" in name else "compute", start, dur)
    assert found(script.trace(), "between collectives") == [
        ("before all_reduce", 0, 10, 0),
        ("all_gather to all_reduce", 30, 50, 0),
        ("after all_reduce", 55, 60, 0),
    ]


def test_steps_are_those_that_were_marked_and_never_the_whole_window() -> None:
    script = Script()
    main = script.track(rank=0)
    script.add(main, "ProfilerStep#3", "annotation", 0, 10)
    assert found(script.trace(), "steps") == [("ProfilerStep#3", 0, 10, 0)]
    assert analysis.regions(model().trace(), "steps").attrs["why"].startswith("no steps were marked")


def test_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="kind must be one of steps, modules, between collectives, not 'layers'"):
        analysis.regions(model().trace(), "layers")
