"""Where the time went, as parts that add up to it exactly: of measured devices and hosts, and of simulated devices."""

from __future__ import annotations

from neuron_profile.analysis.breakdown.measured import breakdown
from neuron_profile.analysis.breakdown.parts import PARTS, SIMULATED_PARTS, busiest, busiest_steps, by_device
from neuron_profile.analysis.breakdown.simulated import simulated_breakdown

__all__ = ["PARTS", "SIMULATED_PARTS", "breakdown", "busiest", "busiest_steps", "by_device", "simulated_breakdown"]
