"""The channels over which bytes go: their names, and the card that says what share of its peak each used."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import pandas as pd
from dash import html

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.message import banner, empty
from explorer_app.web.names import label, named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.pages.memory.estimates import NO_BYTES, WHY_ESTIMATED, est
from explorer_app.web.table import share_bar, table, with_title
from explorer_app.web.theme import category_color
from neuron_profile import analysis
from trace_format import Trace

KEY: Final = ["rank", "device", "core", "side", "direction", "queue"]
_PLACE: Final = KEY[:3]
_MOST_ROWS: Final = 24
_MOST_IN_DETAIL: Final = 2
_LONGEST_QUEUE: Final = 32
_DIRECTIONS: Final = {
    "memory_read": "memory, read", "memory_write": "memory, written", "memory": "memory",
    "host_to_device": "host to device", "device_to_host": "device to host", "peer": "device to device",
    "dma_queue": "queue", "unknown": "memory",
}  # fmt: skip
_ABOUT_80: Final = "How long the rate was above 80 % of the peak, in whole bins of the window"
_ABOUT_KNOWN: Final = "Of the time of the work that could move bytes here: the share whose bytes are known"
_COLUMNS: Final = (
    ("Channel", "text"), ("Moved", "number"), ("On average", "number"), ("While active", "number"),
    ("At most", "number"), ("Peak", "number"), ("At most, of the peak", "bar"), ("Above 80 %", "number"),
    ("Known", "number"),
)  # fmt: skip


def channel_name(row: Mapping[Hashable, Any], frame: pd.DataFrame) -> str:
    """A channel as people name it, with rank, device of the rank and core of the device where `frame` has several."""
    alike = frame[frame["side"] == row["side"]]
    where = []
    for number, (what, name) in enumerate((("rank ", "rank"), ("device ", "device"), ("nc", "core"))):
        of_one = alike.groupby(_PLACE[:number])[name].nunique().max() if number else alike[name].nunique()
        if row[name] >= 0 and of_one > 1:
            where.append(f"{what}{row[name]:.0f}")
    way = "host memory" if row["side"] == "host" else _DIRECTIONS[row["direction"]]
    if row["side"] == "host" and row["direction"] in ("memory_read", "memory_write"):
        way += ", read" if row["direction"] == "memory_read" else ", written"
    queue = f" {named(row['queue'], longest=_LONGEST_QUEUE)}" if row["queue"] else ""
    return " ".join([*where, f"{way}{queue}"])


def channels_card(trace: Trace) -> Any:
    """One row for each channel: how much, how fast, and what share of its peak; warnings above."""
    frame = once(analysis.bandwidth_summary, trace)
    if frame.empty:
        return card("Bandwidth by channel", empty("No bytes moved", NO_BYTES))
    shown = frame.sort_values("side", kind="stable")  # what devices do comes first
    if len(frame.drop_duplicates(["rank", "device"])) > _MOST_IN_DETAIL:  # of many the memory's directions together
        shown = shown[~shown["direction"].isin(("memory_read", "memory_write"))]
    rows = [_row(row, frame) for row in shown.head(_MOST_ROWS).to_dict("records")]
    warned = frame[frame["warning"] != ""].to_dict("records")
    warnings = [
        banner(html.B(f"{channel_name(row, frame)}: "), f"{row['warning']} ({label(row['peak_source'])}).")
        for row in warned[:3]
    ]
    left = len(shown) - _MOST_ROWS
    note = f"and {fmt.counted(left, 'channel')} more" if left > 0 else _window(frame)
    body = table(_COLUMNS, rows, label="Bandwidth of each channel")
    return card("Bandwidth by channel", *warnings, html.Div(body, className="np-scroll"), note=note)


def _window(frame: pd.DataFrame) -> html.Span:
    window_ns, bin_ns = int(frame["window_ns"].max()), int(frame["bin_ns"].max())
    return with_title(
        f"over {fmt.duration(window_ns)}",
        f"From the first byte to the last. The highest rate is that of a bin of {fmt.duration(bin_ns)}.",
    )


def _row(row: dict[Hashable, Any], frame: pd.DataFrame) -> tuple[Any, ...]:
    estimated = row["estimated_ratio"]
    told = f"{fmt.exact(row['bytes'], 'bytes')}, {fmt.ratio(estimated)} of them {WHY_ESTIMATED}"
    color = category_color("host_op" if row["side"] == "host" else "dma" if row["queue"] else "compute")
    highest = row["highest_share_ratio"]
    above = row["above_80_percent_ns"]
    return (
        with_title(channel_name(row, frame), tooltip(row["queue"]) if row["queue"] else ""),
        with_title(f"{fmt.size(row['bytes'])}{est(estimated)}", told if estimated > 0 else told.partition(",")[0]),
        _rate(row["average_bytes_per_s"], row["average_share_ratio"]),
        _rate(row["active_bytes_per_s"], row["active_share_ratio"]),
        _rate(row["highest_bytes_per_s"], highest),
        with_title(fmt.bandwidth(row["peak_bytes_per_s"]), label(row["peak_source"]) or "No source tells its peak"),
        share_bar(highest, fmt.ratio(highest), color=color),
        with_title(fmt.duration(above), f"{_ABOUT_80}: {fmt.ratio(row['above_80_percent_ratio'])} of it"),
        with_title(fmt.ratio(row["coverage_ratio"]), _ABOUT_KNOWN),
    )


def _rate(bytes_per_s: float, share: float) -> html.Span:
    of_peak = f", {fmt.ratio(share)} of the peak" if share == share else ""
    return with_title(fmt.bandwidth(bytes_per_s), f"{fmt.exact(round(bytes_per_s), 'bytes/s')}{of_peak}"
                      if bytes_per_s == bytes_per_s else "")  # fmt: skip
