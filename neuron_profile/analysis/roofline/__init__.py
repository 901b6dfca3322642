"""Rooflines of operators, and utilisations (MFU, HFU, MBU) of steps."""

from __future__ import annotations

from neuron_profile.analysis.roofline.slice_work import SliceWork, slice_work
from neuron_profile.analysis.roofline.table import roofline
from neuron_profile.analysis.roofline.utilisation import utilisation

__all__ = ["SliceWork", "roofline", "slice_work", "utilisation"]
