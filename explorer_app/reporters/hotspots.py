"""Hotspots as a table."""

from __future__ import annotations

from typing import TextIO

import pandas as pd
from rich.console import Console
from rich.table import Table

from explorer_app import format as fmt
from explorer_app.reporters.console import console, table

_COLUMNS = ("name", "<category", "count", "total", "self", "mean", "max", "share")


def report_hotspots(frame: pd.DataFrame, stream: TextIO) -> None:
    """Write what `analysis.hotspots` found; where it found nothing, why."""
    out = console(stream)
    if frame.empty:
        out.print(frame.attrs.get("why") or "no work in this trace")
    else:
        out.print(hotspots_table(out, frame))


def hotspots_table(out: Console, frame: pd.DataFrame, *, title: str = "") -> Table:
    """The rows of `analysis.hotspots`, with a blank line between the work of the device and of the host."""
    rows = [
        [
            row["name"], row["category"], fmt.count(row["count"]), fmt.duration(row["total_ns"]),
            fmt.duration(row["self_ns"]), fmt.duration(row["mean_ns"]), fmt.duration(row["max_ns"]),
            fmt.ratio(row["share_ratio"]),
        ]
        for row in frame.to_dict("records")
    ]  # fmt: skip
    of_device = frame.attrs["device_rows"]
    if 0 < of_device < len(rows):
        rows.insert(of_device, [])
    return table(out, _COLUMNS, rows, title=title)
