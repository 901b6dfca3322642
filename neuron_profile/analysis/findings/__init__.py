"""The verdict on a trace: what slows its steps, ranked by the time that a fix would return."""

from __future__ import annotations

from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.finding import Finding
from neuron_profile.analysis.findings.rule import Rule
from neuron_profile.analysis.findings.table import RULES
from neuron_profile.analysis.findings.verdict import findings, findings_in

__all__ = ["RULES", "Context", "Finding", "Rule", "findings", "findings_in"]
