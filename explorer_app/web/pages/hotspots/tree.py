"""The calls as a tree of areas: module, operator, and what it launched on the device."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
from dash import dcc, html

from explorer_app import format as fmt
from explorer_app.web.chart import chart
from explorer_app.web.links import page_href, slice_href
from explorer_app.web.message import empty
from explorer_app.web.names import named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.pages.hotspots.areas import TIMES, figure_of
from explorer_app.web.pages.hotspots.shape import SIZES, TREES, Shape
from explorer_app.web.switch import switch
from explorer_app.web.view import View
from neuron_profile import analysis
from neuron_profile.analysis import slowest
from neuron_profile.analysis.operations.attribution import MODULE
from trace_format import Trace

PATH: Final = "/hotspots"
MOST_NODES: Final = 400  # plotly draws so many in about a third of a second; the rest is added up, not left out
NO_AREA_CHOSEN: Final = "Click an area to select it, double-click to go into it."


def tree_of(trace: Trace, shape: Shape) -> pd.DataFrame:
    """The nodes that the tree shows, positions being the ids of its areas."""
    return once(analysis.call_tree, trace, by=shape.tree, most_nodes=MOST_NODES)


def tree_drawn(view: View, asked: Shape) -> list[Any]:
    """The tree, and what it does not show."""
    shape = asked.settled(view.trace, MOST_NODES)
    frame = tree_of(view.trace, shape)
    whole_ns = frame.attrs[f"{shape.size}_ns"]
    if not whole_ns:
        return [empty("No calls", _why_none(view.trace, shape, frame))]
    kind = "treemap" if shape.show == "treemap" else "icicle"
    words = f"{SIZES[shape.size]} by calls, {fmt.duration(whole_ns)} in all; the grid has the same as rows"
    drawn = chart(f"hotspots-{kind}", figure_of(frame, shape, kind), height_px=240, window_ratio=0, label=words)
    return [html.Div(drawn, className="np-hotspots-chart"), *_notes(frame, shape)]


def said_of_node(view: View, shape: Shape, number: int) -> list[Any]:
    """A selected area in words, with a link to the slowest call of what it is."""
    node = tree_of(view.trace, shape).iloc[number]
    total, _ = TIMES[shape.size]
    said = [
        html.B(named(node["name"]), title=tooltip(node["name"])),
        html.Span(f"{fmt.duration(node[total])} on the {shape.size}"),
    ]
    href = slice_href(view, _slowest_of_node(view.trace, shape, node))
    return [*said, dcc.Link("Slowest call on the timeline", href=href)] if href else said


def name_of_node(shape: Shape, node: Any) -> str:
    """The name of its slices in the trace."""
    is_module = shape.tree == "module" and node["category"] == "python"
    return f"{MODULE}{node['name']}" if is_module else str(node["name"])


def _slowest_of_node(trace: Trace, shape: Shape, node: Any) -> int:
    if node["folded"] or not node["count"]:
        return -1
    name = name_of_node(shape, node)
    return once(slowest, trace, name=name, by="name", side=node["side"], category=node["category"])


def tree_switches(view: View, asked: Shape, by: str) -> list[Any]:
    """What the areas are, and what they are sized by, where there is a choice; `by` stays in the address."""
    shape = asked.settled(view.trace, MOST_NODES)
    whole = tree_of(view.trace, shape).attrs

    def href(part: str, value: str) -> str:
        return page_href(view, PATH, **{"by": by} if by != "name" else {}, **{**asked.query(), part: value})

    switches = []
    if _has_calls(view.trace):
        switches.append(switch(TREES, shape.tree, lambda value: href("tree", value), label="What the areas are"))
    if whole["device_ns"] and whole["host_ns"]:
        switches.append(switch(SIZES, shape.size, lambda value: href("size", value), label="What areas are sized by"))
    return switches


def _has_calls(trace: Trace) -> bool:
    return bool(once(analysis.call_tree, trace, by="call", most_nodes=MOST_NODES).attrs["host_ns"])


def _why_none(trace: Trace, shape: Shape, frame: pd.DataFrame) -> str:
    if not len(frame) and _has_calls(trace):
        return "Neither modules nor operators were recorded: look at every call instead."
    return f"Nothing in this trace has time on the {shape.size}."


def _notes(frame: pd.DataFrame, shape: Shape) -> list[Any]:
    attrs, words = frame.attrs, []
    if shape.size == "device" and attrs["unattributed_ns"]:
        share = fmt.ratio(attrs["unattributed_ns"] / attrs["device_ns"])
        words.append(f"Of {fmt.duration(attrs['unattributed_ns'])} of the device's work ({share}) no launch is known.")
    if shape.size == "host" and attrs["outside_ns"]:
        words.append(f"{fmt.duration(attrs['outside_ns'])} of the host lie outside of modules and operators.")
    if frame["folded"].any():
        shown = int((frame["folded"] == 0).sum())
        words.append(
            f"{fmt.count(shown)} of {fmt.counted(attrs['nodes'], 'path')} of calls; the smallest are added up."
        )
    return [html.P(" ".join(words), className="np-note np-hotspots-note")] if words else []
