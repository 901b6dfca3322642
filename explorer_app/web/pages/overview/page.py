"""The Overview page: what was captured, and where its time went."""

from __future__ import annotations

from typing import Any

from dash import html

from explorer_app import format as fmt
from explorer_app.breakdown_text import names_of
from explorer_app.web.numbers import once
from explorer_app.web.page import Page
from explorer_app.web.pages.overview.breakdown import breakdown_card
from explorer_app.web.pages.overview.captured import captured_card
from explorer_app.web.pages.overview.categories import categories_card, work_of_side
from explorer_app.web.pages.overview.figures import figures
from explorer_app.web.pages.overview.import_report import report_card
from explorer_app.web.pages.overview.operations import operations_card
from explorer_app.web.pages.overview.step_times import has_marks, steps_card
from explorer_app.web.table import category_name
from neuron_profile import analysis
from neuron_profile.analysis.breakdown import busiest
from trace_format import Trace


def layout(trace: Trace) -> Any:
    """The answer in words, the numbers behind it, and what the trace is."""
    cards = [
        card(trace)
        for card in (breakdown_card, steps_card, categories_card, operations_card, captured_card, report_card)
    ]
    return html.Div(
        [
            html.P(_answer(trace), className="np-answer"),
            html.Div(figures(trace), className="np-figures"),
            html.Div(cards, className="np-overview"),
        ]
    )


def _answer(trace: Trace) -> str:
    by_category = once(analysis.time_by_category, trace)
    words = []
    steps = once(analysis.steps, trace)
    if has_marks(steps):
        of = f"median of {len(steps)}" if len(steps) > 1 else "the only one marked"
        ranks = steps["rank"].nunique()
        of += f", on {ranks} ranks" if ranks > 1 else ""
        words.append(f"A step takes {fmt.duration(steps['dur_ns'].median())} ({of}).")
    breakdown = once(analysis.breakdown, trace)
    parts = busiest(breakdown)
    if parts.get("total_ns"):
        names = names_of(breakdown)
        largest = max(names, key=lambda name: parts[name])
        whose = "Its" if words else "The"
        words.append(f"{whose} largest part is {names[largest]}: {fmt.ratio(parts[largest] / parts['total_ns'])}.")
    if by_category.empty:
        words.append("This trace holds no work: nothing in it but marks and annotations has a duration.")
    for side in by_category["side"].unique():
        first = work_of_side(trace, side)[0]
        if first["self_ns"]:
            category = category_name(first["category"])
            words.append(f"On the {side} most of the time is {category}: {fmt.ratio(first['share_ratio'])}.")
        elif first["self_ns"] is None:
            words.append(f"No slice on the {side} finished, so how long they took is unknown.")
    return " ".join(words)


PAGE = Page(path="/", name="Overview", question="Where does the time of a step go?", layout=layout)
