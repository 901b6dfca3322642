"""Pure functions from a trace to numbers: DataFrames and frozen dataclasses, units in their names."""

from __future__ import annotations

from neuron_profile.analysis.bandwidth.bytes_moved import bytes_moved, movers
from neuron_profile.analysis.bandwidth.over_time import bandwidth
from neuron_profile.analysis.bandwidth.summary import bandwidth_summary
from neuron_profile.analysis.bandwidth.transfer_sizes import TransferSizes, transfer_sizes
from neuron_profile.analysis.breakdown import breakdown, simulated_breakdown
from neuron_profile.analysis.collectives import (
    CollectiveSkew,
    SliceCollective,
    Straggler,
    collective_overlap,
    collective_skew,
    collective_spans,
    collectives,
    exposed_collectives,
    slice_collective,
)
from neuron_profile.analysis.comparison import Comparison, Gate, diff
from neuron_profile.analysis.compiles.causes import compile_causes, graph_breaks, repeated_misses
from neuron_profile.analysis.compiles.compiles import compile_time_by_step, compiles
from neuron_profile.analysis.critical_path import CriticalPath, WhatIf, critical_path
from neuron_profile.analysis.cutting import Cut, cut
from neuron_profile.analysis.findings import Finding, findings
from neuron_profile.analysis.launches.causes import causes
from neuron_profile.analysis.memory.allocations import MEMORY_CATEGORIES
from neuron_profile.analysis.memory.by_step import memory_by_step
from neuron_profile.analysis.memory.categories import memory_by_category
from neuron_profile.analysis.memory.growth import MemoryGrowth, memory_growth
from neuron_profile.analysis.memory.peak import peak_holders
from neuron_profile.analysis.memory.timeline import memory_timeline
from neuron_profile.analysis.operations.call_tree import CALL_TREES, OTHER_CALLS, call_tree
from neuron_profile.analysis.operations.categories import time_by_category
from neuron_profile.analysis.operations.device_share import device_share
from neuron_profile.analysis.operations.hotspots import hotspots
from neuron_profile.analysis.operations.kinds import operations
from neuron_profile.analysis.operations.labels import GROUPINGS
from neuron_profile.analysis.operations.range_summary import range_summary
from neuron_profile.analysis.operations.same_operation import DurationDistribution, duration_distribution, same_on_ranks
from neuron_profile.analysis.operations.slowest import slowest
from neuron_profile.analysis.operations.source_lines import slices_of_line, source_lines
from neuron_profile.analysis.over_time.device_lanes import DeviceLanes, device_lanes
from neuron_profile.analysis.over_time.idle_gaps import idle_gaps
from neuron_profile.analysis.over_time.regions import REGIONS, regions
from neuron_profile.analysis.over_time.warnings import WARNING_KINDS, warnings_over_time
from neuron_profile.analysis.records import records
from neuron_profile.analysis.roofline import SliceWork, roofline, slice_work, utilisation
from neuron_profile.analysis.simulated import SimulatedDevice, simulated_device
from neuron_profile.analysis.steps.median_step import median_step
from neuron_profile.analysis.steps.steps import WHOLE_WINDOW, steps
from neuron_profile.analysis.summary import Summary, summarize

__all__ = [
    "CALL_TREES",
    "GROUPINGS",
    "MEMORY_CATEGORIES",
    "OTHER_CALLS",
    "REGIONS",
    "WARNING_KINDS",
    "WHOLE_WINDOW",
    "CollectiveSkew",
    "Comparison",
    "CriticalPath",
    "Cut",
    "DeviceLanes",
    "DurationDistribution",
    "Finding",
    "Gate",
    "MemoryGrowth",
    "SimulatedDevice",
    "SliceCollective",
    "SliceWork",
    "Straggler",
    "Summary",
    "TransferSizes",
    "WhatIf",
    "bandwidth",
    "bandwidth_summary",
    "breakdown",
    "bytes_moved",
    "call_tree",
    "causes",
    "collective_overlap",
    "collective_skew",
    "collective_spans",
    "collectives",
    "compile_causes",
    "compile_time_by_step",
    "compiles",
    "critical_path",
    "cut",
    "device_lanes",
    "device_share",
    "diff",
    "duration_distribution",
    "exposed_collectives",
    "findings",
    "graph_breaks",
    "hotspots",
    "idle_gaps",
    "median_step",
    "memory_by_category",
    "memory_by_step",
    "memory_growth",
    "memory_timeline",
    "movers",
    "operations",
    "peak_holders",
    "range_summary",
    "records",
    "regions",
    "repeated_misses",
    "roofline",
    "same_on_ranks",
    "simulated_breakdown",
    "simulated_device",
    "slice_collective",
    "slice_work",
    "slices_of_line",
    "slowest",
    "source_lines",
    "steps",
    "summarize",
    "time_by_category",
    "transfer_sizes",
    "utilisation",
    "warnings_over_time",
]
