"""Whether two traces are the same to the bit: interned ids and the bytes of every column included."""

from __future__ import annotations

import numpy as np

from trace_format import Trace


def assert_same_bits(one: Trace, other: Trace) -> None:
    assert dict(one.metadata) == dict(other.metadata)
    assert one.report.to_dict() == other.report.to_dict()
    assert one.later_records == other.later_records
    assert one.pool.strings.values == other.pool.strings.values
    assert one.pool.stacks.values == other.pool.stacks.values
    assert one.pool.arg_sets.values == other.pool.arg_sets.values
    assert set(one.tables()) == set(other.tables())
    for name, table in one.tables().items():
        again = other.tables()[name]
        assert len(table) == len(again), name
        assert set(table.stored()) == set(again.stored()), name
        for column, values in table.stored().items():
            read = again.stored()[column]
            assert values.dtype == read.dtype, f"{name}.{column}"
            assert np.ascontiguousarray(values).tobytes() == np.ascontiguousarray(read).tobytes(), f"{name}.{column}"
