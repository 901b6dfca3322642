"""The longest gaps of devices and what they wait for; every number worked out beside its test."""

from __future__ import annotations

import pytest
from script import Script

from neuron_profile import analysis
from trace_format import Trace, TraceBuilder


def gaps() -> Trace:
    """A device works in [0, 10), [30, 40), [100, 110), [125, 130): gaps of 20, 60 and 15.

    The second piece was launched at 25: 15 of the host, 5 of the launch. The third at 45: 5 of the host, 55 of the
    launch. The last by nobody who is known.
    """
    script = Script()
    host, stream = script.track(), script.stream(device=0)
    for correlation, launched in ((2, 25), (3, 45)):
        script.add(host, "cudaLaunchKernel", "runtime", launched, 1, correlation=correlation)
    for correlation, name, start, dur in ((0, "first", 0, 10), (2, "second", 30, 10), (3, "third", 100, 10),
                                          (0, "last", 125, 5)):  # fmt: skip
        script.add(stream, name, "compute", start, dur, correlation=correlation)
    return script.trace()


def test_gaps_come_longest_first_with_what_they_wait_for() -> None:
    trace = gaps()
    frame = analysis.idle_gaps(trace)
    assert frame[["start_ns", "end_ns", "dur_ns"]].to_numpy().tolist() == [[40, 100, 60], [10, 30, 20], [110, 125, 15]]
    assert frame["cause"].tolist() == ["idle_launch_ns", "idle_host_ns", "idle_other_ns"]
    assert frame["idle_host_ns"].tolist() == [5, 15, 0]
    assert frame["idle_launch_ns"].tolist() == [55, 5, 0]

    def named(column: str) -> list[str]:
        rows = frame[column].tolist()
        return [trace.pool.strings[int(trace.slices.name[row])] if row >= 0 else "" for row in rows]

    assert named("after") == ["second", "first", "third"]
    assert named("before") == ["third", "second", "last"]
    assert named("launched_by") == ["cudaLaunchKernel", "cudaLaunchKernel", ""]


def test_the_causes_add_up_to_the_gap_and_top_keeps_the_longest() -> None:
    frame = analysis.idle_gaps(gaps(), top=2)
    causes = [name for name in frame.columns if name.startswith("idle_")]
    assert frame[causes].sum(axis=1).tolist() == frame["dur_ns"].tolist() == [60, 20]


def test_without_work_of_a_device_there_are_no_gaps() -> None:
    assert analysis.idle_gaps(TraceBuilder().finish()).empty
    with pytest.raises(ValueError, match="top must be a whole number from 1 up, not 0"):
        analysis.idle_gaps(gaps(), top=0)
