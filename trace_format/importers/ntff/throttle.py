"""Throttle records: a slice for the time in which one limit held."""

from __future__ import annotations

import msgspec
import numpy as np

from trace_format.importers.ntff.container import THROTTLE, CoreTrace
from trace_format.importers.ntff.profile import Profile
from trace_format.importers.ntff.records import RECORD
from trace_format.importers.ntff.times import duration
from trace_format.tables import CATEGORIES

Array = np.ndarray

_UNKNOWN_BIT, _UNKNOWN_TYPE = 0x80, 99  # a state that the record does not tell; AWS shows it so
_LIMIT_MASK, _TYPE_SHIFT = 0x7F, 8


def add_throttling(profile: Profile, core: CoreTrace, end_ps: int) -> None:
    """Add a core's throttling; each limit holds until the next record, the last one until `end_ps`."""
    pending, times = np.zeros(0, RECORD), np.zeros(0, np.int64)
    for records in profile.records(core, THROTTLE):
        timed, since = profile.timed(records, core.throttle_clock)
        order = np.argsort(since, kind="stable")
        pending, times = np.concatenate((pending, timed[order])), np.concatenate((times, since[order]))
        _add(profile, core, pending[:-1], times[:-1], np.maximum(np.diff(times), 0))
        pending, times = pending[-1:], times[-1:]
    _add(profile, core, pending, times, np.maximum(end_ps - times, 0))


def _add(profile: Profile, core: CoreTrace, records: Array, since: Array, lasts: Array) -> None:
    if not len(records):
        return
    builder = profile.builder
    n = (records["head"] >> np.uint32(16) & np.uint32(0xFF)).astype(np.int64)
    states, which = np.unique(n << 32 | records["value"], return_inverse=True)
    told = [_state(state >> 32, state & 0xFFFFFFFF) for state in states.tolist()]
    names = [builder.string(f"limit {state['k']}/{state['n']}") for state in told]
    args = [builder.pool.arg_sets.id(msgspec.json.encode(state)) for state in told]
    builder["slices"].append(
        len(records),
        track=profile.tracks.throttle(core.core),
        name=np.array(names, np.uint32)[which],
        category=CATEGORIES.index("overhead"),
        args=np.array(args, np.uint32)[which],
        **profile.time.start(since),
        **duration(lasts),
    )


def _state(n: int, value: int) -> dict[str, int]:
    """The limit k/n and its cause, by the names of AWS's JSON."""
    if value & _UNKNOWN_BIT:
        return {"k": 1, "n": 1, "type": _UNKNOWN_TYPE}
    return {"k": value & _LIMIT_MASK, "n": n, "type": value >> _TYPE_SHIFT}
