"""The whole report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from explorer_app import format as fmt
from explorer_app.breakdown_text import names_of, whose
from explorer_app.reporters.report.breakdown import breakdown
from explorer_app.reporters.report.bytes_over_time import bytes_over_time
from explorer_app.reporters.report.captured import banners, captured, imported
from explorer_app.reporters.report.communication import communication
from explorer_app.reporters.report.compilation import compilation
from explorer_app.reporters.report.excerpt import excerpt
from explorer_app.reporters.report.markup import Markup, element, joined, shortened
from explorer_app.reporters.report.neuron_device import neuron_device
from explorer_app.reporters.report.operations import categories, operations
from explorer_app.reporters.report.roofline import roofline
from explorer_app.reporters.report.step_times import step_times
from explorer_app.reporters.report.style import style
from explorer_app.reporters.report.verdict import verdict
from neuron_profile._version import __version__
from neuron_profile.analysis import summarize
from neuron_profile.analysis.breakdown import busiest
from trace_format import Trace

# Nothing is fetched and nothing runs, whatever a name in the trace looks like.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def write_report(trace: Trace, title: str, write: Callable[[bytes], object], *, redacted: bool = False) -> None:
    """Write the report on a trace as one HTML file that needs nothing else; `title` is what the trace is called.

    `redacted`: say that its names were replaced, which is the caller's work (`trace_format.redaction`).
    """
    summary = summarize(trace)
    parts, names, of = busiest(summary.breakdown), names_of(summary.breakdown), whose(summary.breakdown)
    window = summary.window_ns
    told = "no events" if window is None else f"{fmt.duration(window[1] - window[0])} measured"
    lead = f"A report of neuron-profile {__version__}: {told}."
    if redacted:
        lead += " Names outside torch, paths and hosts are replaced."
    name = shortened(title)
    main = element(
        "main", *banners(trace, summary.report), verdict(summary, parts, names, of), breakdown(summary, parts, names),
        step_times(summary), excerpt(trace), operations(summary), categories(summary), neuron_device(summary),
        bytes_over_time(trace), roofline(trace), communication(trace, summary), compilation(trace),
        captured(trace, summary), imported(summary.report),
    )  # fmt: skip
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{name}, report"),
        element("style", Markup(style())),
    )
    header = element("header", element("h1", name), element("p", lead, _class="lead"))
    footer = element("footer", "Times are exact in the tooltips. “–” is unknown, “est.” worked out from shapes.")
    body = element("body", header, main, footer)
    html = joined((Markup("<!doctype html>\n"), element("html", head, body, lang="en"), Markup("\n")))
    write(html.encode("utf-8", "backslashreplace"))
