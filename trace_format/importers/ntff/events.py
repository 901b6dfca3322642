"""Event records: the values of semaphores, and events that are set and consumed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from trace_format.importers.ntff.container import EVENTS, CoreTrace
from trace_format.importers.ntff.profile import Profile
from trace_format.tables import CATEGORIES

Array = np.ndarray

# The semaphores that an engine raises when an instruction completes, by number. Worked out from AWS's JSON.
_ENGINE_SEMAPHORES = {3: "GpSimd", 4: "Scalar", 5: "Tensor", 6: "Vector"}
_IS_SEMAPHORE = 0x100
_ACTIONS = {0xF1: "set", 0x07: "consumed"}  # of events


def semaphore_label(number: int, queues: Mapping[int, str], *, unknown: str = "{}") -> str:
    """A semaphore as AWS's profiler shows it: "S[5] (Tensor)", "S[24] (qGpSimdDynamic)".

    One that belongs to neither an engine nor a queue is written as `unknown`: among values as its bare number, among
    operands as "$S[2]".
    """
    owner = _ENGINE_SEMAPHORES.get(number) or queues.get(number)
    return f"S[{number}] ({owner})" if owner else unknown.format(number)


def add_events(profile: Profile, core: CoreTrace, queues: Mapping[int, str]) -> Array:
    """Add a core's events and semaphores, and return how many belong to each run, `(runs,) int64`.

    `queues`: which DMA queue raises a semaphore, where that is known.
    """
    counts = np.zeros(len(profile.runs), np.int64)
    for records in profile.records(core, EVENTS):
        timed, since = profile.timed(records, core.event_clock)
        is_semaphore = timed["head"] & np.uint32(_IS_SEMAPHORE) != 0
        _add_values(profile, core, timed[is_semaphore], since[is_semaphore], queues)
        _add_instants(profile, core, timed[~is_semaphore], since[~is_semaphore])
        run = profile.run_of(since, since)
        counts += np.bincount(run[run >= 0], minlength=len(counts))
    return counts


def _add_values(profile: Profile, core: CoreTrace, records: Array, since: Array, queues: Mapping[int, str]) -> None:
    numbers, which = np.unique(records["head"] & np.uint32(0xFF), return_inverse=True)
    tracks = [profile.tracks.semaphore(core.core, semaphore_label(number, queues)) for number in numbers.tolist()]
    profile.builder["counters"].append(
        len(records),
        ts_ns=profile.time.start(since)["ts_ns"],
        track=np.array(tracks, np.uint32)[which],
        value=records["value"],
    )


def _add_instants(profile: Profile, core: CoreTrace, records: Array, since: Array) -> None:
    if not len(records):
        return
    kinds, which = np.unique(records["head"] & np.uint32(0xFF00FF), return_inverse=True)
    names = [profile.builder.string(_event_name(kind & 0xFF, kind >> 16)) for kind in kinds.tolist()]
    profile.builder["instants"].append(
        len(records),
        ts_ns=profile.time.start(since)["ts_ns"],
        track=profile.tracks.events(core.core),
        name=np.array(names, np.uint32)[which],
        category=CATEGORIES.index("semaphore"),
    )


def _event_name(number: int, action: int) -> str:
    return f"event {number} {_ACTIONS.get(action, f'action {action:#04x}')}"
