"""The columns of the grid."""

from __future__ import annotations

from typing import Any, Final

from explorer_app.web.grid import category_column, name_column, number_column, share_column, text_column
from explorer_app.web.pages.hotspots.groupings import GROUPINGS

_TOTAL: Final = (
    "Sum of the durations. By operation and by category a call inside another of the same row counts as well; "
    "otherwise only the outer one does, so that time counts once on each track"
)
_P50: Final = "Half of the calls take no longer than this: the median"
_P95: Final = "95 of 100 calls take no longer than this"


def columns(by: str) -> list[dict[str, Any]]:
    """The columns where rows stand for `by`, one of `GROUPINGS`."""
    return [
        name_column("name", GROUPINGS[by].heading, flex=1, minWidth=220, cellClass="np-mono-cell"),
        category_column(width=118),
        text_column("side", "Side", width=84),
        number_column("self_ns", "Self", "duration", "ns", width=100),
        share_column("share_ratio", "Share of side", width=150),
        number_column("total_ns", "Total", "duration", "ns", about=_TOTAL, width=96),
        number_column("count", "Calls", "count", width=84),
        number_column("mean_ns", "Mean", "duration", "ns", width=88),
        number_column("p50_ns", "p50", "duration", "ns", about=_P50, width=88),
        number_column("p95_ns", "p95", "duration", "ns", about=_P95, width=88),
        number_column("max_ns", "Max", "duration", "ns", width=88),
    ]
