"""The summary of a trace on one screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from explorer_app import format as fmt
from explorer_app.breakdown_text import names_of
from explorer_app.reporters.console import console, table
from explorer_app.reporters.device import report_device
from explorer_app.reporters.hotspots import hotspots_table
from explorer_app.reporters.import_report import sentence
from explorer_app.reporters.visible import visible
from explorer_app.simulation_text import simulation_text
from neuron_profile.analysis import Summary
from neuron_profile.analysis.breakdown import busiest

_OPERATIONS = 10
_HOLDERS = 5
_NEFFS = 5


def report_summary(summary: Summary, stream: TextIO) -> None:
    """Write the summary; what the trace does not tell is left out."""
    out = console(stream)
    out.print(_facts(summary))
    report_device(summary.device, out)
    parts = busiest(summary.breakdown)
    if parts.get("total_ns"):
        out.print()
        out.print(_breakdown(out, parts, names_of(summary.breakdown)))
    if len(summary.time_by_category):
        out.print()
        out.print(_categories(out, summary.time_by_category))
    if summary.peak_holders["count"].any():
        out.print()
        out.print(_holders(out, summary.peak_holders, summary.peak_memory))
    if len(summary.hotspots):
        out.print()
        top = summary.hotspots.head(_OPERATIONS)
        top.attrs = {**summary.hotspots.attrs, "device_rows": min(summary.hotspots.attrs["device_rows"], _OPERATIONS)}
        out.print(hotspots_table(out, top, title="Top operations by self time"))


def _breakdown(out: Console, parts: Mapping[str, int], names: Mapping[str, str]) -> Table:
    total_ns = parts["total_ns"]
    rows = [
        [label, fmt.duration(parts[name]), fmt.ratio(parts[name] / total_ns)]
        for name, label in names.items()
        if parts[name]
    ]
    title = f"Where the {fmt.duration(total_ns)} went"
    return table(out, ("part", "time", "share"), rows, title=title)


def _holders(out: Console, frame: pd.DataFrame, peaks: pd.DataFrame) -> Table:
    """Who holds the memory of the device with the largest peak, at that peak."""
    peak = peaks.iloc[int(peaks["peak_bytes"].to_numpy().argmax())]
    shown = frame[(frame["device"] == peak["device"]) & (frame["rank"] == peak["rank"])].head(_HOLDERS)
    rows = [
        [
            f"{row['op']} in {row['module']}" if row["module"] else row["op"],
            f"{row['category'].replace('_', ' ')}{', deduced' if row['is_deduced'] else ''}",
            fmt.count(row["count"]) if row["count"] else "–", fmt.size(row["bytes"]), fmt.ratio(row["share_ratio"]),
        ]
        for row in shown.to_dict("records")
    ]  # fmt: skip
    device = peak["device"] if peak["rank"] < 0 else f"rank {peak['rank']} {peak['device']}"
    title = f"Held at the peak{f' on {device}' if device.strip() else ''}"
    return table(out, ("made by", "<what for", "count", "bytes", "share of peak"), rows, title=title)


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
        "NEFFs": _neffs(summary),
        "Simulated": simulation_text(metadata),
        "Import": sentence(summary.report),
    }
    return {label: value for label, value in lines.items() if value}


def _neffs(summary: Summary) -> str:
    shown = ", ".join(name or "(no name)" for name in summary.neffs[:_NEFFS])
    more = len(summary.neffs) - _NEFFS
    hint = "; neuron-explorer neff FILE shows what is in one" if summary.neffs and summary.window_ns is None else ""
    return f"{shown}{f' and {fmt.count(more)} more' if more > 0 else ''}{hint}"


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
