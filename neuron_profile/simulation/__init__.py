"""An estimate of what a NeuronCore would have done with the operators of a trace. Never a measurement."""

from __future__ import annotations

from neuron_profile.simulation.settings import UNCERTAINTY, Settings
from neuron_profile.simulation.simulate import SimulationError, simulate

__all__ = ["UNCERTAINTY", "Settings", "SimulationError", "simulate"]
