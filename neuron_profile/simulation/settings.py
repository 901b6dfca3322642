"""What is assumed about the device and the program that no trace tells; shown beside every estimate."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from neuron_profile.hardware.core import GENERATIONS

UNCERTAINTY: Final = (
    "±2x"  # AWS Neuron's public profiles against this model: 7 % on known kernels, else a factor of two
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Assumptions of an estimate. Raises ValueError for what cannot be.

    - `generation`: trn1, trn2, trn3 or inf2.
    - `lnc`: physical cores of a logical core, 1 or 2.
    - `eager_gap_ns`: from the start of an operator on the host until its NEFF can begin, where operators are queued.
    - `sync_gap_ns`: the same after the host waited for the device.
    - `neff_fixed_ns`: what running a NEFF takes besides its operators.
    """

    generation: str = "trn2"
    lnc: int = 1
    # No public figures for torch's eager mode. AWS's vLLM documents show 20 us and more between queued NEFFs; a public
    # write-up of small kernels on trn2 (xaviergonzalez, asst4-trainium2) 130 us with a wait after each, and 15 us for a
    # kernel of 5 us.
    eager_gap_ns: int = 20_000
    sync_gap_ns: int = 130_000
    neff_fixed_ns: int = 10_000

    def __post_init__(self) -> None:
        if self.generation not in GENERATIONS:
            raise ValueError(f"device {self.generation!r} is none of {', '.join(GENERATIONS)}")
        if self.lnc not in (1, 2):
            raise ValueError(f"a logical core has 1 or 2 physical ones, not {self.lnc}")
        if self.lnc == 2 and self.generation in ("trn1", "inf2"):
            raise ValueError(f"{self.generation} has no logical cores of 2; use 1")
        if min(self.eager_gap_ns, self.sync_gap_ns, self.neff_fixed_ns) < 0:
            raise ValueError("a gap cannot be negative")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
