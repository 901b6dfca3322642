"""The card of the lines of a file: its text where it may be shown, with the time of each line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
from dash import html

from explorer_app.web.card import card
from explorer_app.web.grid import copy_button, grid, number_column, rows_of, share_column, text_column
from explorer_app.web.message import banner
from explorer_app.web.names import label, named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.pages.source.files import short
from explorer_app.web.sources import SourceText
from explorer_app.web.view import View
from neuron_profile import analysis

GRID: Final = "np-source-lines"
_LONGEST_LINE: Final = 400
_TIMES: Final = ("self_ns", "total_ns", "device_ns", "device_total_ns", "calls", "slices")
_SELF: Final = "Host time of which this is the innermost line of your own"
_TOTAL: Final = "Host time under it, what it called included"
_DEVICE: Final = "Time of the device work launched under it"
_FIRST_LINES: Final = (
    "Python's calls were recorded, which tell functions: their time stands at the first line of each, of one that ran "
    "when recording began at the line that it was at."
)
# A clock that counts from 1970 has passed this; another tells nothing about when a file was changed.
_FROM_1970_NS: Final = 10**18


def lines_of(view: View, file: str) -> pd.DataFrame:
    """The lines of a file that have times, in order; several functions of one line added up."""
    found = once(analysis.source_lines, view.trace)
    mine = found[found["file"] == file]
    sums = mine.groupby("line", sort=True)[list(_TIMES)].sum()
    # calls are not known (-1) of a line that only stacks tell of
    sums["calls"] = mine["calls"].where(mine["calls"] >= 0).groupby(mine["line"]).sum(min_count=1)
    sums["function"] = mine.groupby("line", sort=True)["function"].agg(", ".join)
    return sums.reset_index()


def lines_card(view: View, file: str, source: SourceText, line: int) -> Any:
    """The lines of a file with bars; all of them where the text is there, else those that have times."""
    timed = lines_of(view, file)
    attrs = once(analysis.source_lines, view.trace).attrs
    frame = timed
    if source.lines:
        text = pd.DataFrame({"line": range(1, len(source.lines) + 1), "text": source.lines})
        frame = text.merge(timed, on="line", how="outer").sort_values("line", ignore_index=True)
        frame["text"] = [label(each.expandtabs(4), longest=_LONGEST_LINE) for each in frame["text"].fillna("")]
    whole_ns = max(attrs["host_self_ns"], 1)
    frame = frame.assign(
        id=frame["line"].astype(str), share_ratio=frame["self_ns"] / whole_ns, category="host_op",
        function=frame["function"].map(named, na_action="ignore"),
    )  # fmt: skip
    rows = rows_of(frame)
    body = [
        *_notes(source, timed, view),
        html.Div(
            grid(GRID, _columns(source, attrs), rows=rows, empty="No line of this file has a time.",
                 label="Lines of the file by time", chosen=str(line) if line in set(frame["line"]) else ""),
            className="np-source-grid",
        ),
    ]  # fmt: skip
    title = html.Span(named(short(file)), title=tooltip(file), className="np-source-file")
    return card(title, *body, note=copy_button(GRID), flush=True)


def _columns(source: SourceText, attrs: Mapping[Any, Any]) -> list[dict[str, Any]]:
    shown = (
        text_column("text", "Source", flex=1, minWidth=240, cellClass="np-mono-cell np-source-text", sortable=False)
        if source.lines
        else text_column("function", "Function", flex=1, minWidth=160, cellClass="np-mono-cell")
    )
    return [
        number_column("line", "Line", "count", width=72, valueFormatter={"function": "params.value"}),
        shown,
        share_column("share_ratio", "Share of host", about=_SELF, width=160),
        number_column("self_ns", "Self", "duration", "ns", about=_SELF, width=88),
        number_column("total_ns", "Total", "duration", "ns", about=_TOTAL, width=88),
        *([number_column("device_total_ns", "Device", "duration", "ns", about=_DEVICE, width=92)]
          if attrs["device_self_ns"] else []),
        number_column("calls", "Calls", "count", about="Of the function", width=76),
    ]  # fmt: skip


def _notes(source: SourceText, timed: pd.DataFrame, view: View) -> list[Any]:
    notes = []
    if source.why:
        notes.append(f"No source text: {source.why}. Lines and functions are those that the trace tells.")
    span = view.whole.time_range_ns
    if span is not None and span[1] > _FROM_1970_NS and source.modified_ns > span[1]:
        return [banner("This file was changed after the trace was recorded: its lines may have moved since."),
                *_said(notes)]  # fmt: skip
    if timed["calls"].notna().any():
        notes.append(_FIRST_LINES)
    return _said(notes)


def _said(notes: list[str]) -> list[Any]:
    return [html.P(label(" ".join(notes)), className="np-source-note np-dim")] if notes else []
