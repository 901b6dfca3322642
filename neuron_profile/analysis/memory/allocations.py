"""What was allocated for how long, and what for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.derived import kept_with_the_trace
from neuron_profile.analysis.memory.timeline import allocators
from neuron_profile.analysis.memory.training_phases import (
    BACKWARD,
    BETWEEN,
    INPUT,
    OPTIMIZER,
    Phases,
    training_phases,
)
from trace_format import Trace

Array = np.ndarray

# torch.profiler's names (torch/profiler/_memory_profiler.py, Category), "unknown" for what none of them is known to fit
MEMORY_CATEGORIES = ("parameter", "gradient", "optimizer_state", "activation", "temporary", "input", "unknown")
_PARAMETER, _GRADIENT, _OPTIMIZER_STATE, _ACTIVATION, _TEMPORARY, _INPUT, UNKNOWN = range(7)


@dataclass(frozen=True, slots=True)
class Allocations:
    """The allocations of a trace whose place in memory is known, in order of time; columns `(n,)`.

    - `row`: the row of `trace.memory` that made it.
    - `end_row`: the row that freed it, or that allocated its place anew; the number of rows where it stays.
    - `category`: index into `MEMORY_CATEGORIES`.
    - `is_deduced`: whether the category follows from when it was allocated and freed, and was not recorded.
    """

    row: Array
    end_row: Array
    category: Array
    is_deduced: Array


@kept_with_the_trace
def allocations(trace: Trace) -> Allocations:
    """The allocations of a trace with the category of each.

    One that the trace does not tell is deduced from lifetimes and phases of the training step: freed in the phase that
    allocated it = temporary; allocated before a backward pass and freed in or after that = activation; allocated in a
    backward pass and alive after it = gradient; in Optimizer.step and alive after it = optimizer_state; while a
    DataLoader was asked = input. Else, in threads that take no part in the steps, and where a process shows neither
    backward pass nor optimizer, it is unknown. For a trace without memory events the columns are empty.
    """
    row, end_row = _lifetimes(trace)
    category = _recorded(trace)[row]
    deduced = np.full(len(row), UNKNOWN, np.int64)
    memory, tracks = trace.memory, trace.tracks
    asked = memory.track[row]
    ends_ns = np.append(memory.ts_ns, np.iinfo(np.int64).max)[end_row]
    freed = (
        (end_row < len(memory)) & (memory.delta_bytes[np.minimum(end_row, len(memory) - 1)] < 0) if len(row) else row
    )
    for (rank, pid), phases in training_phases(trace).items():
        taking_part = np.zeros(len(tracks) + 1, bool)
        taking_part[phases.tracks] = True
        taking_part[:-1] &= (tracks.rank == rank) & (tracks.pid == pid)
        own = np.flatnonzero(taking_part[asked])  # a track of -1 is the last, which takes no part
        deduced[own] = _deduced(phases, memory.ts_ns[row[own]], ends_ns[own], freed[own].astype(bool))
    is_deduced = (category == UNKNOWN) & (deduced != UNKNOWN)
    return Allocations(row, end_row, np.where(is_deduced, deduced, category), is_deduced)


def _deduced(phases: Phases, starts_ns: Array, ends_ns: Array, freed: Array) -> Array:
    began, kind = phases.at(starts_ns)
    ended, _ = phases.at(ends_ns)
    crossed = phases.backwards_begun(ends_ns) > phases.backwards_begun(starts_ns)
    found = np.full(len(starts_ns), UNKNOWN, np.int64)
    found[(kind == BETWEEN) & freed & crossed] = _ACTIVATION
    found[kind == BACKWARD] = _GRADIENT
    found[kind == OPTIMIZER] = _OPTIMIZER_STATE
    found[kind == INPUT] = _INPUT
    found[freed & (began == ended)] = _TEMPORARY
    # what is still there when the window ends may have been about to be freed
    found[~freed & (began == ended)] = UNKNOWN
    return found


def _recorded(trace: Trace) -> Array:
    """The category that the trace tells of each row of its memory events."""
    strings = trace.pool.strings.values
    of_name = np.full(len(strings), UNKNOWN, np.int64)
    for name in np.unique(trace.memory.category).tolist():
        if strings[name] in MEMORY_CATEGORIES:
            of_name[name] = MEMORY_CATEGORIES.index(strings[name])
    return of_name[trace.memory.category]


def _lifetimes(trace: Trace) -> tuple[Array, Array]:
    """Rows that allocate, ascending, and for each the next row of the same place in memory, or the number of rows."""
    memory, of_row = trace.memory, allocators(trace).of_row
    placed = np.flatnonzero((memory.address != 0) & (memory.delta_bytes != 0))
    next_row = np.full(len(memory), len(memory), np.int64)
    if len(placed):
        address, allocator = _narrow(memory.address[placed]), of_row[placed]
        order = _stable_order(address)
        order = order[_stable_order(allocator[order])]
        rows, address, allocator = placed[order], address[order], allocator[order]
        same = (address[1:] == address[:-1]) & (allocator[1:] == allocator[:-1])
        next_row[rows[:-1][same]] = rows[1:][same]
    row = placed[memory.delta_bytes[placed] > 0]
    return row, next_row[row]


def _narrow(addresses: Array) -> Array:
    """The addresses in as few bits as may be: from the least one on, in units of what all are multiples of."""
    distance = addresses.astype(np.uint64) - addresses.astype(np.uint64).min()
    some = int(np.bitwise_or.reduce(distance))
    unit = some & -some
    return distance >> np.uint64(max(unit.bit_length() - 1, 0))


def _stable_order(numbers: Array) -> Array:
    """The positions of numbers >= 0 in their order; equal ones keep theirs. Sorts by counting, 16 bits at a time."""
    most = int(numbers.max(initial=0))
    if most == 0:
        return np.arange(len(numbers))
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    for shift in range(16, most.bit_length(), 16):
        order = order[np.argsort((numbers >> shift).astype(np.uint16)[order], kind="stable")]
    return order
