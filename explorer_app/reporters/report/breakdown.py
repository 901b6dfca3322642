"""The section that divides the steps into what happened in them; the parts add up to the steps exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer_app import format as fmt
from explorer_app.breakdown_text import PART_CATEGORIES, whose
from explorer_app.reporters.report.markup import Content, Markup, told
from explorer_app.reporters.report.parts import mark, nothing, section, stacked_bar, table
from explorer_app.web.theme import category_color
from neuron_profile.analysis import Summary
from neuron_profile.analysis.breakdown import by_device

_TITLE: Final = "Where the time went"


def breakdown(summary: Summary, parts: Mapping[str, int], names: Mapping[str, str]) -> Markup:
    """One bar that is the time of all steps, cut in proportion, and its parts with their sum."""
    total_ns = parts.get("total_ns", 0)
    if not total_ns:
        return section(_TITLE, nothing("Nothing in this trace has a duration."))
    shown = {name: parts[name] for name in names if parts.get(name)}
    colors = {name: category_color(PART_CATEGORIES[name]) for name in shown}
    rows: list[tuple[Content, ...]] = [
        (mark(names[name], colors[name]), told(fmt.duration(ns), fmt.exact(ns, "ns")), fmt.ratio(ns / total_ns))
        for name, ns in shown.items()
    ]
    rows.append(("all of it", told(fmt.duration(total_ns), fmt.exact(total_ns, "ns")), fmt.ratio(1.0)))
    bar = stacked_bar({names[n]: (ns, colors[n]) for n, ns in shown.items()}, "The time of the steps by what happened")
    columns = (("Part", "wide"), ("Time", "number"), ("Share", "number"))
    return section(_TITLE, bar, table(columns, rows, "Parts of the steps"), note=_of_what(summary))


def _of_what(summary: Summary) -> str:
    steps, devices = summary.steps, len(by_device(summary.breakdown))
    whole = steps.attrs["found_by"] == "window"
    of = "of the whole window" if whole else f"of {fmt.counted(int(steps['step'].nunique()), 'step')}"
    return f"{of}, on {whose(summary.breakdown)}, the one of {devices} that idles least" if devices > 1 else of
