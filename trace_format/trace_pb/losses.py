"""What the loss of rows means for the rest of a trace."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from trace_format.tables import Table


def events_lost(lost: Mapping[str, int], tables: Mapping[str, Table], kept: int) -> int:
    """How many source events went with the lost rows (by table), of `kept` that the report counts.

    A flow was two; where no rows are left, all are lost. A begin and end that became one slice count as one here.
    """
    if lost and not any(len(table) for name, table in tables.items() if name != "tracks"):
        return max(kept, sum(rows for name, rows in lost.items() if name != "tracks"))
    return sum(rows * (2 if name == "flows" else 1) for name, rows in lost.items() if name != "tracks")


def refer_to_kept(tables: dict[str, Table]) -> int:
    """Make references to slices name the rows that are left, -1 for those that are not; return how many are not."""
    slices = tables.get("slices")
    kept = 0 if slices is None else len(slices)
    ids = None if slices is None else slices.ids
    dangling = 0
    for name, table in list(tables.items()):
        data = table.stored()
        for column in [c for c in data if c in table.COLUMNS and table.COLUMNS[c].references == "slices"]:
            before = data[column]
            place = before if ids is None else np.searchsorted(ids, before)
            found = (before >= 0) & (place < kept)
            if ids is not None:
                found[found] = ids[place[found]] == before[found]
            data[column] = np.where(found, place, -1)
            dangling += int(((before >= 0) & ~found).sum())
        tables[name] = type(table)(data, table.pool, rows=len(table), ids=table.ids)
    return dangling
