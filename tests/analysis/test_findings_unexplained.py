"""Findings about a device that idles for a reason which the trace does not tell; sizes worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from training import Training

from neuron_profile import load
from neuron_profile.analysis import Finding, findings
from trace_format import Trace


def only(trace: Trace) -> Finding:
    (found,) = findings(trace)
    return found


def launched_long_before(call: str = "cudaGraphLaunch", dur: float = 0.1) -> Trace:
    """Steps of 100 ms whose work begins at 60, launched at 1: idle 59 ms after the launch, and 1 before."""
    script = Training(3, 100)
    for number, at in enumerate(script.starts, 1):
        script.host(call, at + 1, dur, "runtime", correlation=number)
        script.work(at + 60, 40, name="first", correlation=number)
    return script.trace()


def names(trace: Trace, found: Finding) -> list[str]:
    return [trace.pool.strings[int(trace.slices.name[row])] for row in found.slices]


def test_idling_after_a_launch_is_named_and_promises_no_time() -> None:
    trace = launched_long_before()
    found = only(trace)
    assert (found.rule, found.recoverable_ns) == ("unexplained-idle", -1)
    assert found.to_dict()["recoverable_ns"] is None
    assert found.title == "The device idles 59.0 % of the time after its work was launched: the trace does not tell why"
    assert (
        found.evidence[0] == "longest gap: 59.0 ms before first, from its launch by cudaGraphLaunch, a call of 100 µs"
    )
    assert names(trace, found)[:2] == ["first", "cudaGraphLaunch"]
    assert found.advice.startswith("Open the longest gap")


def test_a_call_that_takes_most_of_the_one_gap_is_a_first_call() -> None:
    script = Training(1, 100)
    script.host("hipLaunchKernel", 1, 58, "runtime", correlation=1)
    script.work(60, 40, correlation=1)
    assert only(script.trace()).advice.startswith("A first call loads code")


def test_many_short_gaps_are_not_blamed_on_the_longest() -> None:
    script = Training(1, 100)
    for number in range(200):  # pieces of 0.2 ms, 0.3 ms apart, all launched in the first microseconds
        script.work(number * 0.5 + 0.3, 0.2, called=number * 0.000001)
    found = only(script.trace())
    assert found.evidence[0] == "no gap is long: the device does 200 pieces of work per step"
    assert found.advice.startswith("Each piece of work begins late")


def test_without_a_host_it_says_that_the_host_is_missing() -> None:
    script = Training(0, 100)
    script.work(0, 10)
    script.work(90, 10)
    found = only(script.trace())
    assert found.title.startswith("The device idles 80.0 % of the time and no launch is known")
    assert "no events of the host were recorded" in found.evidence[0]
    assert found.advice.startswith("Record the host as well")


def test_without_the_launching_calls_it_asks_for_them() -> None:
    script = Training(1, 100)
    script.work(0, 10)
    script.work(90, 10)
    found = only(script.trace())
    assert found.evidence[0] == "the launches of 2 of its 2 pieces of work were not recorded"
    assert found.advice.startswith("Record the calls that launch work")


def test_work_that_lacks_after_the_last_one_is_counted_against_the_launches() -> None:
    script = Training(1, 100)
    script.work(0, 10, called=0)
    for number in range(9):
        script.host("cudaLaunchKernel", 20 + number, 0.01, "runtime", correlation=100 + number)
    found = only(script.trace())
    # 10 calls in all; idle 10-100
    assert found.title.startswith("The device idles 90.0 % of the time")
    assert found.evidence[:2] == (
        "the host made 10 launching calls, the device has 1 piece of work",
        "longest gap: 90.0 ms after the last work that was recorded",
    )


def test_of_several_ranks_it_names_the_one_it_is_of() -> None:
    script = Training(2, 100, ranks=(0, 3))
    for rank, begin in ((0, 90), (3, 60)):
        for at in script.starts:
            script.work(at + begin, 100 - begin, called=at, rank=rank)
    found = only(script.trace())
    assert (found.rank, found.title.split(" idles")[0]) == (3, "On rank 3 the device")


@pytest.mark.parametrize(
    ("path", "share"),
    [
        ("T001_mi250_minitoy_train_ROCm6_2_kineto.json.gz", "72.4 %"),
        ("T041_sglang_Qwen3-8B_decode.json.gz", "97.8 %"),
        ("T042_bs_32_rank0.json.gz", "97.1 %"), ("T046_graph_execution.json.gz", "48.6 %"),
        ("T019_rank0.json.gz", "54.9 %"),
    ],
)  # fmt: skip
def test_recorded_traces_in_which_idling_is_not_explained(corpus: Path, path: str, share: str) -> None:
    found = [one for one in findings(load(corpus / "kineto" / path)) if one.rule == "unexplained-idle"]
    assert len(found) == 1
    assert f" idles {share} of the time" in found[0].title
    assert found[0].slices
