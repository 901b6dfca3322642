"""The card with the lanes of devices over time: all work of each device, and its streams, engines and queues."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from explorer_app.web import subject, time_axis
from explorer_app.web.card import card
from explorer_app.web.names import named
from explorer_app.web.numbers import once
from explorer_app.web.theme import category_color
from explorer_app.web.time_strips import full_color, strips, strips_legend, time_strips
from explorer_app.web.view import View
from neuron_profile.analysis import device_lanes

_MOST_LANES: Final = 40
_LONGEST_NAME: Final = 24
BINS: Final = 400
_COLOR: Final = category_color("compute")


def lanes_card(view: View, *, simulated: bool = False) -> Any:
    """A strip for each lane on the time axis of the trace."""
    found = once(device_lanes, view.trace, bins=BINS, simulated=simulated)
    rows = most_busy(found.lanes)
    shown = found.lanes.iloc[rows]
    names = [lane_name(row, found.lanes) for row in shown.to_dict("records")]
    ratios = [found.busy_ratio[row] for row in rows]
    axis = time_axis.of_trace(view)
    if simulated:  # an eager estimate is a fraction of the time of the trace: it has an axis of its own
        start_ns, end_ns = int(found.edges_ns[0]), int(found.edges_ns[-1])
        axis = time_axis.of_part(view, start_ns, end_ns - start_ns, "time since the estimate began, sim.")
    largest = full_color(ratios)
    title = "Devices and their lanes at work" + (", sim." if simulated else "")
    edges = np.array(axis.at(found.edges_ns.tolist()))
    part = strips(title, names, ratios, edges, color=_COLOR, said="works", largest=largest)
    left = len(found.lanes) - len(rows)
    note = "drag to choose a range, double-click for all"
    if left:
        note = f"the {len(rows)} busiest of {len(found.lanes)} lanes"
    name = "simulated-lanes" if simulated else "lanes"
    return card(
        "Over time" + (", sim." if simulated else ""), time_strips(name, [part], axis, about="Over time"),
        strips_legend([("works", _COLOR)], largest=largest), note=note, area="" if simulated else "time",
    )  # fmt: skip


def most_busy(lanes: pd.DataFrame) -> list[int]:
    """Positions of the lanes to be shown, in order: devices before their lanes, and of all the busiest."""
    rank = lanes.assign(is_part=lanes["track"] >= 0).sort_values(
        ["is_part", "busy_ns"], ascending=[True, False], kind="stable"
    )
    return sorted(rank.index[:_MOST_LANES].tolist())


def lane_name(row: Mapping[Hashable, Any], lanes: pd.DataFrame) -> str:
    """What a lane is called: "rank 1 device 0" for a device, "nc4 Tensor" or "stream 7" for a part of one."""
    if row["track"] < 0:
        return device_name(row["rank"], row["device"]) or "device"
    name = named(str(row["name"]).removesuffix(" (simulated)"), longest=_LONGEST_NAME)
    return f"nc{row['core']} {name}" if row["core"] >= 0 and row["kind"] in ("engine", "dma_queue") else name


def device_name(rank: int, device: int) -> str:
    """A device as people name it: "rank 1 device 0", "device 0"; "" where neither number is known."""
    return subject.device(rank, f"device {device}" if device >= 0 else "")
