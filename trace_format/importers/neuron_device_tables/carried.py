"""Keeps what no table of the schema has a place for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.importers.neuron_device_tables.part import Row, text_of

PREFIX = "neuron_"  # no table of the schema begins so
_MOST_COLUMNS = 256  # of one table; Parquet's widest published one has 101
_MOST_TABLES = 256  # there are 52
_OTHER_COLUMNS, _OTHER_TABLES = "other_columns", "other_tables"
_EXACT = 2**53  # larger whole numbers are not exact as floating point


@dataclass
class Carried:
    """The tables that are carried along (`neuron_<table>`), and which columns each has so far."""

    builder: TraceBuilder
    _columns: dict[str, dict[str, None]] = field(default_factory=dict)

    def rows(self, table: str, rows: Sequence[Row], *, without: Collection[str] = ()) -> None:
        """Add rows to the table of this name, all columns but those of `without`.

        A column is numbers where every row has one, else text: JSON for what is neither, "" where a row has nothing.
        Columns beyond the 256th of a table are one column of JSON objects, tables beyond the 256th are one table.
        """
        names = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in without]
        if not rows or not names:
            return
        if table not in self._columns and len(self._columns) >= _MOST_TABLES:
            rows = [{"table": table, "row": row} for row in rows]
            table, names = _OTHER_TABLES, ["table", "row"]
        known = self._columns.setdefault(table, {})
        for name in names[:_MOST_COLUMNS]:
            if len(known) < _MOST_COLUMNS:
                known[name] = None
        columns: dict[str, Any] = {name: _column([row.get(name) for row in rows]) for name in names if name in known}
        others = [name for name in names if name not in known]
        if others:
            columns[_OTHER_COLUMNS] = [
                text_of({name: row[name] for name in row.keys() - known.keys() if name not in without}) for row in rows
            ]
        self.builder.carry(PREFIX + table, columns, rows=len(rows))

    def pairs(self, table: str, rows: Sequence[Row]) -> None:
        """Add the names and values of wide rows to a table: a row there for each value here."""
        self.rows(table, [{"name": name, "value": value} for row in rows for name, value in row.items()])


def _column(values: list[Any]) -> Any:
    kinds = set(map(type, values))
    if kinds == {bool}:
        return np.array(values, np.bool_)
    if kinds == {int}:
        low, high = min(values), max(values)
        if low >= -(2**63) and high < 2**63:
            return np.array(values, np.int64)
        if low >= 0 and high < 2**64:
            return np.array(values, np.uint64)
    exact = all(type(value) is not int or abs(value) <= _EXACT for value in values)
    if float in kinds and kinds <= {float, int, type(None)} and exact:
        return np.array([np.nan if value is None else value for value in values], np.float64)
    return [text_of(value) for value in values]
