"""The section with the collectives, and the rank that the others wait for."""

from __future__ import annotations

from typing import Any, Final

from explorer_app import format as fmt
from explorer_app.reporters.report.markup import Markup, element, named
from explorer_app.reporters.report.parts import nothing, section, table
from neuron_profile import analysis
from neuron_profile.analysis import Summary
from trace_format import Trace

_MOST_ROWS: Final = 20
_NONE: Final = "This trace has no collectives: its job had one process, or the profiler did not see them."
_COLUMNS: Final = (
    ("Collective", "text"), ("Type", "text"), ("Message", "number"), ("Ranks", "number"), ("Count", "number"),
    ("Total", "number"), ("Median", "number"), ("Not hidden", "number"), ("Waiting", "number"), ("algbw", "number"),
    ("busbw", "number"), ("Of the link", "number"),
)  # fmt: skip


def communication(trace: Trace, summary: Summary) -> Markup:
    """A row for each operation, type and size, by total time, and the straggler where the trace has several ranks."""
    frame = analysis.collectives(trace)
    if frame.empty:
        return section("Collectives", nothing(_NONE))
    rows = [_row(row) for row in frame.head(_MOST_ROWS).to_dict("records")]
    left = len(frame) - len(rows)
    note = f"by total time over all ranks{f'; {left} more kinds' if left > 0 else ''}"
    return section("Collectives", *_straggler(summary), table(_COLUMNS, rows, "Collectives"), note=note)


def _row(row: dict[Any, Any]) -> tuple[Any, ...]:
    return (
        named(row["op"], 60), row["dtype"] or fmt.UNKNOWN, fmt.size(row["message_bytes"]), fmt.count(row["ranks"]),
        fmt.count(row["count"]), *(fmt.duration(row[f"{name}_ns"]) for name in ("total", "median", "exposed", "wait")),
        fmt.bandwidth(row["algbw_bytes_per_s"]), fmt.bandwidth(row["busbw_bytes_per_s"]), fmt.ratio(row["link_ratio"]),
    )  # fmt: skip


def _straggler(summary: Summary) -> list[Markup]:
    straggler = None if summary.skew is None else summary.skew.straggler
    if straggler is None:
        return []
    after = f", after {straggler.after}" if straggler.after else ""
    return [
        element(
            "p", f"Rank {straggler.rank} is last most often{after}: the others wait {fmt.duration(straggler.wait_ns)}."
        )
    ]
