"""The summary of a trace on one screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TextIO

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from explorer_app import format as fmt
from explorer_app.breakdown_text import is_told, names_of, whose
from explorer_app.reporters.console import console, table
from explorer_app.reporters.device import report_device
from explorer_app.reporters.findings import report_findings
from explorer_app.reporters.hotspots import hotspots_table
from explorer_app.reporters.import_report import sentence
from explorer_app.reporters.visible import visible
from explorer_app.simulation_text import simulation_text
from neuron_profile.analysis import Summary
from neuron_profile.analysis.breakdown import busiest

_SCREEN_LINES = 45
_MOST_OPERATIONS, _FEWEST_OPERATIONS = 10, 3
_HOLDERS = 3
_NEFFS = 5
_SMALL_PART = 0.005


def report_summary(summary: Summary, stream: TextIO) -> None:
    """Write the verdict and the numbers behind it on one screen; what the trace does not tell is left out.

    The operations fill what the rest leaves of the screen.
    """
    out = console(stream)
    used = 0
    for block in _blocks(summary, out):
        with out.capture() as captured:
            block()
        text = captured.get()
        stream.write(text)
        used += text.count("\n")
    if len(summary.hotspots):
        rows = min(max(_SCREEN_LINES - used - 4, _FEWEST_OPERATIONS), _MOST_OPERATIONS)
        top = summary.hotspots.head(rows)
        top.attrs = {**summary.hotspots.attrs, "device_rows": min(summary.hotspots.attrs["device_rows"], rows)}
        out.print()
        out.print(hotspots_table(out, top, title="Top operations by self time"))


def _blocks(summary: Summary, out: Console) -> list[Callable[[], None]]:
    """What is written above the operations, each by a call."""
    parts, names, of = busiest(summary.breakdown), names_of(summary.breakdown), whose(summary.breakdown)
    blocks: list[Callable[[], None]] = [lambda: out.print(_facts(summary))]
    if summary.window_ns is not None:
        blocks += [out.print, lambda: report_findings(summary.findings, parts, names, out, whose=of)]
    if is_told(parts):
        blocks += [out.print, lambda: out.print(_breakdown(out, summary, parts, names, of))]
    blocks.append(lambda: report_device(summary.device, out))
    if summary.peak_holders["count"].any():
        blocks += [out.print, lambda: out.print(_holders(out, summary.peak_holders, summary.peak_memory))]
    return blocks


def _breakdown(
    out: Console, summary: Summary, parts: Mapping[str, int], names: Mapping[str, str], whose_parts: str
) -> Table:
    total_ns, steps = parts["total_ns"], summary.steps
    large = {name: label for name, label in names.items() if parts.get(name, 0) >= _SMALL_PART * total_ns}
    rows = [[label, fmt.duration(parts[name]), fmt.ratio(parts[name] / total_ns)] for name, label in large.items()]
    rest_ns = sum(parts.get(name, 0) for name in names if name not in large)
    if rest_ns:
        rows.append(["the rest", fmt.duration(rest_ns), fmt.ratio(rest_ns / total_ns)])
    of = "" if steps.attrs["found_by"] == "window" else f" of {fmt.counted(int(steps['step'].nunique()), 'step')}"
    title = f"Where the {fmt.duration(total_ns)}{of}{f' on {whose_parts}' if whose_parts else ''} went"
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
        "Utilisation": _utilisation(summary.utilisation),
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


def _utilisation(frame: pd.DataFrame) -> str:
    """MFU, HFU and MBU over the window of the device that computes most, and what they are shares of."""
    of_steps = frame[frame["kind"] == "step"]
    whole = of_steps[of_steps["step"] == of_steps["step"].min()]  # the whole window where there is one
    known = whole[whole[["mfu_ratio", "hfu_ratio", "mbu_ratio"]].notna().any(axis=1)]
    if not len(known):
        return ""
    row = known.loc[known["device_ns"].idxmax()]
    shares = ", ".join(f"{name.upper()} {fmt.ratio(row[f'{name}_ratio'])}" for name in ("mfu", "hfu", "mbu"))
    coverage = fmt.ratio(row["flops_coverage_ratio"])
    return f"{shares}; FLOPs known of {coverage} of the device's time; peaks: {row['peak_source']}"


def _peaks(peaks: pd.DataFrame) -> str:
    shown = []
    for row in peaks.to_dict("records"):
        device = row["device"] if row["rank"] < 0 else f"rank {row['rank']} {row['device']}"
        since = ", since the start of the trace" if device in peaks.attrs["relative"] else ""
        shown.append(f"{fmt.size(row['peak_bytes'])}{f' on {device.rstrip()}' if device else ''}{since}")
    return "; ".join(shown)
