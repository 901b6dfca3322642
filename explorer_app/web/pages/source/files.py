"""The card of the files by time."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
from dash import dcc, html

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.links import page_href
from explorer_app.web.names import named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.table import share_bar, table, with_title
from explorer_app.web.theme import category_color
from explorer_app.web.view import View
from neuron_profile import analysis
from trace_format import Trace

PATH: Final = "/source"
_MOST_FILES: Final = 100
_PARTS: Final = 2  # of a path, from its end


def files_of(trace: Trace) -> pd.DataFrame:
    """The files by self time of host and device: file, self_ns, device_ns, lines."""
    lines = once(analysis.source_lines, trace)
    sums = lines.groupby("file", sort=False).agg(
        self_ns=("self_ns", "sum"), device_ns=("device_ns", "sum"), lines=("line", "size")
    )
    order = (sums["self_ns"] + sums["device_ns"]).sort_values(ascending=False, kind="stable").index
    return sums.loc[order].reset_index()


def short(file: str) -> str:
    """The end of a path: "…/t5/modeling_t5.py"."""
    parts = file.replace("\\", "/").split("/")
    return file if len(parts) <= _PARTS + 1 else "…/" + "/".join(parts[-_PARTS:])


def files_card(view: View, chosen: str) -> Any:
    """A row for each file, a link that shows its lines, the one with most time first."""
    found = files_of(view.trace)
    lines = once(analysis.source_lines, view.trace)
    host_ns, device_ns = lines.attrs["host_self_ns"], lines.attrs["device_self_ns"]
    rows = [
        (
            _link(view, row["file"], is_chosen=row["file"] == chosen),
            _bar(row["self_ns"], host_ns, "host_op"),
            *([_bar(row["device_ns"], device_ns, "compute")] if device_ns else []),
        )
        for row in found.head(_MOST_FILES).to_dict("records")
    ]  # fmt: skip
    columns = [("File", "name"), ("Host", "bar"), *([("Device", "bar")] if device_ns else [])]
    left = len(found) - _MOST_FILES
    note = f"and {fmt.counted(left, 'file')} more" if left > 0 else fmt.counted(len(found), "file")
    return card("Files", table(columns, rows, label="Files by time"), note=note, flush=True)


def _link(view: View, file: str, *, is_chosen: bool) -> Any:
    href = page_href(view, PATH, file=file)
    link = dcc.Link(named(short(file)), href=href, title=tooltip(file))
    return html.B(link, **{"aria-current": "true"}) if is_chosen else link


def _bar(time_ns: int, whole_ns: int, category: str) -> Any:
    bar = share_bar(time_ns / whole_ns if whole_ns else 0.0, fmt.duration(time_ns), color=category_color(category))
    return with_title(bar, fmt.exact(time_ns, "ns"))
