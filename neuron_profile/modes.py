"""What a capture on a Neuron device records."""

from __future__ import annotations

from enum import Enum


class ProfileMode(Enum):
    """The kinds of recording the Neuron runtime offers, under the names AWS gives them (Neuron docs, NeuronConfig)."""

    DEVICE = "device"  # instructions and DMAs of each NeuronCore; takes about 5 GB of the HBM of a trn2 or trn3
    RUNTIME = "runtime"  # calls of the Neuron runtime and hardware execution events
    CPU_UTIL = "cpu_util"  # load of the host's CPUs: the collector "host" samples it, on any machine
    HOST_MEMORY = "host_memory"  # memory of the host: the same collector
