"""Hotspots as a table."""

from __future__ import annotations

from typing import TextIO

import pandas as pd
from rich.console import Console
from rich.table import Table

from explorer_app import format as fmt
from explorer_app.csv_cell import csv_cell
from explorer_app.reporters.console import console, table
from explorer_app.reporters.visible import visible

_COLUMNS = ("name", "<category", "count", "total", "self", "mean", "p50", "p95", "max", "share")
_PERCENTILES = ("p50", "p95")
_WIDTH_FOR_PERCENTILES = 105  # with them and the shortest name a row of long times has as many cells


def report_hotspots(frame: pd.DataFrame, stream: TextIO) -> None:
    """Write what `analysis.hotspots` found; where it found nothing, why; what device time it knows nothing of."""
    out = console(stream)
    if frame.empty:
        out.print(frame.attrs.get("why") or "no work in this trace")
        return
    out.print(hotspots_table(out, frame))
    for note in _notes(frame):
        out.print(note)


def write_csv(frame: pd.DataFrame, stream: TextIO) -> None:
    """Write the rows with a header; names so that they neither drive a terminal nor are formulas of a spreadsheet."""
    names = [csv_cell(visible(name)) for name in frame["name"].tolist()]
    safe = frame.assign(name=pd.Series(names, index=frame.index, dtype=object))
    safe.to_csv(stream, index=False, lineterminator="\n")


def hotspots_table(out: Console, frame: pd.DataFrame, *, title: str = "") -> Table:
    """The rows of `analysis.hotspots`, with a blank line between the work of the device and of the host.

    Where there is little room, without the percentiles.
    """
    rows = [
        [
            row["name"], row["category"], fmt.count(row["count"]),
            *(fmt.duration(row[f"{name}_ns"]) for name in ("total", "self", "mean", "p50", "p95", "max")),
            fmt.ratio(row["share_ratio"]),
        ]
        for row in frame.to_dict("records")
    ]  # fmt: skip
    shown = [i for i, name in enumerate(_COLUMNS) if out.width >= _WIDTH_FOR_PERCENTILES or name not in _PERCENTILES]
    rows = [[row[i] for i in shown] for row in rows]
    of_device = frame.attrs["device_rows"]
    if 0 < of_device < len(rows):
        rows.insert(of_device, [])
    return table(out, [_COLUMNS[i] for i in shown], rows, title=title)


def _notes(frame: pd.DataFrame) -> list[str]:
    """What is not known of the device's work: how much has no known launch, how much was attributed by time alone."""
    unknown_ns, by_time_ns = frame.attrs.get("unattributed_ns", 0), frame.attrs.get("by_time_ns", 0)
    notes = []
    if unknown_ns:
        share = fmt.ratio(frame.attrs["unattributed_ratio"])
        notes.append(f"{fmt.duration(unknown_ns)} of the device's work ({share}) could not be attributed.")
    if by_time_ns:
        notes.append(
            f"{fmt.duration(by_time_ns)} of the device's work was attributed by time alone: it carries no ids."
        )
    return ["", *notes] if notes else []
