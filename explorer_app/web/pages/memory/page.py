"""The Memory page: where the bytes go."""

from __future__ import annotations

from typing import Any

import dash
from dash import html

from explorer_app import format as fmt
from explorer_app.web import subject
from explorer_app.web.grid import SORT_KEY, lead_to_timeline
from explorer_app.web.message import empty
from explorer_app.web.names import in_sentence
from explorer_app.web.numbers import once
from explorer_app.web.page import Page
from explorer_app.web.pages.memory.channels import channel_name, channels_card
from explorer_app.web.pages.memory.estimates import est, estimate_note
from explorer_app.web.pages.memory.figures import figures
from explorer_app.web.pages.memory.growth import growth_card
from explorer_app.web.pages.memory.holders import holders_card
from explorer_app.web.pages.memory.movers import GRID as MOVERS
from explorer_app.web.pages.memory.movers import TOP, movers_card, slice_of_mover
from explorer_app.web.pages.memory.over_time import time_card
from explorer_app.web.pages.memory.roofline import roofline_card
from explorer_app.web.pages.memory.tensors import tensors_card
from explorer_app.web.pages.memory.transfers import transfers_card
from explorer_app.web.recording_advice import advice, other_producer
from explorer_app.web.time_axis import RANGE_KEYS
from explorer_app.web.view import View, Views
from neuron_profile import analysis
from trace_format import Trace


def layout(view: View) -> Any:
    """The answer, its numbers, bytes over time, and below what bounds, moves, holds and stays."""
    trace = view.trace
    if other_producer(trace) and once(analysis.bytes_moved, trace).empty and not len(trace.memory):
        return empty("No memory", advice(trace, "allocations"))
    rows = [
        (time_card(view), roofline_card(view)),
        (channels_card(trace), transfers_card(view)),
        (movers_card(trace), holders_card(trace)),
        (growth_card(trace), tensors_card(trace)),
    ]
    pairs = [html.Div([one for one in cards if one is not None], className="np-pair") for cards in rows]
    return html.Div(
        [
            html.P(answer(view), className="np-answer"),
            html.Div(figures(view), className="np-figures"),
            html.Div(pairs, className="np-memory"),
            *estimate_note(trace),
        ]
    )


def register_callbacks(app: dash.Dash, views: Views) -> None:
    """Lead from an operation to the slice in which it moved most."""
    lead_to_timeline(app, views, MOVERS, slice_of_mover)


def answer(view: View) -> list[Any]:
    """How much of its bandwidth the busiest memory uses, what moves most, and how much is allocated at most."""
    trace = view.trace
    words = [*_used(trace), *_moved(trace), *_allocated(view)]
    return words or ["This trace records neither allocations nor what tells how many bytes were moved."]


def _used(trace: Trace) -> list[Any]:
    frame = once(analysis.bandwidth_summary, trace)
    memory = frame[(frame["side"] == "device") & (frame["direction"] == "memory") & frame["peak_bytes_per_s"].notna()]
    if memory.empty:
        return []
    row = dict(memory.iloc[int(memory["bytes"].to_numpy().argmax())])
    name = channel_name(row, frame)
    words = (
        f"The {name} moves {fmt.bandwidth(row['average_bytes_per_s'])}{est(row['estimated_ratio'])} on average, "
        f"{fmt.ratio(row['average_share_ratio'])} of its peak, and at most {fmt.ratio(row['highest_share_ratio'])} in "
        f"{fmt.duration(row['bin_ns'])}. "
    )
    return [words]


def _moved(trace: Trace) -> list[Any]:
    movers = once(analysis.movers, trace, top=TOP)
    if movers.empty:
        return []
    first, moved = movers.iloc[0], once(analysis.bytes_moved, trace)
    return [
        # the memory's traffic in the table below has what a copy within it reads and what it writes
        f"{fmt.size(moved['bytes'].sum())}{_in_brackets(moved.attrs['estimated_bytes'])} are moved, ",
        "a copy counted once; ",
        in_sentence(first["name"]),
        f" moves most: {fmt.size(first['bytes'])}{_in_brackets(first['estimated_ratio'])}. ",
    ]


def _allocated(view: View) -> list[Any]:
    memory = once(analysis.memory_timeline, view.trace)
    if memory.empty:
        return []
    peak = memory.iloc[int(memory["total_bytes"].to_numpy().argmax())]
    start_ns = view.whole.time_range_ns[0] if view.whole.time_range_ns else 0
    words = (
        f"At most {fmt.size(peak['total_bytes'])} are allocated{subject.on_device(peak['rank'], peak['device'])}, "
        f"{fmt.duration(int(peak['ts_ns']) - start_ns)} after the start"
    )
    relative = subject.since_the_start(memory.attrs["relative"], peak["rank"], peak["device"])
    return [f"{words}; what was allocated before the trace is not in it." if relative else f"{words}."]


def _in_brackets(estimated: float) -> str:
    return " (est.)" if estimated > 0 else ""


PAGE = Page(
    path="/memory",
    name="Memory",
    question="Where do the bytes go?",
    layout=layout,
    register_callbacks=register_callbacks,
    keys=(
        *RANGE_KEYS,
        ("Click a point of the roofline", "show its longest slice on the timeline"),
        ("Double click a row", "show on the timeline where it moved most"),
        SORT_KEY,
    ),
)
