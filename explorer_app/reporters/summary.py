"""The summary of a trace on one screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from explorer_app import format as fmt
from explorer_app.reporters.console import console, table
from explorer_app.reporters.device import report_device
from explorer_app.reporters.hotspots import hotspots_table
from explorer_app.reporters.import_report import sentence
from explorer_app.reporters.visible import visible
from neuron_profile.analysis import Summary

_OPERATIONS = 10


def report_summary(summary: Summary, stream: TextIO) -> None:
    """Write the summary; what the trace does not tell is left out."""
    out = console(stream)
    out.print(_facts(summary))
    report_device(summary.device, out)
    if len(summary.time_by_category):
        out.print()
        out.print(_categories(out, summary.time_by_category))
    if len(summary.hotspots):
        out.print()
        top = summary.hotspots.head(_OPERATIONS)
        top.attrs = {**summary.hotspots.attrs, "device_rows": min(summary.hotspots.attrs["device_rows"], _OPERATIONS)}
        out.print(hotspots_table(out, top, title="Top operations by self time"))


def _facts(summary: Summary) -> Table:
    made = Table.grid(padding=(0, 2, 0, 0))
    for label, value in _lines(summary).items():
        made.add_row(label, Text(visible(value)))
    return made


def _lines(summary: Summary) -> dict[str, str]:
    """Label and value of each line above the tables."""
    metadata, window = summary.metadata, summary.window_ns
    lines = {
        "Captured on": _where(metadata),
        "Device": str(metadata.get("device_model") or ""),
        "Window": "no events" if window is None else fmt.duration(window[1] - window[0]),
        "Steps": _steps(summary.steps),
        "Peak memory": _peaks(summary.peak_memory),
        "Import": sentence(summary.report),
    }
    return {label: value for label, value in lines.items() if value}


def _where(metadata: Mapping[str, Any]) -> str:
    rank, world_size = metadata.get("rank"), metadata.get("world_size")
    parts = [
        str(metadata["host"]) if metadata.get("host") else "",
        f"process {metadata['pid']}" if metadata.get("pid") is not None else "",
        "" if rank is None else f"rank {rank}" if world_size is None else f"rank {rank} of {world_size}",
    ]
    return ", ".join(part for part in parts if part)


def _steps(steps: pd.DataFrame) -> str:
    if len(steps) == 0 or steps.attrs["found_by"] == "window":
        return ""
    dur_ns, ranks = steps["dur_ns"], steps["rank"].nunique()
    number = f"{fmt.count(len(steps))} on {ranks} ranks" if ranks > 1 else fmt.count(len(steps))
    return (
        f"{number}, median {fmt.duration(dur_ns.median())}, "
        f"from {fmt.duration(dur_ns.min())} to {fmt.duration(dur_ns.max())}"
    )


def _peaks(peaks: pd.DataFrame) -> str:
    shown = []
    for row in peaks.to_dict("records"):
        device = row["device"] if row["rank"] < 0 else f"rank {row['rank']} {row['device']}"
        since = ", since the start of the trace" if device in peaks.attrs["relative"] else ""
        shown.append(f"{fmt.size(row['peak_bytes'])}{f' on {device.rstrip()}' if device else ''}{since}")
    return "; ".join(shown)


def _categories(out: Console, frame: pd.DataFrame) -> Table:
    rows = [
        [
            row["category"], row["side"], fmt.count(row["count"]), fmt.duration(row["self_ns"]),
            fmt.ratio(row["share_ratio"]),
        ]
        for row in frame.to_dict("records")
    ]  # fmt: skip
    return table(out, ("category", "<side", "count", "self", "share of side"), rows, title="Time by category")
