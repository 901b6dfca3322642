"""The cards that say why: functions with their recompiles, misses that should have been hits, graph breaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dash import dcc, html

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.links import timeline_href
from explorer_app.web.message import empty
from explorer_app.web.names import label, named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.table import table, with_title
from explorer_app.web.view import View
from neuron_profile import analysis
from trace_format import Trace

_MOST_ROWS: Final = 20
_LONGEST_REASON: Final = 160
_AROUND_NS: Final = 1_000_000


def functions_card(trace: Trace) -> Any:
    """Each function with what compiling it once would have taken, and what its recompiles took on top."""
    frame = once(analysis.compile_causes, trace)
    rows = [
        (
            with_title(named(row["function"]), tooltip(row["function"])),
            fmt.count(row["compiles"]),
            with_title(fmt.duration(row["first_ns"]), fmt.exact(row["first_ns"], "ns")),
            with_title(fmt.duration(row["recompile_ns"]), fmt.exact(row["recompile_ns"], "ns"))
            if row["recompiles"]
            else "–",
            _why(row),
        )
        for row in frame.head(_MOST_ROWS).to_dict("records")
    ]
    columns = (
        ("Function", "text"), ("Compiles", "number"), ("Once", "number"), ("Again", "number"), ("Why again", "wide"),
    )  # fmt: skip
    left = len(frame) - _MOST_ROWS
    note = f"and {fmt.counted(left, 'function')} more" if left > 0 else ""
    body = table(columns, rows, label="Compiled functions by time")
    return card("Functions", body, note=note, flush=True)


def _why(row: Mapping[Any, Any]) -> Any:
    if not row["recompiles"]:
        return html.Span("compiled once", className="np-dim")
    storm = f"in {fmt.counted(row['steps'], 'step')}: " if row["is_storm"] else ""
    reason = label(row["reason"], longest=_LONGEST_REASON) if row["reason"] else "torch gave no reason"
    shown = html.Span([html.B(storm), reason])
    return with_title(shown, row["reason"][:1000])


def misses_card(trace: Trace) -> Any:
    """What a cache should have had; None where there is no such thing."""
    frame = once(analysis.repeated_misses, trace)
    if frame.empty:
        return None
    rows = [
        (
            with_title(named(row["function"]), tooltip(row["function"])),
            html.Code(label(row["cache_key"], longest=20), title=row["cache_key"][:200]),
            fmt.count(row["repeated"]),
            with_title(fmt.duration(row["repeated_ns"]), fmt.exact(row["repeated_ns"], "ns")),
        )
        for row in frame.head(_MOST_ROWS).to_dict("records")
    ]
    columns = (("Function", "name"), ("Key", "text"), ("Missed again", "number"), ("Took", "number"))
    note = "the same key missed before: is the cache writable, large enough and shared?"
    body = table(columns, rows, label="Cache misses that should have been hits")
    return card("Misses that should have been hits", body, note=note, flush=True)


def breaks_card(view: View) -> Any:
    """Graph breaks by the line that caused them."""
    frame = once(analysis.graph_breaks, view.trace)
    if frame.empty:
        nothing = empty(
            "No graph breaks", "Every graph ended where its function did, or torch.compile was not recorded."
        )
        return card("Graph breaks", nothing)
    rows = [
        (
            dcc.Link(
                named(row["place"]) if row["place"] else "place unknown",
                href=timeline_href(view, row["ts_ns"] - _AROUND_NS, row["ts_ns"] + _AROUND_NS),
                title=f"{tooltip(row['place'])}\nShow the first on the timeline",
            ),
            fmt.count(row["count"]),
            with_title(label(row["reason"], longest=_LONGEST_REASON), row["reason"][:1000]),
        )
        for row in frame.head(_MOST_ROWS).to_dict("records")
    ]
    columns = (("Line", "text"), ("Breaks", "number"), ("Reason", "wide"))
    return card("Graph breaks", table(columns, rows, label="Graph breaks by line"), flush=True)
