"""The Memory page: where the bytes go."""

from __future__ import annotations

from typing import Any, Final

import dash
import numpy as np
import pandas as pd
from dash import html

from explorer_app import format as fmt
from explorer_app.web import subject
from explorer_app.web.card import card
from explorer_app.web.downsample import extremes
from explorer_app.web.grid import (
    copy_button,
    estimated_column,
    grid,
    grid_height_px,
    lead_to_timeline,
    name_column,
    number_column,
    position,
    rows_of,
    text_column,
)
from explorer_app.web.message import banner, empty
from explorer_app.web.names import in_sentence
from explorer_app.web.numbers import once
from explorer_app.web.page import Page
from explorer_app.web.pages.memory_holders import by_category, held_before, holders_card
from explorer_app.web.theme import category_color
from explorer_app.web.time_panels import Curve, Panel, time_panels
from neuron_profile import analysis
from trace_format import Trace

_BINS: Final = 500
_MOVERS: Final = 200
_MOVERS_PX: Final = 480
_ABOVE_MOVERS_PX: Final = 280  # beside the charts of a large window the grid takes the rest of it
_SIDE_COLORS: Final = {"device": category_color("compute"), "host": category_color("host_op")}
_DEVICE_COLORS: Final = tuple(map(category_color, ("compute", "collective", "memset", "compile", "memcpy")))
_NO_BYTES: Final = "No operation here tells its bytes. Record with record_shapes=True to estimate them."
_NO_ALLOCATIONS: Final = "Allocations were not recorded. Record with profile_memory=True to see them."
_WHY_ESTIMATED: Final = (
    "est.: worked out from the shapes of an operation's inputs and outputs, each read or written once; "
    "the trace has no record of the bytes it moved"
)


def layout(trace: Trace) -> Any:
    """The answer, bytes over time, and the operations that move most."""
    return html.Div(
        [
            html.P(_answer(trace), className="np-answer"),
            *_estimate_note(trace),
            html.Div(
                [_time_card(trace), *filter(None, [holders_card(trace)]), _movers_card(trace)], className="np-memory"
            ),
        ]
    )


def register_callbacks(app: dash.Dash, trace: Trace) -> None:
    """Lead from an operation to the slice in which it moved most."""
    lead_to_timeline(app, trace, "np-movers", lambda row_id: _slice_of_mover(trace, row_id))


def _answer(trace: Trace) -> Any:
    memory = once(analysis.memory_timeline, trace)
    words: list[Any] = []
    if not memory.empty:
        peak = memory.iloc[int(memory["total_bytes"].to_numpy().argmax())]
        start_ns = trace.time_range_ns[0] if trace.time_range_ns else 0
        words.append(
            f"At most {fmt.size(peak['total_bytes'])} are allocated{subject.on_device(peak['rank'], peak['device'])}, "
            f"{fmt.duration(int(peak['ts_ns']) - start_ns)} after the start. "
        )
    movers = once(analysis.movers, trace, top=_MOVERS)
    if not movers.empty:
        first, moved = movers.iloc[0], once(analysis.bytes_moved, trace)
        words += [
            f"{fmt.size(moved['bytes'].sum())}{_est(moved.attrs['estimated_bytes'])} are moved; ",
            in_sentence(first["name"]),
            f" moves most: {fmt.size(first['bytes'])}{_est(first['estimated_ratio'])}.",
        ]
    return words or "This trace records neither allocations nor what tells how many bytes were moved."


def _est(estimated: float) -> str:
    return " (est.)" if estimated > 0 else ""


def _estimate_note(trace: Trace) -> list[Any]:
    moved = once(analysis.bytes_moved, trace)
    whole, estimated = int(moved["bytes"].sum()), moved.attrs["estimated_bytes"]
    if not estimated:
        return []
    words = (
        f"{fmt.ratio(estimated / whole)} of the bytes moved are estimated from the shapes of inputs and outputs, each "
        "read or written once, because the trace has no record of them. Caches make the true number smaller, "
        "repeated reads make it larger."
    )
    unplaced = moved.attrs["unplaced_bytes"]
    if unplaced:
        words += f" Another {fmt.size(unplaced)} belong to work that was launched but not recorded; no chart has them."
    return [banner(html.B("est. "), words)]


def _time_card(trace: Trace) -> Any:
    moving, allocated = _moving(trace), _allocated(trace)
    told = by_category(trace)
    missing = [
        (what, why)
        for panel, what, why in ((moving, "No bytes moved", _NO_BYTES), (allocated, "No allocations", _NO_ALLOCATIONS))
        if not panel.curves
    ]
    # of a single device the parts show the whole, too
    panels = (moving, told) if told.curves and len(allocated.curves) == 1 else (moving, allocated, told)
    drawn = [panel for panel in panels if panel.curves]
    if not drawn:
        return card("Bytes over time", *(empty(what, why) for what, why in missing))
    beside = [html.P(f"{what}: {why[0].lower()}{why[1:]}", className="np-dim") for what, why in missing]
    beside += held_before(trace)
    note = "drag to zoom, double-click to see all"
    return card("Bytes over time", time_panels("memory", drawn, trace), *beside, note=note)


def _moving(trace: Trace) -> Panel:
    frame = once(analysis.bandwidth, trace, bins=_BINS)
    curves = []
    for side, rows in frame.groupby("side", sort=True):
        estimated = rows["estimated_ratio"].fillna(0)
        texts = [
            f"{side}: {fmt.bandwidth(rate)}{f', est. {fmt.ratio(part)}' if part > 0 else ''}"
            for rate, part in zip(rows["bytes_per_s"], estimated, strict=True)
        ]
        curves.append(
            Curve(
                name=f"moved on the {side}{' est.' if (estimated > 0).any() else ''}",
                times_ns=[*rows["start_ns"].tolist(), int(rows["end_ns"].iloc[-1])],
                values=[*rows["bytes_per_s"].tolist(), 0.0],
                texts=[*texts, f"{side}: {fmt.bandwidth(0)}"],
                color=_SIDE_COLORS[str(side)],
            )
        )
    return Panel("Bytes moved per second", fmt.bandwidth, curves)


def _allocated(trace: Trace) -> Panel:
    memory = once(analysis.memory_timeline, trace)
    end_ns = trace.time_range_ns[1] if trace.time_range_ns else 0
    curves = []
    devices: list[tuple[Any, pd.DataFrame]] = list(memory.groupby(["rank", "device"], sort=True))
    marked = _highest(devices) if len(devices) > len(_DEVICE_COLORS) or memory["rank"].nunique() > 1 else -1
    for number, ((rank, device), rows) in enumerate(devices):
        kept = rows.iloc[extremes(rows["ts_ns"].to_numpy(), rows["total_bytes"].to_numpy(), bins=_BINS)]
        totals = kept["total_bytes"].tolist()
        totals.append(totals[-1])
        shown = subject.device(rank, device) or "an unnamed device"
        above = subject.above_the_least(memory.attrs["relative"], rank, device)
        curves.append(
            Curve(
                name=f"allocated on {shown}{above}",
                times_ns=[*kept["ts_ns"].tolist(), end_ns],
                values=totals,
                texts=[f"{shown}: {fmt.size(total)}{above} ({fmt.exact(total, 'bytes')})" for total in totals],
                color=_curve_color(number, device, marked),
                in_legend=marked < 0 or number == marked,
            )
        )
    title = "Allocated" if marked < 0 else "Allocated, one line for each rank and device; the highest peak is marked"
    return Panel(title, fmt.size, curves)


def _highest(devices: list[tuple[Any, pd.DataFrame]]) -> int:
    """Which of the devices has the highest peak; the first of several."""
    return int(np.argmax([rows["total_bytes"].max() for _, rows in devices]))


def _curve_color(number: int, device: str, marked: int) -> str:
    """A colour for each device while there are enough; with several ranks one is marked among equals."""
    if marked >= 0:
        return "var(--np-accent)" if number == marked else "var(--np-dim)"
    return _SIDE_COLORS["host"] if device == "cpu" else _DEVICE_COLORS[number % len(_DEVICE_COLORS)]


def _movers_card(trace: Trace) -> Any:
    movers = once(analysis.movers, trace, top=_MOVERS)
    if movers.empty:
        return card("Top movers", empty("No movers", _NO_BYTES))
    columns = [
        name_column("name", "Operation", flex=1, minWidth=220, cellClass="np-mono-cell"),
        text_column("side", "Side", width=84),
        estimated_column("bytes", "Bytes", "size", "bytes", _WHY_ESTIMATED, width=130),
        number_column("count", "Calls", "count", width=92),
        number_column("dur_ns", "Time", "duration", "ns", width=100),
        estimated_column("bytes_per_s", "Bytes per second", "bandwidth", "bytes/s", _WHY_ESTIMATED, width=150),
        number_column("estimated_ratio", "Estimated", "ratio", width=104),
    ]
    body = html.Div(
        grid("np-movers", columns, rows=rows_of(movers), empty=_NO_BYTES,
             label="Operations by the bytes they move"),
        style={"height": f"min({grid_height_px(len(movers))}px, max({_MOVERS_PX}px, 100vh - {_ABOVE_MOVERS_PX}px))"},
    )  # fmt: skip
    return card("Top movers", body, note=copy_button("np-movers"), flush=True)


def _slice_of_mover(trace: Trace, row_id: str) -> int:
    movers, moved = once(analysis.movers, trace, top=_MOVERS), once(analysis.bytes_moved, trace)
    number = position(row_id, len(movers))
    if number < 0:
        return -1
    name, side = movers["name"].iloc[number], movers["side"].iloc[number]
    theirs: pd.DataFrame = moved[(moved["name"] == name) & (moved["side"] == side)]
    return int(theirs["slice"].iloc[int(np.argmax(theirs["bytes"].to_numpy()))])


PAGE = Page(
    path="/memory",
    name="Memory",
    question="Where do the bytes go?",
    layout=layout,
    register_callbacks=register_callbacks,
    keys=(
        ("Drag in a chart", "zoom its time axis"),
        ("Double click in a chart", "see all of it again"),
        ("Click a row", "select it"),
        ("Double click a row", "show on the timeline where it moved most"),
        ("Click a heading", "sort; with Ctrl by several columns"),
    ),
)
