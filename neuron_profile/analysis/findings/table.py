"""The table of all rules."""

from __future__ import annotations

from neuron_profile.analysis.findings import (
    communication,
    compiling,
    copies,
    efficiency,
    growth,
    host,
    loading,
    neuron,
    operators,
    steadiness,
    unexplained,
)
from neuron_profile.analysis.findings.rule import Rule

# Of findings that return the same, the earlier comes first.
RULES: tuple[Rule, ...] = (
    *loading.RULES, *compiling.RULES, *communication.RULES, *host.RULES, *operators.RULES, *copies.RULES,
    *efficiency.RULES, *steadiness.RULES, *neuron.RULES, *growth.RULES, *unexplained.RULES,
)  # fmt: skip
