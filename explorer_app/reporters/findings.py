"""The verdict on a trace as text."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from explorer_app import format as fmt
from explorer_app.breakdown_text import is_told, largest
from explorer_app.finding_text import place
from explorer_app.reporters.visible import visible
from neuron_profile.analysis.findings import Finding

_INDENT = "   "
# More would push the numbers off the screen; --json has everything.
_EVIDENCE = (2, 1, 1)


def report_findings(
    findings: Sequence[Finding], parts: Mapping[str, int], names: Mapping[str, str], out: Console, *, whose: str = ""
) -> None:
    """Write what bounds the time (the largest of `parts`, called as in `names`), and each finding with what to try.

    `whose`: the rank or device that the parts are of, where there are several; each finding then says its own.
    """
    out.print(Text(_headline(findings, parts, names, whose), style="bold"))
    for number, finding in enumerate(findings):
        title = f"{finding.title}{place(finding) if whose else ''}"
        lines = [(f"{number + 1}. ", title, "bold")]
        shown = _EVIDENCE[number] if number < len(_EVIDENCE) else 0
        lines += [(_INDENT, line, "") for line in finding.evidence[:shown]]
        lines.append((f"{_INDENT}Try: ", finding.advice, "dim"))
        for lead, line, style in lines:
            wrapped = textwrap.wrap(visible(line), max(out.width - len(_INDENT) - 5, 20)) or [""]
            for at, part in enumerate(wrapped):
                out.print(Text((lead if at == 0 else _INDENT) + part, style=style))


def _headline(findings: Sequence[Finding], parts: Mapping[str, int], names: Mapping[str, str], whose: str) -> str:
    if not is_told(parts):
        return "Verdict: no time was recorded in which work could be told from waiting"
    bound = largest(parts, names)
    words = f"Verdict{f' on {whose}, which idles least' if whose else ''}: "
    words += f"{fmt.ratio(parts[bound] / parts['total_ns'])} {names[bound]}"
    return words if findings else f"{words}; no rule found anything to improve"
