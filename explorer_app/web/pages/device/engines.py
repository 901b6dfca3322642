"""The card that says what the time of each engine went to."""

from __future__ import annotations

from typing import Any, Final

from dash import html

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.message import empty
from explorer_app.web.numbers import once
from explorer_app.web.table import table, with_title
from explorer_app.web.theme import category_color
from neuron_profile.analysis import neuron_device
from neuron_profile.analysis.neuron_device import Run
from trace_format import Trace

PARTS: Final = (
    ("active", "works", category_color("compute")),
    ("waiting", "waits", category_color("semaphore")),
    ("idle", "idles", "var(--np-grid)"),
)
_COLUMNS: Final = (
    ("Core", "text"), ("Engine", "text"), ("Works, waits, idles", "wide"), ("Works", "number"), ("Waits", "number"),
    ("Instructions", "number"),
)  # fmt: skip


def engines_card(trace: Trace, run: Run, number: int) -> Any:
    """One bar for each engine of each core: works, waits, idles."""
    frame = once(utilisation, trace, number=number)
    if frame.empty:
        nothing = empty("No instructions", "The profile of this run holds no instructions of the five engines.")
        return card("Engines", nothing, area="engines")
    rows = [
        (
            f"nc{row['core']}",
            row["engine"],
            _bar(row),
            with_title(fmt.ratio(row["active_ratio"]), fmt.exact(row["active_ns"], "ns")),
            with_title(fmt.ratio(row["waiting_ratio"]), fmt.exact(row["waiting_ns"], "ns")),
            fmt.count(row["instructions"]),
        )
        for row in frame.to_dict("records")
    ]
    legend = html.Div(
        [
            html.Span([html.Span(className="np-swatch", style={"background": color}), said], className="np-category")
            for _, said, color in PARTS
        ],
        className="np-device-legend",
    )
    note = with_title(
        f"of {fmt.duration(run.total_ps / 1000)}",
        "works: an instruction other than EVENT_SEMAPHORE runs. waits: none does, and the next one waits for a "
        "semaphore or an event. idles: the rest.",
    )
    shown = table(_COLUMNS, rows, label="What the time of each engine went to")
    return card("Engines", shown, legend, *_throttling(trace, run), note=note, area="engines")


def _throttling(trace: Trace, run: Run) -> list[Any]:
    """For each core and limit how long it held; nothing where the profile has no record of throttling."""
    limits = neuron_device.throttle_limits(trace, run)
    if limits.empty:
        return []
    held = limits.groupby(["core", "limit_ratio"])["dur_ns"].sum().reset_index()
    held = held.sort_values(["core", "limit_ratio"], ascending=[True, False])
    rows = [
        (
            f"nc{row['core']:.0f}",
            f"at most {fmt.ratio(row['limit_ratio'])} of its rate" if row["limit_ratio"] < 1 else "not limited",
            with_title(fmt.duration(row["dur_ns"]), fmt.exact(row["dur_ns"], "ns")),
            fmt.ratio(row["dur_ns"] * 1000 / run.total_ps if run.total_ps else None),
        )
        for row in held.to_dict("records")
    ]
    columns = (("Core", "text"), ("Limit", "wide"), ("Time", "number"), ("Of the run", "number"))
    return [html.H3("Throttling", className="np-device-part"), table(columns, rows, label="Throttling")]


def utilisation(trace: Trace, *, number: int) -> Any:
    """`engine_utilisation` of the run of this number."""
    return neuron_device.engine_utilisation(trace, once(neuron_device.runs_of, trace)[number])


def _bar(row: dict[Any, Any]) -> html.Div:
    parts = [
        html.Span(
            title=f"{said}: {fmt.duration(row[f'{part}_ns'])}, {fmt.ratio(row[f'{part}_ratio'])}",
            style={"flexGrow": row[f"{part}_ns"], "background": color},
        )
        for part, said, color in PARTS
        if row[f"{part}_ns"]
    ]
    said = ", ".join(f"{said} {fmt.ratio(row[f'{part}_ratio'])}" for part, said, _ in PARTS)
    return html.Div(parts, className="np-stacked", role="img", **{"aria-label": f"{row['engine']}: {said}"})
