"""The accelerators whose peaks are published, by the names they report."""

from __future__ import annotations

import re
from types import MappingProxyType

from neuron_profile.hardware.accelerators import amd, nvidia
from neuron_profile.hardware.device_peaks import DevicePeaks
from neuron_profile.hardware.peaks import peaks_of

# "Tesla" until 2020, "NVIDIA" since
_VENDOR = re.compile(r"^(NVIDIA |Tesla |AMD )+")
_SHARE = "the memory divided by the cores of a chip"


def device_peaks(name: str, *, memory_bytes: int | None = None, units: int | None = None) -> DevicePeaks | None:
    """The peaks of a device by the name it reports ("NVIDIA A100-SXM4-80GB", "trn2.48xlarge"); None where not known.

    `memory_bytes` and `units` (streaming multiprocessors, compute units) are those it reports, where it does: variants
    of one name differ in memory, and a device with fewer units than the product is a partition of it, of which no peak
    is published. An EC2 Neuron instance gives one NeuronCore.
    """
    called = _VENDOR.sub("", name.strip())
    for product in (*nvidia.PRODUCTS, *amd.PRODUCTS):
        if product.is_a(called, memory_bytes, units):
            return product.peaks
    return _neuron_core(name)


def _neuron_core(instance_type: str) -> DevicePeaks | None:
    known = peaks_of(instance_type)
    if known is None:
        return None
    dense = {dtype: flops for dtype, flops in known.flops_by_dtype.items() if not dtype.endswith("_sparse")}
    return DevicePeaks(
        name=known.core_name, source=f"{known.source}, {_SHARE}", flops_by_dtype=MappingProxyType(dense),
        memory_bytes_per_s=known.hbm_bytes_per_s_per_core,
    )  # fmt: skip
