"""Pure functions from a trace to numbers: DataFrames and frozen dataclasses, units in their names."""

from __future__ import annotations

from neuron_profile.analysis.bandwidth import bandwidth
from neuron_profile.analysis.bytes_moved import bytes_moved, movers
from neuron_profile.analysis.categories import time_by_category
from neuron_profile.analysis.hotspots import hotspots
from neuron_profile.analysis.labels import GROUPINGS
from neuron_profile.analysis.memory import memory_timeline
from neuron_profile.analysis.range_summary import range_summary
from neuron_profile.analysis.records import records
from neuron_profile.analysis.slowest import slowest
from neuron_profile.analysis.steps import WHOLE_WINDOW, steps
from neuron_profile.analysis.summary import Summary, summarize

__all__ = [
    "GROUPINGS",
    "WHOLE_WINDOW",
    "Summary",
    "bandwidth",
    "bytes_moved",
    "hotspots",
    "memory_timeline",
    "movers",
    "range_summary",
    "records",
    "slowest",
    "steps",
    "summarize",
    "time_by_category",
]
