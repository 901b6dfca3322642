"""Collectives: how fast they were, what they hid behind, and which rank the others waited for."""

from __future__ import annotations

from neuron_profile.analysis.collectives.each import collective_spans, exposed_collectives
from neuron_profile.analysis.collectives.of_slice import SliceCollective, slice_collective
from neuron_profile.analysis.collectives.skew import CollectiveSkew, Straggler, collective_skew
from neuron_profile.analysis.collectives.table import collective_overlap, collectives

__all__ = [
    "CollectiveSkew",
    "SliceCollective",
    "Straggler",
    "collective_overlap",
    "collective_skew",
    "collective_spans",
    "collectives",
    "exposed_collectives",
    "slice_collective",
]
