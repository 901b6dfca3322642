"""Which device the breakdown of a trace is told of."""

from __future__ import annotations

from script import Script

from neuron_profile.analysis import breakdown
from neuron_profile.analysis.breakdown import busiest, busiest_steps


def test_the_steps_of_the_device_that_idles_least_are_those_that_are_added_up() -> None:
    script = Script()
    for rank, works in ((0, 3), (1, 6)):  # of two steps of 10 each
        main = script.track("main", pid=rank + 1, rank=rank)
        stream = script.stream(pid=rank + 1, device=0, rank=rank)
        for step in range(2):
            script.add(main, f"ProfilerStep#{step}", "annotation", 10 * step, 10)
            script.add(stream, "gemm", "compute", 10 * step, works)
    frame = breakdown(script.trace())
    mine = busiest_steps(frame)
    assert mine[["rank", "step", "compute_ns"]].to_numpy().tolist() == [[1, 0, 6], [1, 1, 6]]
    assert busiest(frame)["compute_ns"] == 12


def test_without_steps_there_are_none() -> None:
    assert len(busiest_steps(breakdown(Script().trace()))) == 0
