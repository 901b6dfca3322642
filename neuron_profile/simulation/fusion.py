"""What a compiler makes of a graph: neighbours that only touch each element melt into one operator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from neuron_profile.simulation.lowering.target import Flat
from neuron_profile.simulation.work import SCALAR, Stage, Transfer, Work

_RESIDENT_RATIO = 0.75  # inferred: the rest of SBUF holds what is being moved
_FP32 = 4


@dataclass(frozen=True, slots=True)
class Melted:
    """One operator made of several; `members` are positions in the sequence it was made of."""

    work: Work
    members: tuple[int, ...]


def fused(works: Sequence[Work], sbuf_bytes: int) -> tuple[Melted, ...]:
    """The operators of a graph in order, maximal chains of elementwise and row-wise ones as one, also behind a product.

    Which tensor a chain hands on is not recorded: an input as large as the result before it is taken to be that result.
    What of it does not fit into SBUF is written to HBM and read again.
    """
    out: list[Melted] = []
    for position, work in enumerate(works):
        before = out[-1] if out else None
        if before is not None and work.pointwise and (before.work.pointwise or before.work.takes_epilogue):
            out[-1] = Melted(_joined(before.work, work, _RESIDENT_RATIO * sbuf_bytes), (*before.members, position))
        else:
            out.append(Melted(work, (position,)))
    return tuple(out)


def with_table_loads(works: Sequence[Work], table_load_ns: float) -> list[Work]:
    """The same with the time in which the Scalar engine loads tables; that of the first function is there already."""
    out, loaded = [], ""
    for work in works:
        loads = 0
        for function in work.functions:
            loads += bool(loaded) and function != loaded
            loaded = function
        if loads and work.stages:
            busy = dict(work.stages[0].busy_ns)
            busy[SCALAR] = busy.get(SCALAR, 0.0) + loads * table_load_ns
            work = replace(work, stages=(Stage(busy), *work.stages[1:]))
        out.append(work)
    return out


def _joined(first: Work, second: Work, resident_bytes: float) -> Work:
    """Engine times add up; what the first hands to the second stays on the chip, as far as it fits."""
    handed = first.stores[-1].nbytes if first.stores else 0
    loads = _without_one(second.loads, handed)
    stays = len(loads) < len(second.loads)
    busy: dict[str, float] = {}
    for one in second.stages:
        for engine, ns in one.busy_ns.items():
            busy[engine] = busy.get(engine, 0.0) + ns
    spilled = Flat(max(math.ceil((handed - resident_bytes) / _FP32), 0)).transfer(_FP32)
    spill = (spilled,) if stays and handed > resident_bytes else ()
    stages = _added(first.stages, busy) if first.stages else (Stage(busy),)
    return replace(
        first, rule=f"{first.rule}+" if not first.rule.endswith("+") else first.rule, stages=stages,
        loads=first.loads + loads + spill, stores=spill + second.stores if stays else first.stores + second.stores,
        tiles=max(first.tiles, second.tiles), rows=max(first.rows, second.rows),
        functions=first.functions + second.functions, generic=first.generic or second.generic,
    )  # fmt: skip


def _added(stages: tuple[Stage, ...], busy: dict[str, float]) -> tuple[Stage, ...]:
    """The last stage with more work of its engines."""
    last = dict(stages[-1].busy_ns)
    for engine, ns in busy.items():
        last[engine] = last.get(engine, 0.0) + ns
    return (*stages[:-1], Stage(last))


def _without_one(loads: tuple[Transfer, ...], nbytes: int) -> tuple[Transfer, ...]:
    """Less the first as large as what is on the chip already (shapes round up a little)."""
    for at, one in enumerate(loads):
        if nbytes and math.isclose(one.nbytes, nbytes, rel_tol=0.01):
            return loads[:at] + loads[at + 1 :]
    return loads
