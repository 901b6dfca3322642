"""The section that says what bounds the steps, and what would make them shorter."""

from __future__ import annotations

from collections.abc import Mapping

from explorer_app import format as fmt
from explorer_app.breakdown_text import is_told, largest
from explorer_app.finding_text import place
from explorer_app.reporters.report.markup import Markup, element
from explorer_app.reporters.report.parts import nothing, section
from neuron_profile.analysis import Finding, Summary


def verdict(summary: Summary, parts: Mapping[str, int], names: Mapping[str, str], whose: str) -> Markup:
    """The largest part of the steps, then each finding: its size, the evidence, and what to try.

    `whose`: the rank or device that the parts are of, where there are several.
    """
    found = [_finding(finding, place(finding) if whose else "") for finding in summary.findings]
    listed = [element("ol", *found, _class="findings")] if found else []
    if not is_told(parts):
        return section("Verdict", nothing("No time was recorded in which work could be told from waiting."), *listed)
    most = largest(parts, names)
    words = f"{fmt.ratio(parts[most] / parts['total_ns'])} {names[most]}"
    bound = element("p", f"On {whose}, which idles least: {words}" if whose else words, _class="bound")
    return section("Verdict", bound, *(listed or [nothing("No rule found anything to improve.")]))


def _finding(finding: Finding, of: str) -> Markup:
    size = ""
    if finding.recoverable_ns >= 0:
        share = f" ({fmt.ratio(finding.share_ratio)})" if finding.share_ratio == finding.share_ratio else ""
        how = f", estimated as {finding.estimated_by}" if finding.estimated_by else ""
        size = f"To be gained: up to {fmt.duration(finding.recoverable_ns)}{share}{how}. "
    simulated = [element("span", " sim.", _class="sim", title="About the simulated device")]
    return element(
        "li", element("b", f"{finding.title}{of}"), *(simulated if finding.is_simulated else []),
        element("ul", *(element("li", line, style="margin:0") for line in finding.evidence)),
        element("p", element("span", "Try: ", _class="dim"), finding.advice),
        element("p", f"{size}Rule: {finding.rule}.", _class="dim"),
    )  # fmt: skip
