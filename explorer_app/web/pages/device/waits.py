"""The card with the instructions that wait longest."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
from dash import html

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.grid import copy_button, grid, grid_height_px, name_column, number_column, rows_of, text_column
from explorer_app.web.message import empty
from explorer_app.web.numbers import once
from explorer_app.web.pages.device.engines import utilisation
from explorer_app.web.pages.device.queues import with_slice_ids
from neuron_profile.analysis import neuron_device
from trace_format import Trace

GRID: Final = "np-waits"
_TOP: Final = 200
_HEIGHT_PX: Final = 420
_NO_WAITS: Final = "No instruction of this run waited for a semaphore or an event."
_WAITED: Final = (
    "EVENT_SEMAPHORE: how long it ran. Others: how long before their start they waited while nothing else ran on "
    "their engine"
)


def waits_card(trace: Trace, number: int) -> Any:
    """How long each engine waited, and for which instructions."""
    frame = once(waiting, trace, number=number)
    if frame.empty:
        return card("Semaphore waits", empty("No waits", _NO_WAITS), area="waits")
    has_operands = bool(frame["operands"].any())
    columns = [
        number_column("core", "Core", "count", width=68),
        text_column("engine", "Engine", width=88),
        name_column(
            "opcode", "Instruction", width=180, cellClass="np-mono-cell", **{} if has_operands else {"flex": 1}
        ),
        number_column("pc", "pc", "count", width=76, about="Its place in the program of its engine"),
        number_column("waited_ns", "Waited", "duration", "ns", about=_WAITED, width=96),
        number_column("longest_ns", "Longest", "duration", "ns", width=96),
        number_column("count", "Runs", "count", width=76),
    ]
    if has_operands:
        columns.append(text_column("operands", "Operands", flex=1, minWidth=140, cellClass="np-mono-cell"))
    rows = rows_of(with_slice_ids(frame))
    body = html.Div(
        grid(GRID, columns, rows=rows, empty=_NO_WAITS, label="Instructions by how long they waited"),
        style={"height": f"min({grid_height_px(len(frame))}px, {_HEIGHT_PX}px)"},
    )
    engines = html.P(_by_engine(trace, number), className="np-device-said")
    return card("Semaphore waits", engines, body, note=copy_button(GRID), area="waits", flush=True)


def waiting(trace: Trace, *, number: int) -> pd.DataFrame:
    """The first `waiting_instructions` of the run of this number."""
    return neuron_device.waiting_instructions(trace, once(neuron_device.runs_of, trace)[number], _TOP)


def _by_engine(trace: Trace, number: int) -> str:
    frame = once(utilisation, trace, number=number).sort_values("waiting_ns", ascending=False, kind="stable")
    some = frame[frame["waiting_ns"] > 0].head(4)
    return "Waited longest: " + ", ".join(
        f"nc{row['core']} {row['engine']} {fmt.duration(row['waiting_ns'])}" for row in some.to_dict("records")
    )
