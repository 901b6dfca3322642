"""The `neuronProfile` section of an exported trace: what plain trace events cannot carry, as JSON.

Tables travel whole, as lists of values by column; a column that is one value throughout travels as that value, one
that is unknown throughout not at all. Slices and instants travel as trace events; of them the section keeps only what
the events do not say: their categories where the rule table gives others, and whole rows that events cannot express.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trace_format.columns import Column, Meaning, is_constant
from trace_format.pool import Pool
from trace_format.tables import TABLES, Extra, Table

Array = np.ndarray

VERSION = 1
EVENT_TABLES = ("slices", "instants")


def digest(tables: Mapping[str, Table]) -> dict[str, list[int]]:
    """Number of rows and checksum of times and tracks of the tables that travel as events: tells edited ones."""
    out = {}
    for name in EVENT_TABLES:
        table, crc = tables[name], 0
        for column in ("ts_ns", "dur_ns", "track", "name"):
            if column in table.COLUMNS:
                values = getattr(table, column)
                if column == "name":  # ids differ from pool to pool, lengths of the names do not
                    used, place = np.unique(values, return_inverse=True)
                    values = np.array([len(table.pool.strings[i]) for i in used.tolist()], np.int64)[place]
                crc = zlib.crc32(np.ascontiguousarray(values, dtype=np.int64).tobytes(), crc)
        out[name] = [len(table), crc]
    return out


def encode_table(table: Table) -> dict[str, Any]:
    """A table as JSON values: `{"rows": n, "columns": {name: value or [value, ...]}}`, texts in lists beside."""
    columns: dict[str, Any] = {}
    for name, values in table.stored().items():
        spec = table.column(name)
        if len(table) == 0 or (spec is not None and _is_unknown(values, spec)):
            continue
        columns[name] = _encode_column(values, spec, table.pool)
    return {"rows": len(table), "columns": columns}


def decode_table(data: Mapping[str, Any], name: str, pool: Pool) -> Table:
    """The table `encode_table` wrote, its texts in `pool`.

    Raises KeyError, TypeError or ValueError for anything else.
    """
    kind = TABLES.get(name, Extra)
    rows = int(data["rows"])
    columns = {
        column: _decode_column(given, kind.column(column), rows, pool) for column, given in data["columns"].items()
    }
    if not columns and rows and kind is not Extra:
        first = next(iter(kind.COLUMNS))
        columns[first] = kind.COLUMNS[first].filled(rows)
    return kind(columns, pool)


def _is_unknown(values: Array, spec: Column) -> bool:
    if spec.unknown != spec.unknown:
        return bool(np.isnan(values).all())
    return bool((values[:1] == spec.unknown).all() and (is_constant(values) or (values == spec.unknown).all()))


def _encode_column(values: Array, spec: Column | None, pool: Pool) -> dict[str, Any]:
    if spec is None:
        return {"dtype": values.dtype.str, "values": _numbers(values)}
    if spec.meaning in (Meaning.STRING, Meaning.STACK, Meaning.ARGS):
        used, place = np.unique(values, return_inverse=True)
        texts = [_text(spec.meaning, int(i), pool) for i in used]
        return {"texts": texts, "values": _numbers(place)}
    return {"values": _numbers(values)}


def _text(meaning: Meaning, index: int, pool: Pool) -> str | list[str]:
    if meaning is Meaning.STRING:
        return pool.strings[index]
    if meaning is Meaning.STACK:
        return list(pool.frames(index))
    return pool.arg_sets[index].decode("utf-8", "surrogateescape")


def _numbers(values: Array) -> Any:
    """One number for a column that is one value throughout, else a list. What JSON has no number for is text."""
    short = values[:1] if len(values) and bool((values == values[0]).all()) else values
    out: list[Any] = short.tolist()
    if short.dtype.kind == "f":
        out = [v if np.isfinite(v) else repr(v) for v in out]
    return out[0] if len(short) == 1 and len(values) > 1 else out


def _decode_column(given: Mapping[str, Any], spec: Column | None, rows: int, pool: Pool) -> Array:
    dtype = np.dtype(given["dtype"]) if spec is None else spec.dtype
    if dtype.kind not in "biuf":
        raise ValueError(f"a column of {dtype}")
    values = given["values"]
    if dtype.kind == "f":
        values = [float(v) for v in values] if isinstance(values, list) else float(values)
    out = np.asarray(values, dtype=np.int64 if "texts" in given else dtype)
    if "texts" in given and spec is not None:
        out = np.array([_text_id(spec.meaning, text, pool) for text in given["texts"]], np.int64)[out]
    out = np.broadcast_to(out.astype(dtype), (rows,))
    if spec is not None and spec.meaning is Meaning.CHOICE and rows and int(out.max()) >= len(spec.choices):
        raise ValueError("a choice beyond the last")
    return out


def _text_id(meaning: Meaning, text: str | Sequence[str], pool: Pool) -> int:
    if meaning is Meaning.STACK:
        return pool.stack_id(list(text))
    if meaning is Meaning.ARGS:
        return pool.arg_sets.id(str(text).encode("utf-8", "surrogateescape"))
    return pool.strings.id(str(text))


def dumps(value: Any) -> str:
    """JSON text in ASCII, whatever the strings in it hold."""
    return json.dumps(value, separators=(",", ":"))
