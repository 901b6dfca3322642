"""The clocks of NeuronCores, by which what a file counts in cycles becomes time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CoreClocks:
    """Cycles per nanosecond (GHz) of the Tensor engine and of the clock in which the others count."""

    tensor_ghz: float
    others_ghz: float


# AWS Neuron docs, NKI architecture guides; the same numbers stand in profiles as pe_clock_freq and pe_clock_others.
_BY_FAMILY = {
    "trn1": CoreClocks(2.8, 1.4),
    "inf2": CoreClocks(2.8, 1.4),
    "trn2": CoreClocks(2.4, 1.2),
    "trn3": CoreClocks(2.4, 1.2),
}


def family(instance_type: str) -> str:
    """The generation of an EC2 instance type: "trn2.48xlarge" and "trn2n.3xlarge" are "trn2"; "" for one not known."""
    return next((known for known in _BY_FAMILY if instance_type.startswith(known)), "")


def core_clocks(instance_type: str) -> CoreClocks | None:
    """The clocks of the NeuronCores in this EC2 instance type; None for one that is not known."""
    return _BY_FAMILY.get(family(instance_type))
