"""The grid of the operations that move most bytes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd
from dash import html

from explorer_app.web.card import card
from explorer_app.web.grid import (
    copy_button,
    estimated_column,
    grid,
    grid_height_px,
    name_column,
    number_column,
    position,
    rows_of,
    text_column,
)
from explorer_app.web.message import empty
from explorer_app.web.numbers import once
from explorer_app.web.pages.memory.estimates import NO_BYTES, WHY_ESTIMATED
from explorer_app.web.view import View
from neuron_profile import analysis
from trace_format import Trace

GRID: Final = "np-movers"
TOP: Final = 200
_HEIGHT_PX: Final = 420


def movers_card(trace: Trace) -> Any:
    """The operations by the bytes they move, and how fast."""
    movers = once(analysis.movers, trace, top=TOP)
    if movers.empty:
        return card("Top movers", empty("No movers", NO_BYTES))
    columns = [
        name_column("name", "Operation", flex=1, minWidth=220, cellClass="np-mono-cell"),
        text_column("side", "Side", width=84),
        estimated_column("bytes", "Bytes", "size", "bytes", WHY_ESTIMATED, width=130),
        number_column("count", "Calls", "count", width=92),
        number_column("dur_ns", "Time", "duration", "ns", width=100),
        estimated_column("bytes_per_s", "Bytes per second", "bandwidth", "bytes/s", WHY_ESTIMATED, width=150),
        number_column("estimated_ratio", "Estimated", "ratio", width=104),
    ]
    body = html.Div(
        grid(GRID, columns, rows=rows_of(movers), empty=NO_BYTES, label="Operations by the bytes they move"),
        style={"height": f"min({grid_height_px(len(movers))}px, {_HEIGHT_PX}px)"},
    )
    return card("Top movers", body, note=copy_button(GRID), flush=True)


def slice_of_mover(view: View, row_id: str) -> int:
    """The slice of the whole trace in which the operation of a row moved most; -1 for none."""
    trace = view.trace
    movers, moved = once(analysis.movers, trace, top=TOP), once(analysis.bytes_moved, trace)
    number = position(row_id, len(movers))
    if number < 0:
        return -1
    name, side = movers["name"].iloc[number], movers["side"].iloc[number]
    theirs: pd.DataFrame = moved[(moved["name"] == name) & (moved["side"] == side)]
    return view.slice_id(int(theirs["slice"].iloc[int(np.argmax(theirs["bytes"].to_numpy()))]))
