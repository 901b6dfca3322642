"""The part of a trace that was recorded in its process, apart from the session's files that were joined with it.

Such a trace names the files that it holds, so that they do not count twice where their folder is opened. They are read
again where that is better: AWS's viewer, which is not asked at the end of a window, may tell when the device ran. Then
the recorded part has to be told from the rest. Its rows are the first ones of each table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from trace_format.columns import Meaning
from trace_format.metadata import checked
from trace_format.report import ImportReport
from trace_format.tables import TABLES, Table
from trace_format.trace import Trace

# In the metadata: the names of the files that a trace holds, and what says which part of it was recorded
HELD, LIVE = "session_files", "session_joined_with"
_IN_ORDER_OF_TIME = ("memory", "samples")  # whose rows the files' would lie between
_TOLD_BY_BOTH = ("sources", "device_model")


class _Brought(msgspec.Struct):
    source_events: int
    left_out: dict[str, int]
    repaired: dict[str, int]


class _Described(msgspec.Struct):
    rows: dict[str, int]  # of each table
    files_brought: _Brought
    metadata: dict[str, Any]


def described(live: Trace, joined: Trace) -> dict[str, Any]:
    """What `joined`, which began as `live`, says of that part in its metadata."""
    brought = ImportReport(
        joined.report.source_events - live.report.source_events,
        joined.report.left_out - live.report.left_out,
        joined.report.repaired - live.report.repaired,
    )
    return {
        "rows": {name: len(table) for name, table in live.tables().items()},
        "files_brought": brought.to_dict(),
        "metadata": {key: live.metadata.get(key) for key in _TOLD_BY_BOTH},
    }


def live_part(trace: Trace) -> Trace | None:
    """The part that was recorded; None where the metadata does not tell it."""
    try:
        told = msgspec.convert(trace.metadata.get(LIVE), _Described)
        metadata = {key: value for key, value in trace.metadata.items() if key not in (HELD, LIVE)}
        metadata = checked(metadata | {key: told.metadata.get(key) for key in _TOLD_BY_BOTH})
    except (msgspec.MsgspecError, ValueError):  # another program's, or damaged
        return None
    brought = told.files_brought
    report = ImportReport(
        trace.report.source_events - brought.source_events,
        trace.report.left_out - Counter(brought.left_out),
        trace.report.repaired - Counter(brought.repaired),
    )
    tables = {name: table for name, table in trace.tables().items() if name in told.rows}
    if report.kept < 0 or not all(_has_head(table, name, told.rows) for name, table in tables.items()):
        return None
    heads = {name: _head(table, told.rows[name]) for name, table in tables.items()}
    return Trace.of(trace.pool, heads, metadata=metadata, report=report)


def _has_head(table: Table, name: str, rows: Mapping[str, int]) -> bool:
    """Whether the first rows can stand alone."""
    count = rows[name]
    if not 0 <= count <= len(table) or (name in _IN_ORDER_OF_TIME and count != len(table)):
        return False
    references = {column: spec.references for column, spec in table.COLUMNS.items() if spec.meaning is Meaning.ROW}
    return all(
        not count or column not in table.stored() or int(table.stored()[column][:count].max()) < rows.get(other, 0)
        for column, other in references.items()
    )


def _head(table: Table, count: int) -> Table:
    kind = TABLES.get(table.NAME, type(table))
    return kind({name: values[:count] for name, values in table.stored().items()}, table.pool, rows=count)
