"""Whether two traces say the same: every table, every column, both ways, by what the ids stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from trace_format import Table, Trace
from trace_format.columns import Meaning


def meaning_of(table: Table, name: str) -> list[Any]:
    """A stored column as plain values: interned ids replaced by what they stand for, floats by their bits."""
    values = getattr(table, name)
    spec = table.COLUMNS.get(name)
    if spec is None or spec.meaning not in (Meaning.STRING, Meaning.STACK, Meaning.ARGS):
        return values.view("<u8").tolist() if values.dtype.kind == "f" else values.tolist()
    decode = {
        Meaning.STRING: lambda i: table.pool.strings[i],
        Meaning.STACK: table.pool.frames,
        Meaning.ARGS: lambda i: table.pool.arg_sets[i],
    }[spec.meaning]
    return [decode(i) for i in values.tolist()]


def assert_same_table(one: Table, other: Table, *, name: str) -> None:
    assert len(one) == len(other), name
    assert set(one.stored()) == set(other.stored()), name
    for column in one.stored():
        assert meaning_of(one, column) == meaning_of(other, column), f"{name}.{column}"


def assert_same_trace(one: Trace, other: Trace) -> None:
    tables, others = one.tables(), other.tables()
    assert set(tables) == set(others)
    for name in tables:
        assert_same_table(tables[name], others[name], name=name)
    assert dict(one.metadata) == dict(other.metadata)
    assert one.report.to_dict() == other.report.to_dict()


def assert_same_bits(one: Trace, other: Trace) -> None:
    """As assert_same_trace, and the interned ids and every column's bytes are the same too."""
    assert_same_trace(one, other)
    assert one.pool.strings.values == other.pool.strings.values
    assert one.pool.stacks.values == other.pool.stacks.values
    assert one.pool.arg_sets.values == other.pool.arg_sets.values
    assert one.later_records == other.later_records
    for name, table in one.tables().items():
        for column, values in table.stored().items():
            again = other.tables()[name].stored()[column]
            assert values.dtype == again.dtype
            assert np.ascontiguousarray(values).tobytes() == np.ascontiguousarray(again).tobytes(), f"{name}.{column}"
