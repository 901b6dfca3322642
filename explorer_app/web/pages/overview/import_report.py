"""The card that says what the import left out or repaired."""

from __future__ import annotations

from typing import Any

from dash import html

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.names import label
from explorer_app.web.table import table
from trace_format import Trace


def report_card(trace: Trace) -> Any:
    """Counts by cause; the header's banner leads here."""
    report = trace.report.to_dict()
    rows = [
        (label(cause), what, fmt.count(number))
        for what, key in (("left out", "left_out"), ("repaired", "repaired"))
        for cause, number in report[key].items()
    ]
    note = f"{fmt.count(report['kept'])} of {fmt.counted(report['source_events'], 'event')} kept"
    if not rows:
        said = "Nothing: every event of the source is in this trace, as it came."
        body: Any = html.P(said, className="np-dim")
    else:
        body = table((("Cause", "wide"), ("What was done", "text"), ("Events", "number")), rows,
                     label="What the import left out or repaired")  # fmt: skip
    return html.Div(
        card("What the import left out or repaired", body, note=note, flush=bool(rows)),
        id="import",
        style={"gridArea": "report"},
    )
