"""Instruction records: one slice of its engine's track for each instruction that began and ended.

One that was under way when the recording stopped is an instant. Real files have one for each core, which waits for the
next run.
"""

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
_NEVER_PS = -(1 << 62)  # before all times
_ENGINE_SHIFT = 21  # of a key, beyond the bits of the tag


@dataclass(frozen=True)
class InstructionRows:
    """Instructions of one engine: picoseconds since the first run began, and what they were.

    `dur_ps` is None for those that were under way when the recording stopped.
    """

    engine: str
    start_ps: Array
    dur_ps: Array | None
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
        if rows.dur_ps is None:
            _add_under_way(profile, core, rows, columns)
            continue
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


def _add_under_way(profile: Profile, core: CoreTrace, rows: InstructionRows, columns: SlotColumns) -> None:
    said = columns.at(columns.place(rows.tag))
    profile.builder["instants"].append(
        len(rows.tag),
        ts_ns=profile.time.start(rows.start_ps)["ts_ns"],
        track=profile.tracks.engine(core.core, rows.engine),
        source_category=profile.builder.string("under way when the recording stopped"),
        **{name: said[name] for name in ("name", "category", "args")},
    )


def instruction_rows(profile: Profile, core: CoreTrace) -> Iterator[InstructionRows]:
    """The instructions of a core, some hundred thousand of one engine at a time."""
    pairing, last_end_ps = Pairing(), dict.fromkeys(RECORD_ENGINES, _NEVER_PS)
    for records in profile.records(core, INSTRUCTIONS):
        starts, ends = pairing.join(_pending(profile, core, records))
        for number in RECORD_ENGINES:
            mine = starts["key"] >> _ENGINE_SHIFT == number
            if mine.any():
                yield _rows(number, starts[mine], ends[mine])
                last_end_ps[number] = max(last_end_ps[number], int(ends["ps"][mine].max()))
    waiting = pairing.waiting
    last_ends = np.array([last_end_ps[number] for number in (waiting["key"] >> _ENGINE_SHIFT).tolist()], np.int64)
    under_way = pairing.finish(keep=~waiting["end"] & (waiting["ps"] >= last_ends))
    for number in RECORD_ENGINES:
        mine = under_way["key"] >> _ENGINE_SHIFT == number
        if mine.any():
            yield _rows(number, under_way[mine], None)
    profile.leave_out("instruction whose end is not recorded", pairing.unpaired_starts)
    profile.leave_out("end of an instruction whose start is not recorded", pairing.unpaired_ends)


def _rows(number: int, starts: Array, ends: Array | None) -> InstructionRows:
    """Those of one engine, as records number them. A start's second word has the cycles it waited in its upper half."""
    return InstructionRows(
        RECORD_ENGINES[number], starts["ps"], None if ends is None else ends["ps"] - starts["ps"],
        starts["key"] & TAG_MASK, starts["value"] >> np.uint32(16),
    )  # fmt: skip


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
