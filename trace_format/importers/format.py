"""The formats that are read here."""

from __future__ import annotations

from enum import Enum


class Format(Enum):
    """What a file is, in words."""

    TRACE_PB = "trace.pb"
    TRACE_EVENT_JSON = "trace-event JSON"
    TORCH_TRACE = "structured compile log (TORCH_TRACE)"
    MEMORY_TIMELINE = "torch memory timeline"
    NTFF = "NTFF (Neuron device trace)"
    NEFF = "NEFF (Neuron executable)"
    NEURON_DEVICE_JSON = "device profile as JSON (neuron-profile, neuron-explorer)"
    NEURON_SYSTEM_JSON = "system profile as JSON (neuron-profile, neuron-explorer)"
    NEURON_RUNTIME_JSON = "events of the Neuron runtime as JSON"
    NEURON_MONITOR = "neuron-monitor stream"
    NEURONX_CC_LOG = "neuronx-cc log"
    NEURONX_CC_METRICS = "neuronx-cc metric store"
    PARQUET = "Parquet table of a Neuron profile"
