"""What differs between two traces by what they say, however their pools number it and whatever is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from trace_format import Table, Trace
from trace_format.columns import Meaning


def differences(a: Trace, b: Trace) -> list[str]:
    """What differs between two traces, one line each; empty where every table, metadata and report agree."""
    out = []
    if dict(a.metadata) != dict(b.metadata):
        out.append(f"metadata: {dict(a.metadata)} != {dict(b.metadata)}")
    if a.report.to_dict() != b.report.to_dict():
        out.append(f"report: {a.report.to_dict()} != {b.report.to_dict()}")
    if a.later_records != b.later_records:
        out.append("records of a later version")
    ours, theirs = a.tables(), b.tables()
    out += [f"table {name} is in one only" for name in ours.keys() ^ theirs.keys()]
    for name in ours.keys() & theirs.keys():
        out += _table_differences(name, ours[name], theirs[name])
    return out


def _table_differences(name: str, a: Table, b: Table) -> list[str]:
    if len(a) != len(b):
        return [f"{name}: {len(a)} rows != {len(b)}"]
    out = []
    for column in dict.fromkeys([*a, *b]):
        seen: dict[Any, int] = {}
        left, right = _comparable(a, column, seen), _comparable(b, column, seen)
        unequal = np.flatnonzero((left != right) & ~((left != left) & (right != right)))
        if len(unequal):
            i, values = int(unequal[0]), list(seen) or None
            shown = [values[int(side[i])] if values else side[i] for side in (left, right)]
            out.append(f"{name}.{column}: {len(unequal)} rows differ, first row {i}: {shown[0]!r} != {shown[1]!r}")
    return out


def _comparable(table: Table, column: str, seen: dict[Any, int]) -> np.ndarray:
    """The column's numbers; for interned values, numbers that are equal where the values are: their place in `seen`."""
    values, spec, pool = np.asarray(getattr(table, column)), table.column(column), table.pool
    decode: dict[Meaning, Callable[[int], Any]] = {
        Meaning.STRING: pool.strings.__getitem__,
        Meaning.STACK: pool.frames,
        Meaning.ARGS: pool.arg_sets.__getitem__,
    }
    if spec is None or spec.meaning not in decode:
        return values
    used, place = np.unique(values, return_inverse=True)
    decoded = [decode[spec.meaning](i) for i in used.tolist()]
    return np.array([seen.setdefault(value, len(seen)) for value in decoded], np.int64)[place]
