"""The card with the DMA queues."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
from dash import html

from explorer_app.web.card import card
from explorer_app.web.grid import copy_button, grid, grid_height_px, name_column, number_column, rows_of, text_column
from explorer_app.web.message import empty
from explorer_app.web.numbers import once
from neuron_profile.analysis import neuron_device
from trace_format import Trace

GRID: Final = "np-queues"
_HEIGHT_PX: Final = 420
_NO_PACKETS: Final = "The profile of this run holds no DMA packets."


def queues_card(trace: Trace, number: int) -> Any:
    """Each queue of each core: packets, bytes, how long it was active, and how fast it then was."""
    frame = once(queues, trace, number=number)
    if frame.empty:
        return card("DMA queues", empty("No packets", _NO_PACKETS), area="queues")
    columns = [
        number_column("core", "Core", "count", width=68),
        name_column("queue", "Queue", flex=1, minWidth=130, cellClass="np-mono-cell"),
        text_column("class", "Class", width=138),
        number_column("packets", "Packets", "count", width=84),
        number_column("bytes", "Bytes", "size", "bytes", width=84),
        number_column("active_ns", "Active", "duration", "ns", width=84,
                      about="How long at least one of its packets was under way"),
        number_column("bytes_per_s", "While active", "bandwidth", "bytes/s", width=106,
                      about="Its bytes divided by the time it was active"),
        number_column("engines", "Engines", "count", width=84, about="How many DMA engines served it"),
    ]  # fmt: skip
    body = html.Div(
        grid(GRID, columns, rows=rows_of(with_slice_ids(frame)), empty=_NO_PACKETS, label="DMA queues by their bytes"),
        style={"height": f"min({grid_height_px(len(frame))}px, {_HEIGHT_PX}px)"},
    )
    return card("DMA queues", body, note=copy_button(GRID), area="queues", flush=True)


def queues(trace: Trace, *, number: int) -> pd.DataFrame:
    """`dma_queues` of the run of this number."""
    return neuron_device.dma_queues(trace, once(neuron_device.runs_of, trace)[number])


def with_slice_ids(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with the number of their slice as id, by which a double click finds it on the timeline."""
    return frame.assign(id=frame["slice"].astype(str)).drop(columns="slice")
