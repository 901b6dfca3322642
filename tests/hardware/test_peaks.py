"""The peaks of the generations against the numbers that AWS publishes of whole chips."""

from __future__ import annotations

import pytest

from neuron_profile.hardware import peaks_of, tensor_flops


def test_a_tensor_engine_multiplies_and_adds_in_each_of_its_elements_each_cycle() -> None:
    assert tensor_flops(2, 3, 0.5) == 2 * 3 * 2 * 0.5e9
    # what AWS's profiler divides by on inf2: 128 * 128 * 2 * 2.8e9
    assert peaks_of("inf2.xlarge").tensor_flops == pytest.approx(91.75e12, rel=1e-4)


@pytest.mark.parametrize(
    ("instance", "core", "chip_bf16_tflops", "chip_hbm"),
    [
        ("trn1.32xlarge", "NeuronCore-v2", 190, 820e9),
        ("inf2.48xlarge", "NeuronCore-v2", 190, 820e9),
        ("trn2.3xlarge", "NeuronCore-v3", 667, 2.9e12),
        ("trn3.metal", "NeuronCore-v4", 671, 4.9e12),
    ],
)
def test_cores_and_stacks_add_up_to_the_chip(
    instance: str, core: str, chip_bf16_tflops: float, chip_hbm: float
) -> None:
    peaks = peaks_of(instance)
    assert peaks is not None
    assert peaks.core_name == core
    # the documents round a core to whole TFLOPS and a chip on its own
    whole = peaks.cores_per_chip * peaks.flops_by_dtype["bf16"] / 1e12
    assert whole == pytest.approx(chip_bf16_tflops, rel=0.06)
    assert peaks.tensor_flops == pytest.approx(peaks.flops_by_dtype["bf16"], rel=0.01)
    assert peaks.cores_per_chip * peaks.hbm_bytes_per_s_per_core == pytest.approx(chip_hbm)
    assert peaks.hbm_stacks * peaks.hbm_bytes_per_s == pytest.approx(chip_hbm, rel=0.02)
    assert peaks.source.startswith("AWS Neuron docs")
    assert peaks.hbm_source


def test_what_nobody_published_is_not_made_up() -> None:
    assert peaks_of("trn9.48xlarge") is None
    assert peaks_of("") is None
