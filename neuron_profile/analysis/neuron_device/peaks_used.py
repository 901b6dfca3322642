"""The peaks that a run's utilisations are fractions of: what its profile states, else what is published."""

from __future__ import annotations

from dataclasses import dataclass

from neuron_profile.hardware import peaks_of, tensor_flops
from trace_format.importers.neuron_device.execution import Execution

STATED = "stated by the profile"


@dataclass(frozen=True, slots=True)
class PeaksUsed:
    """Peaks of a run and where each comes from; None where neither the profile nor the documents tell.

    - `core_flops`: FLOP/s of one physical core's Tensor engine; `hbm_bytes_per_s`: of the logical core's memory.
    - `others_ghz`: the clock in which cycles are counted.
    """

    core_flops: float | None
    hbm_bytes_per_s: float | None
    others_ghz: float | None
    flops_source: str
    hbm_source: str

    @property
    def source(self) -> str:
        """Where the peaks come from, in a line; "" where there are none."""
        parts = (("Tensor peak", self.flops_source), ("HBM bandwidth", self.hbm_source))
        return "; ".join(f"{what}: {source}" for what, source in parts if source)


def peaks_used(facts: Execution) -> PeaksUsed:
    """The peaks for a run with these facts."""
    known = peaks_of(facts.instance_type)
    flops, flops_source = (known.tensor_flops, known.source) if known else (None, "")
    hbm, hbm_source = (known.hbm_bytes_per_s, known.hbm_source) if known else (None, "")
    rows = facts.pe_rows or (known.tensor_rows if known else None)
    cols = facts.pe_cols or (known.tensor_cols if known else None)
    if (clock := _possible(facts.pe_clock_ghz)) and rows and cols:
        flops, flops_source = tensor_flops(rows, cols, clock), STATED
    if stated := _possible(facts.hbm_bytes_per_s):
        hbm, hbm_source = stated, STATED
    others = _possible(facts.others_clock_ghz) or (known.others_ghz if known else None)
    return PeaksUsed(flops, hbm, others, flops_source, hbm_source)


_BEYOND_ANY = 1e30  # a product of a few such numbers still is a float


def _possible(value: float | None) -> float | None:
    """The value where it can be one of a real device, else None: files hold anything."""
    return value if value is not None and 0 < value < _BEYOND_ANY else None
