"""The process group, sequence number and exact sizes of each collective, from torch's Flight Recorder."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from collectors.base import Budget, Clock, Window
from trace_format.trace_events.c10d import CALL
from trace_format.trace_events.collectives import element_bytes

if TYPE_CHECKING:
    from trace_format import Trace, TraceBuilder

_COMPLETED = ("dtype", "group", "group_ranks", "seq", "in_bytes", "out_bytes")


class FlightRecorder:
    """Completes the collectives that torch's events tell of.

    torch keeps the last calls of every process group in a ring (on by default since 2.13; earlier it needs
    `TORCH_FR_BUFFER_SIZE` before the job starts). An entry belongs to the `c10d::` operator during which it was
    made. The ranks of each group are those torch.distributed knows.
    """

    name = "collectives"
    budget = Budget()

    def __init__(self, window: Window) -> None:
        self.found = 0
        self._clock: Clock | None = None
        self._started_ns = self._stopped_ns = 0
        self._entries: list[Mapping[str, Any]] = []
        self._ranks: dict[str, list[int]] = {}

    def start(self, clock: Clock) -> None:
        self._clock, self._started_ns = clock, clock()

    def stop(self) -> None:
        if self._clock is not None:
            self._stopped_ns = self._clock()

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        """Read the ring; the rows are completed in `refine`."""
        torch = sys.modules.get("torch")
        if torch is None or not torch.distributed.is_available() or not torch.distributed.is_initialized():
            return
        dump = getattr(torch._C._distributed_c10d, "_dump_fr_trace_json", None)
        if dump is None:  # torch before 2.9 or so
            return
        entries = json.loads(dump())["entries"]
        self._entries = [one for one in entries if self._started_ns <= _created_ns(one) <= self._stopped_ns]
        self.found = len(self._entries)
        self._ranks = _ranks_of_groups(torch)

    def refine(self, trace: Trace) -> Trace:
        """The trace with group, ranks and sequence number in its collectives, and sizes that follow from them."""
        from trace_format import Trace

        rows, strings = trace.collectives, trace.pool.strings
        operators = _operators(trace)
        entry_of = self._first_entries(trace, operators)
        if not (entry_of >= 0).any():
            return trace
        columns = {name: getattr(rows, name).copy() for name in _COMPLETED}
        for row in np.flatnonzero(entry_of >= 0).tolist():
            entry = self._entries[int(entry_of[row])]
            ranks = self._ranks.get(_group(entry))
            columns["group"][row] = strings.id(_group(entry))
            columns["group_ranks"][row] = strings.id(json.dumps(ranks) if ranks else "")
            columns["seq"][row] = entry["collective_seq_id"]
            size = _sizes(strings[rows.op[row]], columns["in_bytes"][row], columns["out_bytes"][row], entry, ranks)
            columns["in_bytes"][row], columns["out_bytes"][row] = size
            columns["dtype"][row] = columns["dtype"][row] or strings.id(_dtype(entry))
        tables = {**trace.tables(), "collectives": type(rows)({**rows.stored(), **columns}, trace.pool)}
        return Trace.of(
            trace.pool, tables, metadata=trace.metadata, report=trace.report, later_records=trace.later_records
        )

    def _first_entries(self, trace: Trace, operators: np.ndarray) -> np.ndarray:
        """For each collective the first entry made during its operator, -1 for none."""
        start = trace.slices.ts_ns[operators]
        end = start + np.maximum(trace.slices.dur_ns[operators], 0)
        created = np.array([_created_ns(entry) for entry in self._entries], np.int64)
        order = np.argsort(created, kind="stable")
        if not len(order):
            return np.full(len(operators), -1)
        at = np.minimum(np.searchsorted(created[order], start), len(order) - 1)
        first = order[at]
        return np.where((created[first] >= start) & (created[first] <= end), first, -1)


def _operators(trace: Trace) -> np.ndarray:
    """For each collective the slice of the operator that asked for it; its own slice where there is no other."""
    flows, of_slice = trace.flows, trace.collectives.slice
    calls = flows.kind == trace.pool.strings.find(CALL)
    asked_by = dict(zip(flows.to_slice[calls].tolist(), flows.from_slice[calls].tolist(), strict=True))
    return np.array([asked_by.get(row, row) for row in of_slice.tolist()], np.int64)


def _sizes(
    op: str, in_bytes: int, out_bytes: int, entry: Mapping[str, Any], ranks: list[int] | None
) -> tuple[int, int]:
    """In and out bytes, those that torch's events did not tell worked out from the number of ranks."""
    if not ranks:
        return in_bytes, out_bytes
    if out_bytes < 0 <= in_bytes and op in ("all_gather", "gather"):
        out_bytes = in_bytes * len(ranks) if entry.get("output_sizes") else 0
    if op == "scatter" and out_bytes < 0:  # torch's events tell only the root what it is made of
        out_bytes = _nbytes(entry, "output_sizes")
    if in_bytes < 0 <= out_bytes and op in ("reduce_scatter", "scatter"):
        in_bytes = out_bytes * len(ranks) if entry.get("input_sizes") else 0
    return in_bytes, out_bytes


def _nbytes(entry: Mapping[str, Any], sizes: str) -> int:
    """Bytes of the tensors an entry lists; -1 where it does not tell."""
    size = element_bytes(_dtype(entry))
    return -1 if size is None else size * sum(math.prod(shape) for shape in entry[sizes])


def _dtype(entry: Mapping[str, Any]) -> str:
    """The type of the elements as torch's events have it ("float"), "" where there is none."""
    return next((str(kind).lower() for key in ("input_dtypes", "output_dtypes") for kind in entry.get(key, ())), "")


def _created_ns(entry: Mapping[str, Any]) -> int:
    return int(entry["time_created_ns"])


def _group(entry: Mapping[str, Any]) -> str:
    """The name of the process group."""
    return str(entry["process_group"][0])


def _ranks_of_groups(torch: Any) -> dict[str, list[int]]:
    groups = torch.distributed.distributed_c10d._get_all_pg_configs()
    return {str(group["pg_name"]): list(group["ranks"]) for group in groups}
