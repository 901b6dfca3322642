"""The slices of a line, those with most time of their own first, each a link to the timeline."""

from __future__ import annotations

from typing import Any, Final

from dash import dcc

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.links import slice_href
from explorer_app.web.message import empty
from explorer_app.web.names import named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.table import category_mark, table, with_title
from explorer_app.web.view import View
from neuron_profile import analysis

_MOST: Final = 40
_NO_LINE: Final = "Click a line for the slices behind its time."


def slices_card(view: View, file: str, line: int) -> Any:
    """What ran on a line: slices of host and device of which it is the innermost own line."""
    if line < 1:
        return card("Slices of a line", empty("No line is chosen", _NO_LINE))
    found = once(analysis.slices_of_line, view.trace, file=file, line=line, top=_MOST)
    title = f"Slices of line {line}"
    if found.empty:
        return card(
            title, empty("No slices", "Nothing in what is looked at has this as the innermost line of your own.")
        )
    rows = [
        (
            dcc.Link(named(row["name"]), href=slice_href(view, row["slice"]), title=tooltip(row["name"])),
            category_mark(row["category"]),
            with_title(fmt.duration(row["self_ns"]), fmt.exact(row["self_ns"], "ns")),
            with_title(fmt.duration(row["dur_ns"]), fmt.exact(row["dur_ns"], "ns")),
        )
        for row in found.to_dict("records")
    ]
    columns = (("Slice", "name"), ("Category", "text"), ("Self", "number"), ("Took", "number"))
    note = f"the first {_MOST} by self time" if len(found) == _MOST else fmt.counted(len(found), "slice")
    return card(title, table(columns, rows, label=f"Slices of line {line} by self time"), note=note, flush=True)
