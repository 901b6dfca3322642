"""Where the host waited for a device, and one stream for another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.critical_path import kinds
from neuron_profile.analysis.critical_path.device_work import DeviceWork, last_ended_by
from neuron_profile.analysis.critical_path.host_lanes import HostLanes
from neuron_profile.analysis.critical_path.sync_records import LaunchOrder, SyncRecords, whole_number
from neuron_profile.analysis.launches.enclosing import Enclosing
from trace_format import CATEGORIES, Trace

Array = np.ndarray

_RUNTIME, _HOST_OP = (CATEGORIES.index(c) for c in ("runtime", "host_op"))


@dataclass(frozen=True, slots=True)
class Waits:
    """Waits that a trace tells of.

    - `call`, `work`: rows of calls that return when a device is done, and the work (a position in `DeviceWork`) that
      they waited for.
    - `before`, `after`: works (positions) of which the second waits for an event that follows the first.
    - `untold`: records of waits between streams that do not say what was waited for.
    """

    call: Array
    work: Array
    before: Array
    after: Array
    untold: int


def waits(trace: Trace, lanes: HostLanes, work: DeviceWork) -> Waits:
    """The waits in the window: those of calls, by name and by record, and those of streams for events, by record."""
    calls = _blocking_calls(trace, lanes)
    records, order = SyncRecords(trace, lanes.window), LaunchOrder(trace, work)
    found = _waited_for(trace, lanes, work, calls, records, order)
    copies = _copies_inside_their_call(trace, work)
    pairs, untold = [], 0
    for told in records.between_streams:
        event_ns = records.event_ns(told)
        before = order.last_before((told["device"], whole_number(told, "wait_on_stream")), event_ns)
        after = order.first_after((told["device"], whole_number(told, "stream")), records.call_ns(told))
        untold += event_ns is None
        if before >= 0 and after >= 0:
            pairs.append((before, after))
    between = np.array(pairs, np.int64).reshape(-1, 2)
    known = found >= 0
    return Waits(
        np.concatenate([calls[known], work.launch[copies]]), np.concatenate([found[known], copies]),
        between[:, 0], between[:, 1], untold,
    )  # fmt: skip


def _blocking_calls(trace: Trace, lanes: HostLanes) -> Array:
    """Rows of calls that return when the device is done; an operator only where its call was not recorded."""
    slices = trace.slices
    there = np.zeros(len(slices), bool)
    there[lanes.row[lanes.row >= 0]] = True
    rows = np.flatnonzero(there & (slices.dur_ns > 0))
    is_call = (slices.category[rows] == _RUNTIME) & kinds.named(trace, kinds.BLOCKING_CALL)[slices.name[rows]]
    is_operator = (slices.category[rows] == _HOST_OP) & kinds.named(trace, kinds.BLOCKING_OPERATOR)[slices.name[rows]]
    calls, operators = rows[is_call], rows[is_operator]
    if len(operators) == 0:
        return calls
    with_a_call = Enclosing(slices, operators).innermost(calls)
    return np.sort(np.concatenate([calls, np.setdiff1d(operators, with_a_call)]))


def _waited_for(
    trace: Trace, lanes: HostLanes, work: DeviceWork, calls: Array, records: SyncRecords, order: LaunchOrder
) -> Array:
    """The work that each call waited for, -1 for none.

    Of an event it is the last work launched before that. Of a stream, of a device, and (where nothing was told) of all,
    it is the last to end before the call did.
    """
    slices, tracks = trace.slices, trace.tracks
    end_ns = np.minimum(slices.ts_ns[calls] + slices.dur_ns[calls], lanes.window.end_ns)
    found = np.full(len(calls), -1, np.int64)
    stream, device = found.copy(), found.copy()
    of_event = np.zeros(len(calls), bool)
    for i, correlation in enumerate(slices.correlation[calls].tolist()):
        told = records.of_call.get(correlation)
        if told is None:
            continue
        kind = told.get("cuda_sync_kind")
        if kind == "Event Sync":
            on = (told["device"], whole_number(told, "wait_on_stream"))
            found[i], of_event[i] = order.last_before(on, records.event_ns(told)), True
        elif kind == "Stream Sync":
            stream[i] = order.tracks.get((told["device"], whole_number(told, "stream")), -1)
        else:
            device[i] = told["device"]
    rest = ~of_event & (stream < 0) & (device < 0)
    all_as_one = np.zeros(len(work), np.int64)
    for chosen, group, of in (
        (stream >= 0, work.track, stream), (device >= 0, tracks.device.astype(np.int64)[work.track], device),
        (rest, all_as_one, np.zeros(len(calls), np.int64)),
    ):  # fmt: skip
        if chosen.any():
            found[chosen] = last_ended_by(work, group, of[chosen], end_ns[chosen])
    return found


def _copies_inside_their_call(trace: Trace, work: DeviceWork) -> Array:
    """Copies (positions) that ended before the call returned that asked for them: it waited."""
    slices = trace.slices
    launched = np.flatnonzero(work.launch >= 0)
    call = work.launch[launched]
    copies = kinds.device_kinds(slices.category[work.row[launched]]) == kinds.COPY
    copies &= kinds.named(trace, kinds.COPYING_CALL)[slices.name[call]]
    copies &= work.end_ns[launched] <= slices.ts_ns[call] + slices.dur_ns[call]
    return launched[copies]
