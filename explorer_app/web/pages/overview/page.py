"""The Overview page: the verdict, what it rests on, and what was captured."""

from __future__ import annotations

from typing import Any

from dash import html

from explorer_app.web.numbers import once
from explorer_app.web.page import Page
from explorer_app.web.pages.overview.answer import answer, has_parts
from explorer_app.web.pages.overview.breakdown import breakdown_card
from explorer_app.web.pages.overview.breakdown_trend import MOST_BARS
from explorer_app.web.pages.overview.captured import captured_card
from explorer_app.web.pages.overview.categories import categories_card
from explorer_app.web.pages.overview.figures import figures
from explorer_app.web.pages.overview.import_report import report_card
from explorer_app.web.pages.overview.operations import operations_card
from explorer_app.web.pages.overview.simulated import simulated_card
from explorer_app.web.pages.overview.step_times import has_marks, steps_card
from explorer_app.web.pages.overview.verdict import verdict_card
from explorer_app.web.view import View
from neuron_profile import analysis
from trace_format import Trace


def layout(view: View) -> Any:
    """The verdict beside where the time went, the single numbers, and what the trace is."""
    trace = view.trace
    simulated = simulated_card(view)
    parts = [breakdown_card(view)] if has_parts(trace) else []
    beside = [*parts, *([] if simulated is None else [simulated])]
    steps = [steps_card(trace)] if _need_step_times(trace) else []
    work = [] if once(analysis.time_by_category, trace).empty else [categories_card(trace), operations_card(view)]
    cards = [*steps, *work, captured_card(view.whole), report_card(view.whole)]
    return html.Div(
        [
            html.P(answer(trace), className="np-answer"),
            html.Div(
                [verdict_card(view), *([html.Div(beside, className="np-verdict-beside")] if beside else [])],
                className="np-verdict" if beside else "np-verdict np-alone",
            ),
            html.Div(figures(trace), className="np-figures"),
            html.Div(
                cards, className=f"np-overview{' np-with-steps' if steps else ''}{'' if work else ' np-without-work'}"
            ),
        ]
    )


def _need_step_times(trace: Trace) -> bool:
    """Whether the steps are of several ranks, or so many that the bars of the breakdown show their means."""
    steps = once(analysis.steps, trace)
    return has_marks(steps) and (steps["rank"].nunique() > 1 or len(steps) > MOST_BARS)


PAGE = Page(
    path="/",
    name="Overview",
    question="What bounds my step, and what would fixing it return?",
    layout=layout,
    keys=(("Click a step", "look at it alone, on every page"), ("Click a finding", "show or hide its evidence")),
)
