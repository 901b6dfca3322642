"""The in-memory trace: tables, pool, metadata, report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from trace_format.pool import Pool
from trace_format.report import ImportReport
from trace_format.spill import release
from trace_format.tables import (
    TABLES,
    Collectives,
    Compiles,
    Counters,
    Flows,
    Instants,
    Memory,
    Neffs,
    Samples,
    Slices,
    Table,
    Tensors,
    Tracks,
)

_ROWS_AT_A_TIME = 1 << 20


@dataclass(frozen=True, eq=False)
class Trace:
    """What happened, as tables of numpy columns (see `trace_format.tables` for the columns of each).

    Times are int64 nanoseconds on the clock that `metadata["sources"]` names. A trace is never changed;
    make a new one with `TraceBuilder`.

    - `metadata`: host, pid, rank, world_size, device_model, simulated, created_by, sources, ...
    - `report`: what the import kept, left out and repaired.
    - `extra`: tables carried along without being understood, by name.
    - `pool`: the strings, stacks and argument sets that the tables refer to.
    - `later_records`: (field number, message) of records a later minor version wrote, kept as they came.
    """

    pool: Pool
    tracks: Tracks
    slices: Slices
    instants: Instants
    counters: Counters
    samples: Samples
    flows: Flows
    collectives: Collectives
    compiles: Compiles
    memory: Memory
    neffs: Neffs
    tensors: Tensors
    extra: Mapping[str, Table] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    report: ImportReport = field(default_factory=ImportReport)
    later_records: tuple[tuple[int, bytes], ...] = ()

    @classmethod
    def of(
        cls,
        pool: Pool,
        tables: Mapping[str, Table],
        *,
        metadata: Mapping[str, Any] | None = None,
        report: ImportReport | None = None,
        later_records: tuple[tuple[int, bytes], ...] = (),
    ) -> Trace:
        """A trace of these tables; one that is not given is empty, one of an unknown name goes to `extra`."""
        known: dict[str, Any] = {n: tables[n] if n in tables else kind({}, pool) for n, kind in TABLES.items()}
        return cls(
            pool=pool,
            extra=MappingProxyType({name: t for name, t in tables.items() if name not in TABLES}),
            metadata=MappingProxyType(dict(metadata or {})),
            report=report or ImportReport(),
            later_records=later_records,
            **known,
        )

    def tables(self) -> dict[str, Table]:
        """All tables by name, the extra ones last."""
        return {name: getattr(self, name) for name in TABLES} | dict(self.extra)

    def release(self) -> None:
        """Give back what memory the tables take where they lie in a file; they are read from it when looked at."""
        for table in self.tables().values():
            table.release()

    @property
    def time_range_ns(self) -> tuple[int, int] | None:
        """First start and last end of anything that has a time, as (start, end); None for a trace without any."""
        starts, ends = [], []
        for table in (self.slices, self.instants, self.counters, self.samples, self.memory):
            if len(table):
                starts.append(int(table.ts_ns.min()))
                ends.append(int(table.ts_ns.max()))
                release([table.ts_ns])
        ts, dur = self.slices.ts_ns, self.slices.dur_ns
        for at in range(0, len(ts), _ROWS_AT_A_TIME):
            ends.append(int((ts[at : at + _ROWS_AT_A_TIME] + np.maximum(dur[at : at + _ROWS_AT_A_TIME], 0)).max()))
        release([ts, dur])
        return (min(starts), max(ends)) if starts else None
