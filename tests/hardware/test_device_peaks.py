"""Peaks of accelerators by the names they report, against numbers typed in from the vendors' datasheets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_profile.hardware import device_peaks
from neuron_profile.hardware.accelerators import amd, nvidia

# name, units -> dense BF16 (FP16 where there is none) TFLOP/s, FP32 TFLOP/s, GB/s of memory: from the datasheets
_DATASHEETS = [
    ("Tesla V100-SXM2-32GB", 80, 125, 15.7, 900),
    ("Tesla T4", 40, 65, 8.1, 320),
    ("NVIDIA A100-SXM4-40GB", 108, 312, 19.5, 1555),
    ("NVIDIA A100-SXM4-80GB", 108, 312, 19.5, 2039),
    ("NVIDIA A100 80GB PCIe", 108, 312, 19.5, 1935),
    ("NVIDIA A10G", 80, 70, 35, 600),
    ("NVIDIA L4", 58, 121, 30.3, 300),
    ("NVIDIA L40S", 142, 362.05, 91.6, 864),
    ("NVIDIA GeForce RTX 4090", 128, 165.2, 82.6, 1008),
    ("NVIDIA H100 80GB HBM3", 132, 1979 / 2, 67, 3350),
    ("NVIDIA H100 PCIe", 114, 1513 / 2, 51, 2000),
    ("NVIDIA H100 NVL", 132, 1671 / 2, 60, 3900),
    ("NVIDIA H200", 132, 1979 / 2, 67, 4800),
    ("NVIDIA B200", 148, 4500 / 2, 75, 7700),
    ("AMD Instinct MI210", 104, 181, 45.3, 1638.4),
    ("AMD Instinct MI250X", 110, 383 / 2, 95.7 / 2, 3276.8 / 2),
    ("AMD Instinct MI300X", 304, 1307.4, 163.4, 5300),
    ("AMD Instinct MI300X VF", 304, 1307.4, 163.4, 5300),
    ("AMD Instinct MI325X", 304, 1307.4, 163.4, 6000),
    ("AMD Instinct MI355X", 256, 2516.6, 157.3, 8000),
]


@pytest.mark.parametrize(("name", "units", "half", "fp32", "memory"), _DATASHEETS)
def test_a_known_device_has_the_dense_rates_of_its_datasheet(
    name: str, units: int, half: float, fp32: float, memory: float
) -> None:
    found = device_peaks(name, units=units)
    assert found is not None
    rates = found.flops_by_dtype
    assert rates.get("bf16", rates["fp16"]) == pytest.approx(half * 1e12)
    assert rates["fp32"] == pytest.approx(fp32 * 1e12)
    assert found.memory_bytes_per_s == pytest.approx(memory * 1e9)
    assert "datasheet" in found.source or "whitepaper" in found.source


def test_fp32_is_not_tf32() -> None:
    found = device_peaks("NVIDIA A100-SXM4-80GB")
    assert found is not None
    assert (found.flops_by_dtype["fp32"], found.flops_by_dtype["tf32"]) == (19.5e12, 156e12)


def test_a_type_that_a_device_does_not_have_has_no_peak() -> None:
    found = device_peaks("Tesla V100-SXM2-16GB")
    assert found is not None
    assert not {"bf16", "tf32", "fp8"} & set(found.flops_by_dtype)


@pytest.mark.parametrize("name", ["", "AMD Radeon Graphics", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "ARTEMIS", "H1000"])
def test_what_is_unknown_by_name_has_no_peaks(name: str) -> None:
    # not even where clocks and units are those of a product
    assert device_peaks(name, memory_bytes=68_702_699_520, units=104) is None


def test_a_partition_of_a_device_has_no_peaks() -> None:
    assert device_peaks("AMD Instinct MI300X", units=38) is None


def test_a_name_that_does_not_tell_its_memory_is_known_by_it() -> None:
    assert device_peaks("NVIDIA A100-PG509-200", units=108) is None
    found = device_peaks("NVIDIA A100-PG509-200", units=108, memory_bytes=42_297_524_224)
    assert found is not None
    assert found.memory_bytes_per_s == 1555e9


def test_a_neuron_instance_gives_one_core() -> None:
    found = device_peaks("trn2.48xlarge")
    assert found is not None
    assert found.flops_by_dtype["bf16"] == 79e12
    assert found.memory_bytes_per_s == 2.9e12 / 8
    assert not any("sparse" in dtype for dtype in found.flops_by_dtype)


def test_every_product_has_rates_that_fit_together() -> None:
    for product in (*nvidia.PRODUCTS, *amd.PRODUCTS):
        rates = product.peaks.flops_by_dtype
        assert rates["fp32"] <= rates.get("tf32", rates["fp32"]) <= rates["fp16"]
        assert rates["fp16"] <= rates.get("int8", rates.get("fp8", 2 * rates["fp16"]))
        assert product.peaks.source


@given(st.text(max_size=40), st.none() | st.integers(), st.none() | st.integers())
def test_any_name_is_looked_up_without_an_error(name: str, memory: int | None, units: int | None) -> None:
    device_peaks(name, memory_bytes=memory, units=units)
