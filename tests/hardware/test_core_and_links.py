"""The models of a core and of the links between cores."""

from __future__ import annotations

import pytest

from neuron_profile.hardware.core import GENERATIONS, core_model
from neuron_profile.hardware.links import collective_ns

OP, STEP = 20_000, 1500


@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_dma_engines_of_a_core_bring_no_more_than_its_memory_has(generation: str) -> None:
    core = core_model(generation)
    assert core.generation == generation
    # 16 x 23 GB/s of trn2 are 3 % more than half of its stack
    assert core.dma_engines * core.dma_engine_rate <= core.hbm_rate * 1.03
    assert core.hbm_rate * 1e9 == pytest.approx(core.peaks.hbm_bytes_per_s_per_core, rel=0.03)


def test_an_unknown_generation_is_named_in_the_error() -> None:
    with pytest.raises(ValueError, match=r"'trn9'.*trn1, trn2, trn3, inf2"):
        core_model("trn9")


def test_two_ranks_reach_what_aws_shows() -> None:
    """nccom-test's example, an all_reduce of two: 57 GB/s of bus bandwidth, which is that of the bytes."""
    nbytes = 10**9
    assert nbytes / collective_ns("trn1", "all_reduce", nbytes, 2) == pytest.approx(57, rel=0.02)


def test_small_messages_take_the_time_of_their_steps() -> None:
    assert collective_ns("trn2", "all_gather", 0, 16) == OP + STEP
    assert collective_ns("trn2", "all_reduce", 0, 16) == OP + 2 * STEP
    assert collective_ns("trn2", "barrier", 10**9, 16) == OP + STEP


def test_a_gather_over_the_chips_of_an_instance() -> None:
    """64 logical cores of two on 16 chips, four a chip: 63/64 of the bytes over half of 512 GB/s, a quarter each."""
    nbytes = 32 * 10**6
    rate = 512 * 0.5 / 4
    expected = OP + 6 * STEP + 63 / 64 * nbytes / rate  # log2(64) steps
    assert collective_ns("trn2", "all_gather", nbytes, 64, lnc=2) == pytest.approx(expected)


def test_beyond_an_instance_efa_sets_the_pace() -> None:
    """Two trn2 instances, 128 logical cores: 3200 Gb/s shared by the 64 of an instance."""
    nbytes = 32 * 10**6
    expected = OP + 7 * STEP + 15_000 + 127 / 128 * nbytes / (400 / 64)
    assert collective_ns("trn2", "all_gather", nbytes, 128, lnc=2) == pytest.approx(expected)
