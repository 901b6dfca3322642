"""The section with what was compiled, why, and who paid."""

from __future__ import annotations

from typing import Final

from explorer_app import format as fmt
from explorer_app.reporters.report.markup import Markup, element, named
from explorer_app.reporters.report.parts import nothing, section, table
from neuron_profile import analysis
from trace_format import Trace

_MOST_ROWS: Final = 15
_NONE: Final = "Nothing was compiled in this trace."
_COLUMNS: Final = (
    ("Function", "name"), ("Compiles", "number"), ("Time", "number"), ("Once", "number"), ("Again", "number"),
    ("Steps that paid", "number"), ("Why again", "name"),
)  # fmt: skip


def compilation(trace: Trace) -> Markup:
    """A row for each compiled function, longest first."""
    frame = analysis.compile_causes(trace)
    if frame.empty:
        return section("Compiles", nothing(_NONE))
    rows = [
        (
            named(row["function"]), fmt.count(row["compiles"]), fmt.duration(row["dur_ns"]),
            fmt.duration(row["first_ns"]), fmt.count(row["recompiles"]), fmt.count(row["steps"]),
            named(row["reason"]) if row["reason"] else fmt.UNKNOWN,
        )
        for row in frame.head(_MOST_ROWS).to_dict("records")
    ]  # fmt: skip
    charged = analysis.compile_time_by_step(trace)
    paid = charged[charged["step"] >= 0]
    note = f"{fmt.duration(int(charged['dur_ns'].sum()))} in all"
    if len(paid):
        note += f", {fmt.duration(int(paid['dur_ns'].sum()))} of it in {fmt.counted(len(paid), 'step')}"
    left = len(frame) - len(rows)
    more = [element("p", f"and {fmt.counted(left, 'function')} more", _class="dim")] if left > 0 else []
    return section("Compiles", table(_COLUMNS, rows, "What was compiled"), *more, note=note)
