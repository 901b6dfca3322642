"""The NEFFs of a simulated run: which operators each holds, what its operators take, and what it is called."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import msgspec
import numpy as np

from neuron_profile.hardware.core import CoreModel
from neuron_profile.simulation.fusion import fused, with_table_loads
from neuron_profile.simulation.op_time import OpTime, op_time
from neuron_profile.simulation.recorded_ops import RecordedOps
from neuron_profile.simulation.work import REMEMBERED, Work
from trace_format import Trace

Array = np.ndarray

_NAMES = 3
_SIGNATURE = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")


@dataclass(frozen=True, slots=True)
class Part:
    """An operator inside a NEFF: its work, its time, and the recorded calls it stands for, as positions in the NEFF."""

    name: str
    work: Work
    time: OpTime
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Neff:
    """A program for the core: its parts in order. `key` is the same for the same program."""

    key: str
    name: str
    parts: tuple[Part, ...]

    @property
    def ns(self) -> float:
        return sum(part.time.ns for part in self.parts)

    @property
    def is_graph(self) -> bool:
        return len(self.parts) > 1 or any(len(part.members) > 1 for part in self.parts)


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs of NEFFs in order; columns `(n,)`.

    - `neff`: index into `neffs`.
    - `op`: position of the first operator in the recorded ones; `ops` how many.
    - `in_graph`: whether it is a compiled graph.
    """

    neffs: tuple[Neff, ...]
    neff: Array
    op: Array
    ops: Array
    in_graph: Array

    def __len__(self) -> int:
        return len(self.neff)


def runs_of(trace: Trace, ops: RecordedOps, core: CoreModel, lnc: int) -> Runs:
    """One NEFF for each operator outside of compiled graphs, one for each call of a graph."""
    first = np.ones(len(ops), bool)
    first[1:] = (ops.graph[1:] < 0) | (ops.graph[1:] != ops.graph[:-1])
    op = np.flatnonzero(first)
    count = np.diff(op, append=len(ops))
    in_graph = ops.graph[op] >= 0 if len(op) else np.zeros(0, bool)
    neffs: list[Neff] = []
    times = [op_time(work, core, lnc=lnc) for work in ops.works]
    of_work: dict[int, int] = {}
    neff = np.full(len(op), -1, np.int64)
    eager = np.flatnonzero(~in_graph)
    used, of_run = np.unique(ops.work[op[eager]], return_inverse=True)
    for work in used.tolist():
        name, args = ops.calls[work]
        of_work[work] = len(neffs)
        neffs.append(Neff(_key([(name, args)]), name, (Part(name, ops.works[work], times[work], (0,)),)))
    neff[eager] = np.array([of_work[work] for work in used.tolist()], np.int64)[of_run] if len(used) else neff[eager]
    of_graph: dict[tuple[int, ...], int] = {}
    for run in np.flatnonzero(in_graph).tolist():
        sequence = tuple(ops.work[op[run] : op[run] + count[run]].tolist())
        found = of_graph.get(sequence)
        if found is None:
            found = of_graph[sequence] = len(neffs)
            called_by = trace.pool.strings[int(trace.slices.name[ops.graph[op[run]]])]
            neffs.append(_graph(sequence, called_by, ops, core, lnc))
        neff[run] = found
    return Runs(tuple(neffs), neff, op, count, in_graph)


def _graph(sequence: tuple[int, ...], called_by: str, ops: RecordedOps, core: CoreModel, lnc: int) -> Neff:
    melted = fused([ops.works[work] for work in sequence], core.sbuf_bytes)
    works = with_table_loads([one.work for one in melted], core.table_load_ns)
    parts = tuple(
        Part(_name([ops.calls[sequence[at]][0] for at in one.members]), work, op_time(work, core, lnc=lnc), one.members)
        for one, work in zip(melted, works, strict=True)
    )
    return Neff(_key(ops.calls[work] for work in sequence), called_by, parts)


def _name(operators: list[str]) -> str:
    """What a part is called: its operators, or the first of them and how many follow."""
    shown, more = operators[:_NAMES], len(operators) - _NAMES
    return " + ".join(shown) + (f" + {more} more" if more > 0 else "")


def _key(calls: Iterable[tuple[str, bytes]]) -> str:
    """The same for the same operators with the same shapes, types, strides and numbers."""
    key = hashlib.blake2b(digest_size=8)
    for name, args in calls:
        key.update(_signature(name, args))
    return key.hexdigest()


@lru_cache(maxsize=REMEMBERED)
def _signature(name: str, args: bytes) -> bytes:
    told = msgspec.json.decode(args)
    said = [told.get(field) for field in _SIGNATURE]
    return name.encode("utf-8", "surrogatepass") + b"\0" + msgspec.json.encode(said)
