"""Whose numbers a finding has, on the console and in the browser."""

from __future__ import annotations

from neuron_profile.analysis.findings import Finding


def place(finding: Finding) -> str:
    """The rank that the numbers of a finding are of, to go behind its title: " [rank 3, the typical one]"."""
    if finding.of_rank < 0 or finding.rank >= 0:
        return ""  # of no rank, or of one that the title names
    return f" [rank {finding.of_rank}, the typical one]"
