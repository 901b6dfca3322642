"""What the allocated memory is for, and the grid of who holds it at the peak."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd
from dash import html

from explorer_app import format as fmt
from explorer_app.web import subject
from explorer_app.web.card import card
from explorer_app.web.downsample import extremes
from explorer_app.web.grid import (
    copy_button,
    grid,
    grid_height_px,
    name_column,
    number_column,
    rows_of,
    share_column,
    text_column,
)
from explorer_app.web.numbers import once
from explorer_app.web.theme import category_color
from explorer_app.web.time_panels import Curve, Panel
from neuron_profile import analysis
from neuron_profile.analysis import MEMORY_CATEGORIES
from trace_format import Trace

_BINS: Final = 500
_HOLDERS: Final = 200
_HOLDERS_PX: Final = 360
_COLORS: Final = dict(
    zip(
        MEMORY_CATEGORIES,
        map(category_color, ("compute", "collective", "compile", "host_op", "memcpy", "memset", "other")),
        strict=True,
    )
)
_WHY_DEDUCED: Final = (
    "deduced: follows from when it was allocated and freed (forward, backward, optimizer, data loader); "
    "the trace does not tell it"
)


def by_category(trace: Trace) -> Panel:
    """The memory of the device with the highest peak, stacked by what it is for; no curves where nothing is known."""
    frame = once(analysis.memory_by_category, trace)
    if frame.empty or not _tells(frame):
        return Panel("", fmt.size, [])
    peak = frame.iloc[int(frame["total_bytes"].to_numpy().argmax())]
    rows = frame[(frame["rank"] == peak["rank"]) & (frame["device"] == peak["device"])]
    kept = rows.iloc[extremes(rows["ts_ns"].to_numpy(), rows["total_bytes"].to_numpy(), bins=_BINS)]
    end_ns = trace.time_range_ns[1] if trace.time_range_ns else 0
    curves = []
    for category in MEMORY_CATEGORIES:
        values = kept[f"{category}_bytes"].tolist()
        if any(values):
            values.append(values[-1])
            shown = in_words(category, deduced=category in frame.attrs["deduced"])
            curves.append(
                Curve(
                    name=shown,
                    times_ns=[*kept["ts_ns"].tolist(), end_ns],
                    values=values,
                    texts=[f"{shown}: {fmt.size(value)} ({fmt.exact(value, 'bytes')})" for value in values],
                    color=_COLORS[category],
                )
            )
    where = subject.on_device(peak["rank"], peak["device"])
    return Panel(f"Allocated{where}, by what it is for", fmt.size, curves, stacked=True)


def in_words(category: str, *, deduced: bool) -> str:
    """The category as people write it: "optimizer state", "activation (deduced)"."""
    return f"{category.replace('_', ' ')}{' (deduced)' if deduced else ''}"


def held_before(trace: Trace) -> list[Any]:
    """A sentence on what the totals do not count because it was there before; [] where there is nothing to say."""
    held = once(analysis.memory_by_category, trace).attrs["held_before"]
    return [
        html.P(
            f"Not in the totals{subject.on_device(-1, device)}, because it was there before the recording: "
            + ", ".join(f"{fmt.size(size)} {in_words(name, deduced=False)}" for name, size in sizes.items())
            + ".",
            className="np-dim",
        )
        for device, sizes in held.items()
    ]


def holders_card(trace: Trace) -> Any:
    """Who holds the memory at each device's peak; None where no allocation is known."""
    held = once(analysis.peak_holders, trace, top=_HOLDERS)
    if held.empty or not held["count"].any():
        return None
    shown = held.sort_values("bytes", ascending=False, kind="stable")
    several = len(shown[["rank", "device"]].drop_duplicates()) > 1
    rows = rows_of(
        pd.DataFrame(
            {
                "op": shown["op"],
                "module": shown["module"],
                "source": shown["source"],
                "held_for": [
                    in_words(category, deduced=bool(deduced))
                    for category, deduced in zip(shown["category"], shown["is_deduced"], strict=True)
                ],
                "device": [
                    subject.device(rank, device) for rank, device in zip(shown["rank"], shown["device"], strict=True)
                ],
                "count": np.where(shown["count"] > 0, shown["count"].astype(float), np.nan),
                "bytes": shown["bytes"],
                "share_ratio": shown["share_ratio"],
                "category": "other",
            }
        )
    )
    columns = [
        name_column("op", "Made by", flex=1, minWidth=180, cellClass="np-mono-cell"),
        *([name_column("module", "Module", flex=1, minWidth=140)] if (shown["module"] != "").any() else []),
        *([name_column("source", "Line", flex=1, minWidth=160)] if (shown["source"] != "").any() else []),
        text_column("held_for", "What for", width=190, headerTooltip=_WHY_DEDUCED),
        *([text_column("device", "Device", width=120)] if several else []),
        number_column("count", "Allocations", "count", width=116),
        number_column("bytes", "Bytes", "size", "bytes", width=110),
        share_column("share_ratio", "Share of the peak", width=170),
    ]
    body = html.Div(
        grid("np-holders", columns, rows=rows, empty="Nothing is held.", label="What is allocated at the peak"),
        style={"height": f"{min(grid_height_px(len(rows)), _HOLDERS_PX)}px"},
    )
    return card("Held at the peak", body, note=copy_button("np-holders"), flush=True)


def _tells(frame: pd.DataFrame) -> bool:
    """Whether the category of anything is known."""
    return any(bool(frame[f"{category}_bytes"].any()) for category in MEMORY_CATEGORIES if category != "unknown")
