"""The verdict: what slows the steps, largest recoverable time first."""

from __future__ import annotations

from typing import Any, Final

from dash import dcc, html

from explorer_app import format as fmt
from explorer_app.breakdown_text import whose
from explorer_app.finding_text import place
from explorer_app.web.card import card
from explorer_app.web.links import page_href, timeline_href, whole_slice_href
from explorer_app.web.message import empty
from explorer_app.web.names import label
from explorer_app.web.numbers import once
from explorer_app.web.pages.overview.answer import has_parts
from explorer_app.web.pages.overview.explained import page_explaining
from explorer_app.web.table import share_bar, with_title
from explorer_app.web.view import View
from neuron_profile import analysis
from neuron_profile.analysis import Finding
from neuron_profile.analysis.breakdown import busiest
from neuron_profile.analysis.findings import RULES

_OPEN: Final = 3  # findings whose evidence is shown at once; all of them fit a screen of 800 px
_NOTE: Final = "by what a fix would return, est.; they may overlap"
_NO_PARTS: Final = "The rules look at devices and at torch's operators, and neither was recorded here."
_NO_TIME: Final = "Nothing here has taken any time, so no rule has anything to look at."


def verdict_card(view: View) -> Any:
    """The findings of `analysis.findings`, or that there are none and what was looked at."""
    found = once(analysis.findings, view.trace)
    if found:
        several = bool(whose(once(analysis.breakdown, view.trace)))
        rows = [_finding(view, number, one, place(one) if several else "") for number, one in enumerate(found)]
        return card("Verdict", html.Ol(rows, className="np-findings"), note=_NOTE, flush=True)
    if not busiest(once(analysis.breakdown, view.trace)).get("total_ns"):
        return card("Verdict", empty("Nothing to judge", _NO_TIME))
    if not has_parts(view.trace):
        return card("Verdict", empty("Nothing to judge", _NO_PARTS))
    looked_at = html.Ul([html.Li([html.B(rule.id), f": {rule.looks_at}"]) for rule in RULES])
    why = f"{len(RULES)} rules looked at this trace, and none found anything that a fix would make shorter."
    fold = html.Details([html.Summary("What they looked at"), looked_at], className="np-fold")
    return card("Verdict", empty("Nothing stands out", why), fold)


def _finding(view: View, number: int, finding: Finding, of: str) -> html.Li:
    head = html.Summary([html.Span(label(finding.title + of), className="np-finding-title"), _share(finding)])
    body = [
        html.Ul([html.Li(label(line)) for line in finding.evidence], className="np-finding-evidence"),
        html.P([html.B("Try: "), label(finding.advice)]),
        html.P(_links(view, finding), className="np-finding-links"),
    ]
    return html.Li(html.Details([head, *body], open=number < _OPEN), className="np-finding")


def _share(finding: Finding) -> Any:
    """The share of a step that a fix would return, and how that is known."""
    if finding.is_simulated:
        return html.Span("sim.", className="np-est", title=f"About the simulated device. {finding.estimated_by}")
    if finding.recoverable_ns < 0:
        return html.Span("not time", className="np-est", title=finding.estimated_by)
    exact = fmt.exact(finding.recoverable_ns, "ns")
    return with_title(
        share_bar(finding.share_ratio, fmt.ratio(finding.share_ratio)), f"{exact}\n{finding.estimated_by}"
    )


def _links(view: View, finding: Finding) -> list[Any]:
    where = _place(view, finding)
    links: list[Any] = [where, " "] if where else []
    if finding.slices:
        href = whole_slice_href(view, view.slice_id(finding.slices[0]))
        links.append(dcc.Link("The clearest example on the timeline", href=href))
    else:
        links.append(dcc.Link("Where it shows most", href=timeline_href(view, finding.start_ns, finding.end_ns)))
    explained = page_explaining(finding.rule)
    if explained:
        links += [" · ", dcc.Link(f"More on {explained.name}", href=page_href(view, explained.path))]
    return links


def _place(view: View, finding: Finding) -> str:
    steps = once(analysis.steps, view.trace)
    in_steps = steps.attrs["found_by"] != "window" and finding.steps > 1
    seen = f"in {finding.steps_seen} of {finding.steps} steps" if in_steps else ""
    rank = f"on rank {finding.rank}" if finding.rank >= 0 and steps["rank"].nunique() > 1 else ""
    words = " ".join(filter(None, (rank, seen)))
    return f"{words[0].upper()}{words[1:]}." if words else ""
