"""Where the parts of a NEFF lie in its time: one interval for each engine and stage, one for each side of its DMA."""

from __future__ import annotations

from dataclasses import dataclass

from neuron_profile.hardware.core import CoreModel
from neuron_profile.simulation.neffs import Neff, Part

EXECUTIONS, LOADS, STORES, SYNC = "Executions", "loads", "stores", "Sync"
# Of the fixed time of a NEFF what lies before its first instruction: 13.4 of 15.6 us in profiles of trn2
_HEAD_RATIO = 13.4 / 15.6


@dataclass(frozen=True, slots=True)
class Interval:
    """Something busy from `start_ns` on, counted from the start of the NEFF's run, for `dur_ns`; whole ns.

    - `line`: an engine, LOADS, STORES or EXECUTIONS.
    - `part`: position of its operator in the NEFF; -1 for the run itself.
    - `nbytes`: what is moved, -1 where nothing is.
    """

    line: str
    part: int
    start_ns: int
    dur_ns: int
    nbytes: int = -1


def layout(neff: Neff, core: CoreModel, fixed_ns: int) -> list[Interval]:
    """The intervals of one run; none on the same line overlap, but for the operators inside a run."""
    out = [Interval(EXECUTIONS, -1, 0, max(round(neff.ns + fixed_ns), 1))]
    at = fixed_ns * _HEAD_RATIO
    for position, part in enumerate(neff.parts):
        if neff.is_graph:
            out.append(Interval(EXECUTIONS, position, round(at), max(round(at + part.time.ns) - round(at), 1)))
        out += _of_part(part, position, at, core)
        at += part.time.ns
    return out


def _of_part(part: Part, position: int, at: float, core: CoreModel) -> list[Interval]:
    time, work = part.time, part.work
    out = []

    def add(line: str, start: float, ns: float, nbytes: int = -1) -> None:
        start, end = round(at + start), round(at + min(start + ns, time.ns))
        if end > start:
            out.append(Interval(line, position, int(start), int(end - start), nbytes))

    add(SYNC, 0.0, time.issue_ns)
    begins = core.load_fixed_ns - core.reread_ns if work.loads else 0.0
    add(LOADS, begins, time.load_ns, work.read_bytes)
    store_starts = max(time.ns - time.store_ns, begins)
    add(STORES, store_starts, time.store_ns, work.written_bytes)
    # between the first piece's arrival and the departure of the last; stretched where DMA sets the pace
    compute = sum(one.ns for one in time.stages)
    first = core.load_fixed_ns + time.first_load_ns if work.loads else 0.0
    room = max(time.ns - first - time.last_store_ns - (core.store_fixed_ns if work.stores else 0.0), compute)
    first = max(min(first, time.ns - room), 0.0)
    for one in time.stages:
        length = one.ns / compute * room if compute else 0.0
        for engine, busy in one.busy_ns:
            add(engine, first, min(busy, length))
        first += length
    return out
