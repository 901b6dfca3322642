"""The findings of a trace, ranked."""

from __future__ import annotations

from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.finding import Finding
from neuron_profile.analysis.findings.rule import Rule
from neuron_profile.analysis.findings.table import RULES
from trace_format import Trace

MOST = 5


def findings(trace: Trace) -> tuple[Finding, ...]:
    """What slows the steps of a trace, at most `MOST` findings; empty where there is nothing to say.

    What was measured comes before what was simulated; each by the time that could be recovered, most first; what is
    not time comes last. The times of several findings may overlap: they do not add up.
    """
    return findings_in(Context(trace))


def findings_in(context: Context) -> tuple[Finding, ...]:
    """The same for a trace whose parts are partly known."""
    if not len(context.rows):
        return ()
    found = [(rule, rule.finding(evidence)) for rule in RULES if (evidence := rule.find(context)) is not None]
    kept = [finding for rule, finding in found if not _is_said(rule, finding, [other for _, other in found])]
    kept.sort(key=lambda one: (one.is_simulated, -one.recoverable_ns))
    return tuple(kept[:MOST])


def _is_said(rule: Rule, finding: Finding, others: list[Finding]) -> bool:
    """Whether another finding names this lost time more exactly."""
    return any(
        other.rule in rule.said_by and other.recoverable_ns >= finding.recoverable_ns / 2 for other in others
    )  # fmt: skip
