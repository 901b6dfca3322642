"""The card that divides the time of the simulated device; all of it is an estimate, and mixed with nothing measured."""

from __future__ import annotations

from typing import Any

from dash import dcc

from explorer_app import format as fmt
from explorer_app.breakdown_text import SIMULATED_PART_NAMES
from explorer_app.web.breakdown_parts import parts_table, stacked
from explorer_app.web.card import card
from explorer_app.web.links import page_href
from explorer_app.web.names import label
from explorer_app.web.numbers import once
from explorer_app.web.table import with_title
from explorer_app.web.view import View
from neuron_profile import analysis
from neuron_profile.analysis.breakdown import busiest, by_device


def simulated_card(view: View) -> Any:
    """The parts of the simulated device that idles least; None for a trace without one."""
    frame = once(analysis.simulated_breakdown, view.trace)
    parts = busiest(frame)
    if not parts.get("total_ns"):
        return None
    devices = len(by_device(frame))
    whose = f" of one of {devices} devices" if devices > 1 else ""
    said = [frame.attrs.get(name) for name in ("generation", "uncertainty")]
    of = label(" ".join(str(part) for part in said if part))
    note = [with_title(fmt.duration(parts["total_ns"]), fmt.exact(parts["total_ns"], "ns")), f"{whose} {of} · ",
            dcc.Link("Device", href=page_href(view, "/device"))]  # fmt: skip
    words = "The time of the simulated device by what would happen; the table below has the numbers"
    return card(
        "A NeuronCore's time, sim.", stacked(parts, SIMULATED_PART_NAMES, words),
        parts_table(parts, SIMULATED_PART_NAMES, label="Parts of the simulated device's time",
                    small_ratio=0), note=note,
    )  # fmt: skip
