"""Memory records as counters: what each device holds over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trace_format.trace import Trace

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Series:
    """The values `(n,)` of one counter, in bytes, from each time on."""

    name: str
    ts_ns: Array
    value: Array


def memory_series(trace: Trace) -> list[Series]:
    """For each device what is allocated and reserved, and by how much it changed where no record says how much it is.

    Every record is in one of them at least.
    """
    table = trace.memory
    total, reserved = table.total_bytes, table.reserved_bytes
    unsaid = (total < 0) & (reserved < 0)
    kinds = [
        ("allocated", total >= 0, total),
        ("reserved", reserved >= 0, reserved),
        ("change", unsaid, table.delta_bytes),
    ]
    out = []
    for device in np.unique(table.device).tolist():
        for kind, told, value in kinds:
            rows = np.flatnonzero(told & (table.device == device))
            if len(rows):
                name = f"{trace.pool.strings[device]} memory {kind}".strip()
                out.append(Series(name, table.ts_ns[rows], value[rows].astype(np.float64)))
    return out
