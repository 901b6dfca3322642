"""Findings about Neuron devices, measured and simulated; sizes worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from neuron_runs import US, Profile
from training import Training

from neuron_profile import load
from neuron_profile.analysis import Finding, findings
from neuron_profile.simulation import Settings
from neuron_profile.simulation.simulate import simulate
from trace_format import Trace


def by_rule(trace: Trace) -> dict[str, Finding]:
    return {found.rule: found for found in findings(trace)}


def profile(*, packets: int = 0, size: int = 64, throttled: int = 0, works: int = 10) -> Trace:
    """A run of 10 µs on a trn2: Tensor works for `works` µs, then packets of 40 ns each, `size` bytes, one by one."""
    made = Profile()
    made.run(total_time_ps=10 * US, neff="attention", event_count=1, knows_transposes=True)
    made.instruction(4, "Tensor", "MATMUL", 0, works * US, pc=0, flops=4e6, args={"opcode": "MATMUL"})
    for number in range(packets):
        made.packet(4, "qSyncDynamicHW", 64, "hardware_dynamic", works * US + number * 40_000, 40_000, size)
    if throttled:
        made.throttle(4, 0, throttled * US, k=4, n=8, type=1)
    return made.trace()


def test_a_core_that_may_use_half_its_rate_loses_half_the_time() -> None:
    assert by_rule(profile(throttled=4))["throttling"].recoverable_ns == 2_000


def test_a_core_at_its_whole_rate_is_not_throttled() -> None:
    assert by_rule(profile()) == {}


def test_engines_that_all_wait_are_named() -> None:
    # 7 µs of work, 1 µs of DMA
    assert by_rule(profile(works=7, packets=25))["engine-waits"].recoverable_ns == 2_000


def test_a_little_waiting_is_nothing() -> None:
    assert "engine-waits" not in by_rule(profile(works=7, packets=50))


def test_small_packets_that_nothing_hides_are_named() -> None:
    # 100 packets of 64 bytes, 4 µs of 10 in which no engine computes
    found = by_rule(profile(works=6, packets=100))["small-dma"]
    assert 0 < found.recoverable_ns <= 4_000
    assert "100 packets are smaller than 4096 bytes" in found.evidence[0]


def test_large_packets_are_not() -> None:
    assert "small-dma" not in by_rule(profile(works=6, packets=100, size=4096))


@pytest.mark.parametrize(
    ("name", "rule", "least_us", "most_us"),
    [
        ("T186_baseline_exec_2.ntff", "throttling", 10, 12),  # at half its rate for 21.9 µs
        ("T174_baseline_exec_2.ntff", "small-dma", 2, 4),  # 2,304 packets of 2 KiB
        ("T180_fused_exec_2.ntff", "engine-waits", 12, 15),
    ],
)
def test_the_verdict_on_recorded_profiles(corpus: Path, name: str, rule: str, least_us: int, most_us: int) -> None:
    found = by_rule(load(corpus / "neuron_bin" / name))[rule]
    assert least_us <= found.recoverable_ns / 1e3 <= most_us
    assert not found.is_simulated


def eager(operators: int, size: int) -> Trace:
    """A step of 100 ms that adds tensors of `size` floats on the CPU, with a simulated trn2."""
    script = Training(1, 100)
    args = {
        "Input Dims": [[size], [size], []],
        "Input type": ["float", "float", "Scalar"],
        "Concrete Inputs": ["", "", "1"],
    }
    args_id = script.builder.pool.arg_sets.id(json.dumps(args).encode())
    for number in range(operators):
        script.host("aten::add", number * 100 / operators, 100 / operators, args=args_id)
    return simulate(script.trace(), Settings(generation="trn2"))


def test_one_neff_for_each_small_operator_is_named_as_simulated() -> None:
    (found,) = findings(eager(50, 1000))
    assert (found.rule, found.is_simulated) == ("neff-per-operator", True)
    assert found.recoverable_ns == 50 * Settings(generation="trn2").neff_fixed_ns
    assert found.title.startswith("sim.: operators run as 50 NEFFs per step")


def test_few_large_operators_are_not() -> None:
    assert findings(eager(10, 1_000_000)) == ()
