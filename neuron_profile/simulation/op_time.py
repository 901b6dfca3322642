"""How long an operator takes, and which of its parts are busy for how long.

Inside an operator compute and transfers overlap as double buffering lets them; operators that hand over through HBM
follow each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from neuron_profile.hardware.core import CoreModel
from neuron_profile.simulation.work import REMEMBERED, SCALAR, TENSOR, VECTOR, Stage, Transfer, Work

_INSTRUCTION_BYTES = 512 << 10  # the most that one DMA instruction carries in public profiles of trn2
_ROWS = 128
_QUEUES = 2  # the hardware queues that Sync and Scalar fill (AWS Neuron docs, Trainium2 architecture guide for NKI)
_SHARED_FROM_ROWS = 256  # from so many rows on a compiler gives each core of a pair its half


@dataclass(frozen=True, slots=True)
class StageTime:
    """A stage: how long it lasts and how long each engine is busy in it, ns; the Tensor engine's ramp included."""

    ns: float
    busy_ns: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class OpTime:
    """An operator's time in ns and what it is made of.

    - `core_ns`: without the fixed latencies of DMA and engines.
    - `stages`, `load_ns`, `store_ns`: how long each is busy; they overlap.
    - `first_load_ns`: before compute can begin; `last_store_ns`: after it has ended.
    - `issue_ns`: how long a queue's engine is busy giving DMA instructions.
    - `bound`: what limits it: compute, dma, dma_issue or hbm.
    """

    ns: float
    core_ns: float
    stages: tuple[StageTime, ...]
    load_ns: float
    store_ns: float
    first_load_ns: float
    last_store_ns: float
    issue_ns: float
    bound: str


@lru_cache(maxsize=REMEMBERED)
def op_time(work: Work, core: CoreModel, *, lnc: int = 1) -> OpTime:
    """The time of an operator on a logical core of `lnc` physical ones."""
    shared = lnc > 1 and work.rows >= _SHARED_FROM_ROWS
    work = _share(work) if shared else work
    # two cores share a stack; one that works alone has it all
    hbm_rate = core.hbm_rate if shared else core.hbm_rate * lnc
    stages = tuple(_stage_time(one, work.tiles, work.efficiency_ratio, core) for one in work.stages)
    compute = sum(one.ns for one in stages)
    load = sum(_transfer_ns(one, core, to_hbm=False) for one in work.loads)
    store = sum(_transfer_ns(one, core, to_hbm=True) for one in work.stores)
    first = sum(_transfer_ns(_first_instruction(one), core, to_hbm=False) for one in work.loads)
    last = sum(_transfer_ns(_first_instruction(one), core, to_hbm=True) for one in work.stores[-1:])
    limits = {
        "compute": compute + first + last,
        "dma": load + store + compute / work.tiles,
        "dma_issue": sum(_issue_ns(one, core) for one in (*work.loads, *work.stores)),
        "hbm": (work.read_bytes + work.written_bytes) / hbm_rate,
    }
    bound = max(limits, key=limits.__getitem__)
    fixed = _latencies_ns(stages, core)
    if work.loads:
        fixed += core.load_fixed_ns + (len(work.loads) - 1) * core.software_issue_ns
    if work.stores:
        fixed += core.store_fixed_ns
    return OpTime(limits[bound] + fixed, limits[bound], stages, load, store, first, last, limits["dma_issue"], bound)


def tensor_ns(busy_ns: float, longest_other_ns: float, core: CoreModel) -> float:
    """How long the Tensor engine takes for what is `busy_ns` at full speed.

    It begins at half speed, and is fast after a window in which it was used half of the time (AWS Neuron docs, the
    overview of the engines: "about the first ~3 us"; profiles of trn2: windows of 3413 ns).
    """
    if not core.ramp_ns:
        return busy_ns
    if 2 * busy_ns <= core.ramp_ns or busy_ns < longest_other_ns / 2:
        return 2 * busy_ns
    return busy_ns + min(busy_ns, core.ramp_ns / 2)


def _stage_time(stage: Stage, tiles: int, efficiency_ratio: float, core: CoreModel) -> StageTime:
    busy = dict(stage.busy_ns)
    if TENSOR in busy:
        others = max((ns for engine, ns in busy.items() if engine != TENSOR), default=0.0)
        busy[TENSOR] = tensor_ns(busy[TENSOR], others, core)
    if not core.fitted and VECTOR in busy:
        # on NC-v2 Vector and GpSimd share a port of SBUF (AWS Neuron docs, its architecture guide for NKI)
        shared = busy.get("GpSimd", 0.0)
        longest = max([busy[VECTOR] + shared, *(ns for engine, ns in busy.items() if engine not in (VECTOR, "GpSimd"))])
    else:
        longest = max(busy.values(), default=0.0)
    rest = max(sum(busy.values()) - longest, 0.0)
    return StageTime((longest + rest / tiles) / efficiency_ratio, tuple(busy.items()))


def _transfer_ns(transfer: Transfer, core: CoreModel, *, to_hbm: bool) -> float:
    """How long all DMA engines of a core together take; whole packets each."""
    if not transfer.rows or not transfer.row_bytes:
        return 0.0
    size = transfer.row_bytes
    packet = max(core.packet_fixed_ns + size / core.packet_rate, size / core.dma_engine_rate, core.packet_floor_ns)
    if to_hbm and size < 512:
        packet = max(packet, core.store_floor_ns)
    if transfer.element_bytes:
        each = core.element_write_ns if to_hbm else core.element_read_ns
        packet = max(packet, size / transfer.element_bytes * each)
    return math.ceil(transfer.rows / core.dma_engines) * packet


def _first_instruction(transfer: Transfer) -> Transfer:
    """What the first DMA instruction carries: up to 512 KiB, or a row for each partition."""
    fit = _INSTRUCTION_BYTES // max(transfer.row_bytes, 1)
    return replace(transfer, rows=min(transfer.rows, max(fit, _ROWS)))


def _issue_ns(transfer: Transfer, core: CoreModel) -> float:
    per_instruction = _ROWS if transfer.gathered else max(_first_instruction(transfer).rows, 1)
    instructions = math.ceil(transfer.rows / per_instruction)
    return instructions * (core.software_issue_ns if transfer.gathered else core.issue_ns / _QUEUES)


def _latencies_ns(stages: tuple[StageTime, ...], core: CoreModel) -> float:
    """What the last result needs from engine to engine."""
    used = {engine for one in stages for engine, _ in one.busy_ns}
    known = {TENSOR: core.tensor_latency_ns, SCALAR: core.scalar_latency_ns, VECTOR: core.vector_latency_ns}
    return sum(known.get(engine, 0.0) for engine in used) + (core.semaphore_ns if used else 0.0)


def _share(work: Work) -> Work:
    """One core's half of it."""

    def halve(transfer: Transfer) -> Transfer:
        return replace(transfer, rows=math.ceil(transfer.rows / 2))

    return replace(
        work,
        stages=tuple(Stage({engine: ns / 2 for engine, ns in one.busy_ns.items()}) for one in work.stages),
        loads=tuple(map(halve, work.loads)),
        stores=tuple(map(halve, work.stores)),
    )
