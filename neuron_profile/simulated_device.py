"""The simulated NeuronCore of a capture: whether there is one, and adding it."""

from __future__ import annotations

import numpy as np

from trace_format import TRACK_KINDS, Trace

SECONDS = 10.0  # how long the estimate is waited for
_AUTO, _NONE, _DEFAULT = "auto", "none", "trn2"
_DEVICE_KINDS = [TRACK_KINDS.index(kind) for kind in ("stream", "engine", "dma_queue")]


def with_simulated_device(trace: Trace, device_model: str) -> Trace:
    """The trace with the device that NeuronConfig's `device_model` asks for; the trace itself where it asks for none.

    "auto" asks for a trn2 where no accelerator took part and there are operators to estimate its time from. Raises
    SimulationError where another asks for a device and there are none.
    """
    generation = _DEFAULT if device_model == _AUTO else device_model
    if generation == _NONE or (device_model == _AUTO and has_accelerator(trace)):
        return trace
    # the formulas of all operators take 30 ms to import, which only a window that ends has to pay
    from neuron_profile.simulation import Settings, SimulationError, simulate

    try:
        return simulate(trace, Settings(generation=generation))
    except SimulationError:
        if device_model == _AUTO:
            return trace
        raise


def has_accelerator(trace: Trace) -> bool:
    """Whether a device other than the CPU took part: whether it has tracks of its own."""
    return bool(np.isin(trace.tracks.kind, _DEVICE_KINDS).any())
