"""Instruction records: one slice of its engine's track for each instruction that began and ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from trace_format.importers.neuron_device.activity import Coverage
from trace_format.importers.neuron_device.clocks import CoreClocks
from trace_format.importers.ntff.container import INSTRUCTIONS, CoreTrace
from trace_format.importers.ntff.pairing import PENDING, Pairing
from trace_format.importers.ntff.profile import Profile
from trace_format.importers.ntff.programs import TAG_MASK
from trace_format.importers.ntff.records import ENDS, RECORD_ENGINES, engines_and_phases
from trace_format.importers.ntff.slot_columns import SlotColumns
from trace_format.importers.ntff.times import duration

Array = np.ndarray

_PHASES = 2
_ENGINE_SHIFT = 21  # of a key, beyond the bits of the tag


@dataclass(frozen=True)
class InstructionRows:
    """Instructions of one engine that began and ended: picoseconds since the first run began, and what they were."""

    engine: str
    start_ps: Array
    dur_ps: Array
    tag: Array
    wait_cycles: Array


@dataclass
class Instructions:
    """What was seen of a core's instructions.

    - `last_end_ps`: when the last that lies in a run ended; None if none does.
    - `active`: by engine, when it did work: all but EVENT_SEMAPHORE, which waits.
    - `transfers`: when DMAs were started, in picoseconds.
    """

    last_end_ps: int | None
    active: dict[str, Coverage]
    transfers: Array


def add_instructions(
    profile: Profile, core: CoreTrace, slots: Mapping[str, SlotColumns], clocks: CoreClocks | None
) -> Instructions:
    """Add the slices of a core's instructions."""
    seen = Instructions(None, {}, np.zeros(0, np.int64))
    transfers = [seen.transfers]
    for rows in instruction_rows(profile, core):
        columns = slots[rows.engine]
        place = columns.place(rows.tag)
        profile.builder["slices"].append(
            len(place),
            track=profile.tracks.engine(core.core, rows.engine),
            wait_ns=_wait_ns(rows.wait_cycles, clocks),
            **profile.time.start(rows.start_ps),
            **duration(rows.dur_ps),
            **columns.at(place),
        )
        works = ~columns.is_wait[place]
        if rows.engine not in seen.active:
            seen.active[rows.engine] = Coverage(0, profile.end_ps)
        seen.active[rows.engine].add(rows.start_ps[works], rows.dur_ps[works])
        transfers.append(rows.start_ps[columns.is_transfer[place]])
        ends = rows.start_ps + rows.dur_ps
        ends = ends[profile.run_of(rows.start_ps, ends) >= 0]
        if len(ends):
            seen.last_end_ps = max(int(ends.max()), seen.last_end_ps or 0)
    seen.transfers = np.concatenate(transfers)
    return seen


def instruction_rows(profile: Profile, core: CoreTrace) -> Iterator[InstructionRows]:
    """The instructions of a core, some hundred thousand of one engine at a time."""
    pairing = Pairing()
    for records in profile.records(core, INSTRUCTIONS):
        starts, ends = pairing.join(_pending(profile, core, records))
        for number, engine in RECORD_ENGINES.items():
            of_engine = starts["key"] >> _ENGINE_SHIFT == number
            if of_engine.any():
                began, ended = starts[of_engine], ends[of_engine]
                # the upper half of a start's second word: the cycles that the instruction waited
                yield InstructionRows(engine, began["ps"], ended["ps"] - began["ps"], began["key"] & TAG_MASK,
                                      began["value"] >> np.uint32(16))  # fmt: skip
    pairing.finish()
    profile.leave_out("instruction that did not end while records were kept", pairing.unpaired_starts)
    profile.leave_out("end of an instruction whose start is not recorded", pairing.unpaired_ends)


def _pending(profile: Profile, core: CoreTrace, records: Array) -> Array:
    """The records as they are joined: those of one engine and one instruction belong together."""
    engines, phases = engines_and_phases(records)
    known = np.isin(engines, tuple(RECORD_ENGINES)) & (phases < _PHASES)
    profile.leave_out("instruction record of an unknown engine or phase", int((~known).sum()))
    parts = []
    for number, engine in RECORD_ENGINES.items():
        timed, since = profile.timed(records[known & (engines == number)], core.engine_clocks[engine])
        part = np.zeros(len(timed), PENDING)
        part["key"] = (timed["head"] & np.uint32(TAG_MASK)).astype(np.int64) | number << _ENGINE_SHIFT
        part["ps"], part["value"] = since, timed["value"]
        part["end"] = engines_and_phases(timed)[1] == ENDS
        parts.append(part)
    return np.concatenate(parts)


def _wait_ns(cycles: Array, clocks: CoreClocks | None) -> Array | int:
    """Cycles of the clock that all engines but the Tensor engine's array share; -1 where it is not known."""
    if clocks is None:
        return -1
    return cycles.astype(np.int64) * 1000 // round(clocks.others_ghz * 1000)
