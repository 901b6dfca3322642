"""Reads what torch.profiler says about collectives: the arguments of NCCL kernels and of `record_param_comms`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.pool import Pool
from trace_format.tables import Collectives

Array = np.ndarray

MARK = b'"Collective name"'  # every argument set that describes a collective has this key
HOST_OP = "record_param_comms"

# torch's name (torch/csrc/distributed/c10d/ProcessGroup*.cpp, lower case, separators left out) -> the trace's name
_OPS = {
    "allreduce": "all_reduce", "allreducecoalesced": "all_reduce", "allreducesparse": "all_reduce",
    "allgather": "all_gather", "allgatherbase": "all_gather", "allgatherintotensor": "all_gather",
    "allgatherintotensorcoalesced": "all_gather", "allgathercoalesced": "all_gather", "allgatherv": "all_gather",
    "reducescatter": "reduce_scatter", "reducescatterbase": "reduce_scatter", "reducescattertensor": "reduce_scatter",
    "reducescattertensorcoalesced": "reduce_scatter", "reducescatterv": "reduce_scatter",
    "alltoall": "all_to_all", "alltoallbase": "all_to_all", "alltoallv": "all_to_all", "alltoallsingle": "all_to_all",
    "broadcast": "broadcast", "broadcastoop": "broadcast", "reduce": "reduce", "reduceoop": "reduce",
    "gather": "gather", "scatter": "scatter", "send": "send", "recv": "recv", "recvanysource": "recv",
    "barrier": "barrier",
}  # fmt: skip

# c10::ScalarType names as Kineto prints them -> bytes per element
_ELEMENT_BYTES = {
    "unsignedchar": 1, "signedchar": 1, "shortint": 2, "longint": 8,
    "byte": 1, "char": 1, "bool": 1, "short": 2, "int": 4, "long": 8, "half": 2, "float": 4, "double": 8,
    "bfloat16": 2, "complexhalf": 4, "complexfloat": 8, "complexdouble": 16,
    "float8e5m2": 1, "float8e4m3fn": 1, "float8e5m2fnuz": 1, "float8e4m3fnuz": 1, "float8e8m0fnu": 1,
    "uint16": 2, "uint32": 4, "uint64": 8,
}  # fmt: skip


def element_bytes(dtype: str) -> int | None:
    """Bytes of an element by the name of its type, as Kineto ("BFloat16") or C++ ("c10::BFloat16", "float") has it."""
    return _ELEMENT_BYTES.get(_plain(dtype.removeprefix("c10::")))


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def describe(args: Mapping[str, Any]) -> dict[str, Any] | None:
    """The columns of the collectives table that one argument set gives; None if it describes no collective.

    What it does not say is left out. A collective the table has no name for keeps the source's.
    """
    name = args.get("Collective name")
    if not isinstance(name, str) or not name:
        return None
    op, dtype = _OPS.get(_plain(name), name), args.get("dtype")
    out: dict[str, Any] = {"op": op}
    if isinstance(dtype, str):
        out["dtype"] = dtype
        size = element_bytes(dtype)
        for column, key in (("in_bytes", "In msg nelems"), ("out_bytes", "Out msg nelems")):
            count = args.get(key)
            if size and isinstance(count, int) and 0 <= count * size < 2**63:
                out[column] = count * size
    if op == "send":
        out["out_bytes"] = 0
    if op == "recv":
        out["in_bytes"] = 0
    for column, key in (("group", "Process Group Name"), ("group_ranks", "Process Group Ranks")):
        if isinstance(args.get(key), str):
            out[column] = args[key]
    peer = {"send": args.get("Dst Rank"), "recv": args.get("Src Rank")}.get(op)
    numbers = (("rank", args.get("Rank"), 2**31), ("peer", peer, 2**31), ("seq", args.get("Seq"), 2**63))
    for column, value, limit in numbers:
        if isinstance(value, int) and 0 <= value < limit:
            out[column] = value
    return out


class CollectiveFinder:
    """Finds the slices that describe a collective, by their argument sets.

    Device work (kernels) goes before host calls: where both are there, the host's rows would count every
    collective twice and are left to the slices table.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._described: dict[int, dict[str, Any] | None] = {0: None}
        self._found: list[tuple[int, int, bool]] = []  # slice, argument set, on the host

    def note(self, columns: Mapping[str, Array], rows: Array) -> None:
        """Look at some new slices: their `args` and `name` columns and their row numbers."""
        unique, place = np.unique(columns["args"], return_inverse=True)
        wanted = np.array([self._describe(i) is not None for i in unique.tolist()], bool)
        if wanted.any():
            host = self._pool.strings.find(HOST_OP)
            for at in np.flatnonzero(wanted[place]).tolist():
                self._found.append((int(rows[at]), int(columns["args"][at]), int(columns["name"][at]) == host))

    def finish(self, builder: TraceBuilder, *, rank: int) -> bool:
        """Add the rows of the collectives table; whether there were any.

        `rank` is the trace's own, where a collective names none.
        """
        on_device = any(not host for _, _, host in self._found)
        rows = [
            {"slice": row, "rank": rank, **(self._described[args] or {}), "source": HOST_OP if host else "kernel"}
            for row, args, host in self._found
            if not (host and on_device)
        ]
        columns = {}
        for name in {name for row in rows for name in row}:
            values = [row.get(name, Collectives.COLUMNS[name].unknown) for row in rows]
            columns[name] = [builder.string(value) if isinstance(value, str) else value for value in values]
        builder["collectives"].append(len(rows), **columns)
        return bool(rows)

    def _describe(self, args: int) -> dict[str, Any] | None:
        if args not in self._described:
            text = self._pool.arg_sets[args]
            self._described[args] = describe(self._pool.args(args)) if MARK in text else None
        return self._described[args]
