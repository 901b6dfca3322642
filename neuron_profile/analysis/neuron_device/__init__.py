"""Neuron devices: which engine works, which waits, what DMA moves, and AWS's metrics, from the records of a profile."""

from __future__ import annotations

from neuron_profile.analysis.neuron_device.engines import engine_utilisation
from neuron_profile.analysis.neuron_device.metrics import DeviceMetrics, ExecutionMetrics, device_metrics
from neuron_profile.analysis.neuron_device.over_time import OverTime, over_time
from neuron_profile.analysis.neuron_device.queues import dma_queues
from neuron_profile.analysis.neuron_device.runs import Run, runs_of
from neuron_profile.analysis.neuron_device.throttle_limits import throttle_limits
from neuron_profile.analysis.neuron_device.waiting import waiting_instructions

__all__ = [
    "DeviceMetrics",
    "ExecutionMetrics",
    "OverTime",
    "Run",
    "device_metrics",
    "dma_queues",
    "engine_utilisation",
    "over_time",
    "runs_of",
    "throttle_limits",
    "waiting_instructions",
]
