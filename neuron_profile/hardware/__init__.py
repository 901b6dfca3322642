"""Formulas for what an operator needs and peaks of what devices can do, each with its source."""

from __future__ import annotations

from neuron_profile.hardware.accelerators import device_peaks
from neuron_profile.hardware.device_peaks import DevicePeaks
from neuron_profile.hardware.op_cost import OpCost, op_cost
from neuron_profile.hardware.peaks import Peaks, peaks_of, tensor_flops

__all__ = ["DevicePeaks", "OpCost", "Peaks", "device_peaks", "op_cost", "peaks_of", "tensor_flops"]
