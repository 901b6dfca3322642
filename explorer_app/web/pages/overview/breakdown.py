"""The card that divides the steps into what happened in them; the parts add up to the steps exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dash import html

from explorer_app import format as fmt
from explorer_app.breakdown_text import names_of
from explorer_app.web.card import card
from explorer_app.web.message import empty
from explorer_app.web.numbers import once
from explorer_app.web.table import table, with_title
from explorer_app.web.theme import category_color
from neuron_profile import analysis
from neuron_profile.analysis.breakdown import busiest, by_device
from trace_format import Trace

# The category whose colour each part has.
_COLORS: Final[dict[str, str]] = {
    "compute_ns": "compute", "exposed_collective_ns": "collective", "exposed_copy_ns": "memcpy",
    "data_loading_ns": "python", "idle_compile_ns": "compile", "idle_data_loading_ns": "python",
    "idle_sync_ns": "sync", "idle_host_ns": "host_op", "idle_launch_ns": "runtime", "idle_other_ns": "other",
}  # fmt: skip


def breakdown_card(trace: Trace) -> Any:
    """One bar that is the time of all steps, cut in proportion, and its parts."""
    frame = once(analysis.breakdown, trace)
    parts = busiest(frame)
    if not parts.get("total_ns"):
        return card("Where the time went", empty("No time", "Nothing in this trace has a duration."), area="breakdown")
    names, total_ns = names_of(frame), parts["total_ns"]
    shown = {name: parts[name] for name in names if parts[name]}
    cells = [
        (
            _mark(name, names),
            with_title(fmt.duration(length_ns), fmt.exact(length_ns, "ns")),
            fmt.ratio(length_ns / total_ns),
        )
        for name, length_ns in shown.items()
    ]
    columns = (("Part", "wide"), ("Time", "number"), ("Share", "number"))
    devices = len(by_device(frame))
    note = [with_title(fmt.duration(total_ns), fmt.exact(total_ns, "ns")), f" of {_what(frame, devices)}"]
    return card(
        "Where the time went", _bar(shown, total_ns, names), table(columns, cells, label="Parts of the steps"),
        note=note, area="breakdown",
    )  # fmt: skip


def _what(frame: Any, devices: int) -> str:
    steps = frame[["rank", "step"]].drop_duplicates().groupby("rank").size().max()
    words = "the whole window" if frame.attrs["found_by"] == "window" else f"{fmt.count(int(steps))} steps"
    return f"{words}, on the one of {devices} devices that idles least" if devices > 1 else words


def _bar(parts: Mapping[str, int], total_ns: int, names: Mapping[str, str]) -> html.Div:
    cut = [
        html.Span(
            title=f"{names[name]}: {fmt.duration(length_ns)}, {fmt.ratio(length_ns / total_ns)}",
            style={"flexGrow": length_ns, "background": category_color(_COLORS[name])},
        )
        for name, length_ns in parts.items()
    ]
    label = "The time of the steps by what happened; the table below has the numbers"
    return html.Div(cut, className="np-stacked", role="img", **{"aria-label": label})


def _mark(name: str, names: Mapping[str, str]) -> html.Span:
    swatch = html.Span(className="np-swatch", style={"background": category_color(_COLORS[name])})
    return html.Span([swatch, names[name]], className="np-category")
