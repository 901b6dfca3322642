"""The card on whether memory grows from step to step, and whose allocations stay."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
from dash import html

from explorer_app import format as fmt
from explorer_app.web import subject
from explorer_app.web.card import card
from explorer_app.web.chart import chart, plain, value_axis
from explorer_app.web.names import label, named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.pages.memory.holders import in_words
from explorer_app.web.table import table, with_title
from explorer_app.web.theme import category_color
from neuron_profile import analysis
from trace_format import Trace

_HEIGHT_PX: Final = 200
_MOST_HOLDERS: Final = 8
_FEWEST_STEPS: Final = 2


def growth_card(trace: Trace) -> Any:
    """What is allocated at the end of each step and at its peak, what stays, and who keeps it; None without steps."""
    found = once(analysis.memory_growth, trace)
    counted = found.steps.groupby(["device", "rank"], sort=False).size()
    if counted.empty or counted.max() < _FEWEST_STEPS:
        return None
    row = _most_growing(found.devices[found.devices["steps"] > 0] if found.devices["steps"].any() else found.devices)
    mine = found.steps[(found.steps["device"] == row["device"]) & (found.steps["rank"] == row["rank"])]
    holders = found.holders[(found.holders["device"] == row["device"]) & (found.holders["rank"] == row["rank"])]
    where = subject.on_device(row["rank"], row["device"])
    others = len(found.devices) - 1
    note = f"{where.removeprefix(' on ')}, which grows most of {others + 1}" if others else where.removeprefix(" on ")
    return card(
        "Memory from step to step", html.P(growth_in_words(row)), _chart(mine), *_holders(holders), note=note,
    )  # fmt: skip


def growth_in_words(row: dict[Any, Any]) -> str:
    """Whether a device's memory grows, how sure that is, and how much of it is explained."""
    slope = row["bytes_per_step"]
    if slope != slope:
        used = fmt.counted(row["steps"], "step")
        return f"Whether memory grows is unknown: {used} after the program's first two, which allocate what stays."
    if not row["grows"]:
        return f"No steady growth over {fmt.counted(row['steps'], 'step')} (p = {row['p_value']:.2g})."
    between = (
        f" ({fmt.size(row['low_bytes_per_step'])} to {fmt.size(row['high_bytes_per_step'])}, 95 %)"
        if row["low_bytes_per_step"] == row["low_bytes_per_step"]
        else ""
    )
    words = f"Memory grows by {fmt.size(slope)} a step{between}, p = {row['p_value']:.2g}."
    kept = row["kept_ratio"]
    return f"{words} Allocations that were never freed are {fmt.ratio(kept)} of it." if kept == kept else words


def _most_growing(devices: pd.DataFrame) -> dict[Any, Any]:
    order = devices.sort_values(["grows", "bytes_per_step"], ascending=False, kind="stable", na_position="last")
    return dict(order.iloc[0])


def _chart(rows: pd.DataFrame) -> html.Div:
    names = [plain(f"step {step}") for step in rows["step"]]
    curves = (
        ("peak_bytes", "at most in the step", "var(--np-dim)", "dot"),
        ("end_bytes", "at its end", category_color("compute"), "solid"),
    )
    data = [
        {
            "type": "scatter", "mode": "lines+markers", "name": said, "x": rows["step"].tolist(),
            "y": rows[column].tolist(), "line": {"color": color, "width": 1.5, "dash": dash}, "marker": {"size": 5},
            "customdata": [
                f"{name}, {said}: {fmt.size(value)} ({fmt.exact(value, 'bytes')})"
                for name, value in zip(names, rows[column], strict=True)
            ],
            "hovertemplate": "%{customdata}<extra></extra>",
        }
        for column, said, color, dash in curves
    ]  # fmt: skip
    layout = {
        "showlegend": True, "legend": {"x": 1, "xanchor": "right", "y": 1.02}, "hovermode": "x",
        "xaxis": {"title": {"text": "step"}, "fixedrange": True, "dtick": max(len(rows) // 12, 1)},
        "yaxis": value_axis(float(rows["peak_bytes"].max()), fmt.size),
    }  # fmt: skip
    label = "Allocated bytes at the end of each step, and the most within it"
    return chart("growth", {"data": data, "layout": layout}, height_px=_HEIGHT_PX, window_ratio=0.15, label=label)


def _holders(holders: pd.DataFrame) -> list[Any]:
    if holders.empty:
        return []
    rows = [
        (
            with_title(named(row["op"]), tooltip(row["op"])),
            with_title(label(row["module"] or row["source"] or fmt.UNKNOWN, longest=60), tooltip(row["source"])),
            in_words(row["category"], deduced=bool(row["is_deduced"])),
            fmt.count(row["count"]),
            with_title(fmt.size(row["bytes_per_step"]), f"{fmt.exact(row['bytes'], 'bytes')} in all"),
            fmt.ratio(row["steps_ratio"]),
        )
        for row in holders.head(_MOST_HOLDERS).to_dict("records")
    ]
    columns = (
        ("Never freed, made by", "name"), ("Where", "text"), ("What for", "text"), ("Allocations", "number"),
        ("A step", "number"), ("Of the steps", "number"),
    )  # fmt: skip
    return [table(columns, rows, label="Allocations that were never freed")]
