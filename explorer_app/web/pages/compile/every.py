"""The grid of every compile."""

from __future__ import annotations

from typing import Any, Final

from dash import html

from explorer_app.web.card import card
from explorer_app.web.grid import copy_button, grid, grid_height_px, name_column, number_column, rows_of, text_column
from explorer_app.web.numbers import once
from neuron_profile import analysis
from trace_format import Trace

GRID: Final = "np-compiles"
_HEIGHT_PX: Final = 420
_MOST_ROWS: Final = 10_000
_SHOWN: Final = (
    "what", "direction", "backend", "cache", "step", "start_ns", "dur_ns", "operators", "graph_breaks",
    "trigger", "failure",
)  # fmt: skip


def every_card(trace: Trace) -> Any:
    """One row for each compile, in order of start; times from the start of the trace."""
    frame = once(analysis.compiles, trace).head(_MOST_ROWS)
    start_ns = trace.time_range_ns[0] if trace.time_range_ns else 0
    shown = frame[list(_SHOWN)].assign(
        start_ns=(frame["start_ns"] - start_ns).where(frame["start_ns"] >= 0),
        dur_ns=frame["dur_ns"].where(frame["dur_ns"] >= 0),
        operators=frame["operators"].where(frame["operators"] >= 0),
        step=frame["step"].where((frame["step"] >= 0) & (frame.attrs["steps_found_by"] != "window")),
    )
    columns = [
        name_column("what", "Compile", flex=1, minWidth=160, cellClass="np-mono-cell"),
        text_column("direction", "Direction", width=96),
        text_column("backend", "Backend", width=104),
        text_column("cache", "Cache", width=84),
        number_column("step", "Step", "count", width=76),
        number_column("start_ns", "Start", "duration", "ns", about="From the start of the trace", width=92),
        number_column("dur_ns", "Took", "duration", "ns", width=92),
        number_column("operators", "Operators", "count", width=96),
        number_column("graph_breaks", "Breaks", "count", width=84),
        text_column("trigger", "Trigger", flex=2, minWidth=180),
        text_column("failure", "Failure", flex=1, minWidth=100),
    ]
    body = html.Div(
        grid(GRID, columns, rows=rows_of(shown), empty="Nothing was compiled.", label="Compiles in order of start"),
        style={"height": f"min({grid_height_px(len(frame))}px, {_HEIGHT_PX}px)"},
    )
    return card("Every compile", body, note=copy_button(GRID), flush=True)
