"""Pure functions from a trace to numbers: DataFrames and frozen dataclasses, units in their names."""

from __future__ import annotations

from neuron_profile.analysis.allocations import MEMORY_CATEGORIES
from neuron_profile.analysis.bandwidth import bandwidth
from neuron_profile.analysis.breakdown import breakdown
from neuron_profile.analysis.bytes_moved import bytes_moved, movers
from neuron_profile.analysis.categories import time_by_category
from neuron_profile.analysis.comparison import Comparison, Gate, diff
from neuron_profile.analysis.compiles import compile_time_by_step, compiles
from neuron_profile.analysis.hotspots import hotspots
from neuron_profile.analysis.labels import GROUPINGS
from neuron_profile.analysis.memory import memory_timeline
from neuron_profile.analysis.memory_categories import memory_by_category
from neuron_profile.analysis.memory_peak import peak_holders
from neuron_profile.analysis.range_summary import range_summary
from neuron_profile.analysis.records import records
from neuron_profile.analysis.simulated import SimulatedDevice, simulated_device
from neuron_profile.analysis.slowest import slowest
from neuron_profile.analysis.steps import WHOLE_WINDOW, steps
from neuron_profile.analysis.summary import Summary, summarize

__all__ = [
    "GROUPINGS",
    "MEMORY_CATEGORIES",
    "WHOLE_WINDOW",
    "Comparison",
    "Gate",
    "SimulatedDevice",
    "Summary",
    "bandwidth",
    "breakdown",
    "bytes_moved",
    "compile_time_by_step",
    "compiles",
    "diff",
    "hotspots",
    "memory_by_category",
    "memory_timeline",
    "movers",
    "peak_holders",
    "range_summary",
    "records",
    "simulated_device",
    "slowest",
    "steps",
    "summarize",
    "time_by_category",
]
