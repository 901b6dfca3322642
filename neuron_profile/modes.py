"""What a capture on a Neuron device records."""

from __future__ import annotations

from enum import Enum


class ProfileMode(Enum):
    """The kinds of recording the Neuron runtime offers, under the names AWS gives them."""

    DEVICE = "device"  # instructions and DMAs of each NeuronCore
    RUNTIME = "runtime"  # calls of the Neuron runtime and hardware execution events
    CPU_UTIL = "cpu_util"  # load of the host's CPUs
    HOST_MEMORY = "host_memory"  # memory of the host
