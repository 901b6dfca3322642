"""The rows that say what the time of each device went to, of measured and of simulated ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dash import html

from explorer_app import format as fmt
from explorer_app.web.breakdown_parts import part_color, stacked
from explorer_app.web.table import table, with_title

_SHORT: Final = {
    "compute_ns": "Computes", "exposed_collective_ns": "Communicates", "exposed_copy_ns": "Copies",
    "data_loading_ns": "Loads data", "idle_peer_ns": "Waits for a rank", "idle_compile_ns": "For compiling",
    "idle_data_loading_ns": "For data", "idle_sync_ns": "After a sync", "idle_run_ns": "In a NEFF",
    "idle_host_ns": "For the host", "idle_launch_ns": "For the launch", "idle_other_ns": "Unknown",
}  # fmt: skip


def parts_by_device(devices: Sequence[tuple[str, Mapping[str, int]]], names: Mapping[str, str], *, label: str) -> Any:
    """A bar of its parts for each device (its name, total_ns and parts), their shares beside it, and what they mean."""
    used = [name for name in names if any(parts.get(name) for _, parts in devices)]
    rows = [
        (
            called,
            stacked(parts, names, f"{called}: {_said(parts, used, names)}"),
            *(with_title(fmt.ratio(parts[name] / parts["total_ns"]), fmt.exact(parts[name], "ns")) for name in used),
        )
        for called, parts in devices
    ]
    columns = [("Device", "text"), ("", "wide"), *((_SHORT[name], "number") for name in used)]
    marks = [
        html.Span(
            [html.Span(className="np-swatch", style={"background": part_color(name)}), names[name]],
            className="np-category",
        )
        for name in used
    ]
    shown = html.Div(table(columns, rows, label=label), className="np-scroll")
    return html.Div([shown, html.Div(marks, className="np-device-legend")])


def _said(parts: Mapping[str, int], used: Sequence[str], names: Mapping[str, str]) -> str:
    return ", ".join(f"{names[name]} {fmt.ratio(parts[name] / parts['total_ns'])}" for name in used if parts[name])
