"""The card that divides the steps into what happened in them; the parts add up to the steps exactly."""

from __future__ import annotations

from typing import Any, Final

from explorer_app import format as fmt
from explorer_app.breakdown_text import extent, names_of, whose
from explorer_app.web.breakdown_parts import parts_table, stacked
from explorer_app.web.card import card
from explorer_app.web.message import empty
from explorer_app.web.numbers import once
from explorer_app.web.pages.overview.breakdown_trend import trend
from explorer_app.web.table import with_title
from explorer_app.web.view import View
from neuron_profile import analysis
from neuron_profile.analysis.breakdown import busiest, by_device

_TITLE: Final = "Where the time went"


def breakdown_card(view: View) -> Any:
    """One bar that is the time of all steps, cut in proportion, its parts, and a bar of them for each step."""
    frame = once(analysis.breakdown, view.trace)
    parts = busiest(frame)
    if not parts.get("total_ns"):
        return card(_TITLE, empty("No time", "Nothing in this trace has a duration."))
    names, total_ns = names_of(frame), parts["total_ns"]
    devices = len(by_device(frame))
    what = "devices" if (frame["device"] >= 0).any() else "ranks"
    of_whom = f", of {whose(frame)}, the one of {devices} {what} that idles least" if devices > 1 else ""
    note = [with_title(fmt.duration(total_ns), fmt.exact(total_ns, "ns")), f" of {extent(frame)}{of_whom}"]
    drawn = [stacked(parts, names, "The time of the steps by what happened; the table below has the numbers"),
             parts_table(parts, names, label="Parts of the steps"), trend(view, frame, names)]  # fmt: skip
    return card(_TITLE, *[part for part in drawn if part is not None], note=note)
