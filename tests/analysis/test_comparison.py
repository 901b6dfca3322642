"""Two traces against each other, and conditions on what changed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_profile.analysis import Gate, diff
from neuron_profile.analysis.comparison import GateError
from neuron_profile.analysis.comparison.change import _medians, change
from neuron_profile.analysis.comparison.samples import Samples
from trace_format import CATEGORIES, NeuronProfileError, Trace, TraceBuilder

US, MS = 1_000, 1_000_000
HOST_OP, ANNOTATION = CATEGORIES.index("host_op"), CATEGORIES.index("annotation")


def run(*step_ms: float, operators: dict[str, float] | None = None, peak_bytes: int = 0,
        compiles_told: bool = False) -> Trace:  # fmt: skip
    """Steps of these lengths one behind the other; in each, operators of these lengths in ms one behind the other."""
    builder = TraceBuilder()
    thread = builder.track("python", kind="host_thread", pid=1, tid=1)

    def add(name: str, category: int, start_ns: int, dur_ns: int) -> None:
        builder["slices"].append(
            ts_ns=[start_ns], dur_ns=[dur_ns], track=thread, name=builder.string(name), category=category
        )

    at = 0
    for number, length in enumerate(step_ms):
        add(f"ProfilerStep#{number}", ANNOTATION, at, round(length * MS))
        inside = at
        for name, spent in (operators or {}).items():
            add(name, HOST_OP, inside, round(spent * MS))
            inside += round(spent * MS)
        at += round(length * MS)
    if peak_bytes:
        builder["memory"].append(
            ts_ns=[1, 2], device=builder.string("cpu"), delta_bytes=[peak_bytes, -peak_bytes],
            total_bytes=[peak_bytes, 0],
        )  # fmt: skip
    return builder.finish(metadata={"sources": [{"format": "torch-structured-log"}]} if compiles_told else {})


def noisy(mean_ms: float, seed: int, steps: int = 20) -> Trace:
    """Steps with 1 % of noise."""
    return run(*np.random.default_rng(seed).normal(mean_ms, 0.01 * mean_ms, steps))


def test_the_numbers_are_medians_of_steps() -> None:
    found = diff(run(10, 11, 30), run(12, 14, 13))
    assert (found.step_time.base, found.step_time.new) == (11 * MS, 13 * MS)
    assert found.step_time.ratio == pytest.approx(2 / 11)
    assert found.step_time.is_point
    assert found.notes == (
        "3 and 3 steps: too few to tell a change from noise, so the medians are compared as they are",
    )


def test_operations_are_new_gone_slower_or_faster_for_each_step() -> None:
    base = run(10, 10, operators={"aten::mm": 2, "aten::add": 1, "aten::old": 3, "aten::same": 1})
    new = run(10, 10, 10, operators={"aten::mm": 3, "aten::add": 0.5, "aten::young": 0.25, "aten::same": 1})
    found = diff(base, new).operations
    assert found[["name", "side", "what", "base_ns", "new_ns", "difference_ns"]].to_numpy().tolist() == [
        ["aten::old", "host", "gone", 3 * MS, 0, -3 * MS],
        ["aten::mm", "host", "slower", 2 * MS, 3 * MS, 1 * MS],
        ["aten::add", "host", "faster", 1 * MS, 0.5 * MS, -0.5 * MS],
        ["aten::young", "host", "new", 0, 0.25 * MS, 0.25 * MS],
    ]
    assert found["ratio"].tolist()[1:3] == [0.5, -0.5]
    assert found["base_count"].tolist() == [1, 1, 1, 0]


@given(st.lists(st.floats(1, 50), min_size=1, max_size=8))
def test_a_trace_against_itself_has_no_change(lengths: list[float]) -> None:
    trace = run(*lengths, operators={"aten::mm": 0.5})
    found = diff(trace, trace)
    assert len(found.operations) == 0
    assert all(one.difference == 0 and one.low <= 0 <= one.high for one in found.numbers.values())
    assert not Gate.parse("step_time > +0%").judge(found).fails


@pytest.mark.parametrize("seed", range(25))
def test_at_twenty_noisy_steps_equal_runs_pass_and_five_percent_fail(seed: int) -> None:
    gate = Gate.parse("step_time > +3%")
    base = noisy(100, 1000 + seed)
    assert not gate.judge(diff(base, noisy(100, seed))).fails
    assert gate.judge(diff(base, noisy(105, seed))).fails


def test_noise_alone_fails_no_gate_though_the_median_is_beyond_it() -> None:
    base, new = run(90, 95, 100, 105, 110), run(93, 98, 104, 110, 116)
    found = diff(base, new)
    assert found.step_time.ratio == pytest.approx(0.04)
    assert found.step_time.low < 0 < found.step_time.high
    assert not found.step_time.is_real
    assert not Gate.parse("step_time > +3%").judge(found).fails


def test_with_fewer_than_five_steps_points_are_compared() -> None:
    found = diff(run(100, 100, 100, 100), run(104, 104, 104, 104))
    assert Gate.parse("step_time > +3%").judge(found).fails
    assert not Gate.parse("step_time > +5%").judge(found).fails


def test_from_five_runs_on_the_runs_are_the_samples() -> None:
    base = [run(10, 10, 90) for _ in range(5)]
    new = [run(11, 11, 11) for _ in range(6)]
    found = diff(base, new)
    assert (found.step_time.base_samples, found.step_time.new_samples) == (5, 6)
    assert (found.step_time.base, found.step_time.new) == (10 * MS, 11 * MS)
    assert diff(base[:4], new[:4]).step_time.base_samples == 12  # the steps of four runs


@pytest.mark.parametrize(
    ("condition", "fails"),
    [
        ("step_time > 19ms", True),
        ("step_time > 20ms", False),
        ("step_time >= 20 ms", True),
        ("step_time < 0.03s", True),
        ("step_time > +9ms", True),
        ("step_time > +10ms", False),
        ("step_time > +99%", True),
        ("step_time < -1%", False),
        ("compute > +1ms", True),
        ("idle_host > +7ms", True),
        ("peak_memory > 1.9kB", True),
        ("peak_memory > 2 KiB", False),
        ("peak_memory > +90%", True),
        ("compiles > 0", False),
        ("hotspot:aten::mm.self_time > +1.9ms", True),
        ("hotspot:aten::mm.self_time > +2ms", False),
    ],
)
def test_a_condition_is_about_a_change_where_it_has_a_sign(condition: str, fails: bool) -> None:
    base = run(10, 10, operators={"aten::mm": 1}, peak_bytes=1000, compiles_told=True)
    new = run(20, 20, operators={"aten::mm": 3}, peak_bytes=2000, compiles_told=True)
    # compute 1 -> 3 ms, idle 9 -> 17 ms
    assert Gate.parse(condition).judge(diff(base, new)).fails is fails


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("", "'' is no condition; write a number, one of > >= < <= and a limit, like 'step_time > +3%'"),
        ("step_time", "is no condition; write a number, "),
        ("step_time > fast", "numbers are step_time, compute, "),
        ("bogus > 1", "take one of step_time, compute, "),
        ("hotspot:aten::mm.bogus > 1", "or hotspot:OPERATION.self_time"),
        ("speed > 3ms", "'speed' in 'speed > 3ms' is no number of a summary: take one of step_time, compute"),
        ("step_time > 3%", "a percentage is of a change; write +3% or -3%"),
        ("step_time > 3GB", "'GB' is no unit of step_time; write %, or ns, us"),
        ("step_time > 3", "'no unit' is no unit of step_time"),
        ("peak_memory > 3ms", "'ms' is no unit of peak_memory"),
    ],
)
def test_a_condition_that_says_nothing_is_told_so(condition: str, words: str) -> None:
    with pytest.raises(GateError) as raised:
        Gate.parse(condition)
    assert words in str(raised.value)


def test_a_condition_about_what_the_traces_do_not_tell_is_told_so() -> None:
    found = diff(run(10), run(10))
    for condition, words in (
        ("peak_memory > 1B", "do not tell peak_memory"),
        ("compiles > 0", "do not tell compiles"),  # nobody listened to torch's log
        ("hotspot:aten::nothing.self_time > 1ns", "neither trace has an operation 'aten::nothing'"),
    ):
        with pytest.raises(GateError) as raised:
            Gate.parse(condition).judge(found)
        assert words in str(raised.value)


def with_noisy_operator(mean_ms: float, seed: int, *, every: int = 1, steps: int = 20) -> Trace:
    """Steps of 100 ms, every so many of them with an aten::mm of about this length, 3 % of noise."""
    builder = TraceBuilder()
    thread = builder.track("python", kind="host_thread", pid=1, tid=1)
    for number, spent in enumerate(np.random.default_rng(seed).normal(mean_ms, 0.03 * mean_ms, steps).tolist()):
        at = number * 100 * MS
        rows = [(f"ProfilerStep#{number}", ANNOTATION, 100 * MS)]
        if number % every == 0:
            rows.append(("aten::mm", HOST_OP, round(spent * MS)))
        for name, category, dur_ns in rows:
            builder["slices"].append(
                ts_ns=[at], dur_ns=[dur_ns], track=thread, name=builder.string(name), category=category
            )
    return builder.finish()


@pytest.mark.parametrize("seed", range(10))
def test_noise_of_an_operation_alone_fails_no_gate_and_ten_percent_do(seed: int) -> None:
    gate = Gate.parse("hotspot:aten::mm.self_time > +1%")
    base = with_noisy_operator(10, 100 + seed)
    equal, slower = (gate.judge(diff(base, with_noisy_operator(mean, seed))) for mean in (10, 11))
    assert (equal.fails, slower.fails) == (False, True)
    assert (equal.change.base_samples, equal.change.is_point) == (20, False)


def test_an_operation_of_few_steps_is_compared_by_its_mean() -> None:
    base, new = run(10, 10, operators={"aten::mm": 1}), with_noisy_operator(8, 1, every=4)
    verdict = Gate.parse("hotspot:aten::mm.self_time > +50%").judge(diff(new, with_noisy_operator(16, 1, every=4)))
    assert verdict.change.is_point
    assert verdict.fails
    # 5 of 20 steps with 8 ms each: 2 ms a step, within the noise of 3 %
    assert verdict.change.base == pytest.approx(2 * MS, rel=0.05)
    assert not Gate.parse("hotspot:aten::mm.self_time > +0%").judge(diff(base, base)).fails


def test_an_operation_belongs_to_the_step_of_its_rank_in_which_it_starts() -> None:
    builder = TraceBuilder()
    for rank, begin in ((0, 0), (1, 5)):
        thread = builder.track(f"rank {rank}", kind="host_thread", pid=rank, tid=1, rank=rank)
        for number in range(2):
            at = begin + 100 * number
            for name, category, ts_ns, dur_ns in (
                (f"ProfilerStep#{number}", ANNOTATION, at, 100),
                ("aten::mm", HOST_OP, at + 1, 10 + 20 * number + rank),
            ):
                builder["slices"].append(
                    ts_ns=[ts_ns], dur_ns=[dur_ns], track=thread, name=builder.string(name), category=category
                )
    trace = builder.finish()
    # step 0: 10 + 11 of both ranks; step 1: 30 + 31
    assert Samples([trace]).self_time_of("aten::mm").tolist() == [21, 61]
    assert Samples([trace]).self_time_of("aten::nothing").tolist() == [0, 0]


def test_the_peak_of_a_cpu_is_told_to_be_since_the_start_of_the_trace() -> None:
    told = "what was allocated since the start of the trace"
    assert any(told in note for note in diff(run(10, peak_bytes=8), run(10, peak_bytes=8)).notes)
    assert not any(told in note for note in diff(run(10), run(10)).notes)


def test_a_trace_of_nothing_cannot_be_compared() -> None:
    with pytest.raises(NeuronProfileError, match="cannot be compared"):
        diff(TraceBuilder().finish(), run(10))


@pytest.mark.parametrize("samples", [(1.0, 2.0), (5.0, 1.0, 2.0), (3.0, 1.0, 8.0, 2.0), (2.0, 2.0, 7.0, 1.0, 9.0)])
def test_resampled_medians_are_as_frequent_as_among_all_possible_draws(samples: tuple[float, ...]) -> None:
    every = np.median(list(product(samples, repeat=len(samples))), axis=1)
    drawn = _medians(np.array(samples), np.random.default_rng(7))
    assert set(drawn) <= set(every)
    for value in set(every):
        share = np.mean(every == value)
        # four standard deviations of the share of so many draws
        assert abs(np.mean(drawn == value) - share) < 4 * np.sqrt(share * (1 - share) / len(drawn))


def test_the_interval_is_the_same_every_time_and_holds_the_difference() -> None:
    base, new = np.arange(100.0, 120), np.arange(103.0, 123)
    first, again = change(base, new), change(base, new)
    assert first == again
    assert first.low <= first.difference == 3 <= first.high
