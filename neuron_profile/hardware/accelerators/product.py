"""One accelerator as its vendor sells it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

from neuron_profile.hardware.device_peaks import DevicePeaks

_TERA = 10**12
_GIGA = 10**9


@dataclass(frozen=True, slots=True)
class Product:
    """The names under which a product reports itself, and its peaks.

    - `names`: matches the whole name that torch reports, without the vendor's.
    - `units`: its streaming multiprocessors or compute units; a device that reports fewer is a partition of it.
    - `memory_bytes`: the range in which the memory of this variant lies, where the name does not tell variants apart.
    """

    names: re.Pattern[str]
    units: int
    peaks: DevicePeaks
    memory_bytes: tuple[int, int] | None = None

    def is_a(self, name: str, memory_bytes: int | None, units: int | None) -> bool:
        """Whether a device with this name is this product, whole."""
        if self.names.fullmatch(name) is None or (units is not None and units != self.units):
            return False
        if self.memory_bytes is None:
            return True
        return memory_bytes is not None and self.memory_bytes[0] <= memory_bytes < self.memory_bytes[1]


def product(
    name: str, names: str, source: str, units: int, memory: float, link: float | None = None,
    memory_gb: tuple[int, int] | None = None, /, **tflops: float,
) -> Product:  # fmt: skip
    """A product from the numbers of its datasheet: GB/s of memory and links, GB of memory, and TFLOP/s by type."""
    peaks = DevicePeaks(
        name=name, source=source, memory_bytes_per_s=memory * _GIGA,
        link_bytes_per_s=None if link is None else link * _GIGA,
        flops_by_dtype=MappingProxyType({dtype: value * _TERA for dtype, value in tflops.items()}),
    )  # fmt: skip
    sizes = None if memory_gb is None else (memory_gb[0] * _GIGA, memory_gb[1] * _GIGA)
    return Product(re.compile(names, re.IGNORECASE), units, peaks, sizes)
