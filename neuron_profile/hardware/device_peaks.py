"""What a device can do at most: the peaks that rooflines and utilisations are drawn against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import numpy as np

# The last three are what AWS publishes of NeuronCores.
DTYPES: Final = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8", "cfp8", "mxfp8", "mxfp4")
_MOST: Final = 1e30  # far above any device, and a finite float
_NONE: Final[Mapping[str, float]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePeaks:
    """The peaks of one device as a program sees it.

    - `name`: the product. `source`: where the numbers are published, or who gave them.
    - `flops_by_dtype`: floating-point operations per second by "fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4",
      "int8": dense ones, by whichever unit does the type fastest, with float32 accumulation where that differs. A type
      that is not in it has no known peak.
    - `memory_bytes_per_s`: of the device's own memory, both directions together; None: not known.
    - `link_bytes_per_s`: to other devices of the machine, both directions together; None: none, or not known.

    Raises ValueError for another type and for a rate that is not above 0 and finite.

    Write one yourself to override what is known: `analysis.roofline(trace, peaks=DevicePeaks(name="my chip",
    flops_by_dtype={"bf16": 400e12}, memory_bytes_per_s=2e12, source="measured with my own benchmark"))`.
    """

    name: str
    source: str
    flops_by_dtype: Mapping[str, float] = field(default_factory=lambda: _NONE)
    memory_bytes_per_s: float | None = None
    link_bytes_per_s: float | None = None

    def __post_init__(self) -> None:
        for dtype, value in self.flops_by_dtype.items():
            if dtype not in DTYPES:
                raise ValueError(f"flops_by_dtype of {self.name!r}: {dtype!r} is no type; take of {', '.join(DTYPES)}")
            _check_rate(f"flops_by_dtype[{dtype!r}] of {self.name!r}", value)
        for name in ("memory_bytes_per_s", "link_bytes_per_s"):
            if getattr(self, name) is not None:
                _check_rate(f"{name} of {self.name!r}", getattr(self, name))


def _check_rate(what: str, value: object) -> None:
    if not isinstance(value, (int, float, np.number)) or isinstance(value, bool) or not 0 < value <= _MOST:
        raise ValueError(f"{what} is {value!r}: give a number above 0, in units per second")
