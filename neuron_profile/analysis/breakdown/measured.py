"""Where the time of each step went: compute, exposed collectives and copies, and idling by its cause."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuron_profile.analysis.breakdown.host import Hosts, HostTimes
from neuron_profile.analysis.breakdown.idle import idle_parts
from neuron_profile.analysis.breakdown.parts import PARTS, disjoint, parts_frame
from neuron_profile.analysis.collectives.arrivals import Arrivals, arrivals
from neuron_profile.analysis.intervals import covered_before, merged
from neuron_profile.analysis.launches.launching import launching_slice
from neuron_profile.analysis.sides import NEITHER, side_of_tracks
from neuron_profile.analysis.steps.steps import steps
from neuron_profile.analysis.work import (
    COLLECTIVE,
    COMPUTE,
    Intervals,
    by_device,
    device_work,
    joined,
    of_rank,
    operators,
    union_of,
)
from trace_format import Trace

Array = np.ndarray

_ANY = -2  # whatever the number of the device
_EMPTY: Intervals = (np.zeros(0, np.int64), np.zeros(0, np.int64))


def breakdown(trace: Trace) -> pd.DataFrame:
    """A row for each step of each device, in order of rank, device and start, whose parts sum to the step exactly.

    A step's window is that of `steps`; in each window of a device, by what happens first in this list:

    - compute_ns: the device computes;
    - exposed_collective_ns: it is in a collective and computes nothing; where the trace holds all ranks of the
      collective, without idle_peer_ns: it waits in it for the last rank to come (see `arrivals`);
    - exposed_copy_ns: it copies and does none of these;
    - the rest it idles. A gap ends with work that the host had launched. Up to its launch the cause is the host:
      idle_sync_ns (the host was waiting for the device to drain when the gap began), else while it compiled
      (idle_compile_ns) or loaded data (idle_data_loading_ns), else idle_host_ns: the queue was empty. From the launch
      on: idle_launch_ns. Where the launch is not known, and after the last work: idle_other_ns.

    A rank without measured device work has one row for each step, device -1: its operators are the compute, in a
    data loader they are data_loading_ns, in a compile of their own thread idle_compile_ns; collectives are those of the
    collectives table, and what asks for them or waits for them in an operator. Of the time without any of it that in
    which any thread compiled is idle_compile_ns, and the rest idle_host_ns, or idle_other_ns where no operator and no
    collective was recorded at all: nobody knows what that time was.
    Simulated tracks are not looked at.

    Columns: rank, device, step, name, start_ns, end_ns, total_ns, then `PARTS`; all int64 but name. Where the steps are
    of no rank but the trace is of several, each has them. `attrs`: found_by (as in `steps`).
    """
    found = steps(trace)
    kind = device_work(trace)
    devices = list(by_device(trace, np.flatnonzero(kind)))
    hosts, come = Hosts(trace), arrivals(trace)
    launched_by = launching_slice(trace) if devices else _EMPTY[0]
    frames = []
    for rank, mine in _steps_devices_ofs(trace, found):
        windows = disjoint(mine["start_ns"].to_numpy(), mine["end_ns"].to_numpy())
        host = hosts.of(rank)
        here = _devices_of(devices, rank)
        for device, rows in here.items():
            rows = rows[np.argsort(trace.slices.ts_ns[rows], kind="stable")]
            communicating = _Collectives.of(trace, come, (rank, device, True))
            lengths = _busy_parts(trace, rows, kind[rows], windows, communicating)
            lengths |= idle_parts(trace, rows, windows, launched_by, host)
            frames.append(parts_frame(mine, windows, rank, device, lengths, PARTS))
        if not here:
            communicating = _Collectives.of(trace, come, (rank, _ANY, False))
            lengths = _host_parts(windows, host, of_rank(operators(trace), rank), communicating)
            frames.append(parts_frame(mine, windows, rank, -1, lengths, PARTS))
    frame = pd.concat(frames, ignore_index=True) if frames else parts_frame(found, _EMPTY, -1, -1, {}, PARTS)
    frame.attrs["found_by"] = found.attrs["found_by"]
    return frame


def _steps_devices_ofs(trace: Trace, found: pd.DataFrame) -> Iterator[tuple[int, pd.DataFrame]]:
    """Each rank with its steps; those of no rank are each rank's own, where there are several."""
    for rank in sorted(set(found["rank"].tolist())):
        mine = found[found["rank"] == rank]
        ranks = np.unique(trace.tracks.rank[side_of_tracks(trace.tracks) != NEITHER]).tolist() if rank < 0 else []
        for one in ranks if len(ranks) > 1 and min(ranks) >= 0 else [rank]:
            yield one, mine


def _devices_of(devices: list[tuple[int, int, Array]], rank: int) -> dict[int, Array]:
    """The work of each device of a rank, -1 for any; rows in order."""
    found: dict[int, list[Array]] = {}
    for owner, device, rows in devices:
        if rank in (owner, -1):
            found.setdefault(device, []).append(rows)
    return {device: _ascending(found[device]) for device in sorted(found)}


def _ascending(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))


@dataclass(frozen=True, slots=True)
class _Collectives:
    """When a device or host was in collectives: `waiting` for the last rank, and otherwise; they may overlap."""

    moving: Intervals
    waiting: Intervals

    @staticmethod
    def of(trace: Trace, come: Arrivals, place: tuple[int, int, bool]) -> _Collectives:
        spans = come.spans
        rank, device, on_device = place
        here = (spans.on_device == on_device) & ((spans.rank == rank) | (rank < 0))
        here &= (spans.device == device) | (device == _ANY)
        pieces = np.flatnonzero(here[spans.piece_span])
        span, rows = spans.piece_span[pieces], spans.piece_slice[pieces]
        start = trace.slices.ts_ns[rows]
        end = start + trace.slices.dur_ns[rows]
        all_here = spans.start_ns[span] + np.maximum(come.wait_ns[span], 0)
        return _Collectives(merged(np.maximum(start, all_here), end), merged(start, np.minimum(end, all_here)))


def _busy_parts(
    trace: Trace, rows: Array, kind: Array, windows: Intervals, communicating: _Collectives
) -> dict[str, Array]:
    """What a device did in each window; its rows in order of time, and what kind of work each is."""
    compute = union_of(trace, rows[kind == COMPUTE])
    useful = joined(compute, union_of(trace, rows[kind == COLLECTIVE]))
    computes, uses = _length(windows, compute), _length(windows, useful)
    waits = _waiting(windows, compute, communicating)
    return {
        "compute_ns": computes, "exposed_collective_ns": uses - computes - waits, "idle_peer_ns": waits,
        "exposed_copy_ns": _length(windows, union_of(trace, rows)) - uses,
    }  # fmt: skip


def _host_parts(windows: Intervals, host: HostTimes, ops: Intervals, communicating: _Collectives) -> dict[str, Array]:
    """The parts of a rank whose operators are the work itself."""
    loading = _length(windows, host.loading)
    own = joined(host.loading, host.compiling_itself)
    compiles = _length(windows, own)
    own = joined(own, ops)
    computes = _length(windows, own)
    waits = _waiting(windows, own, communicating)
    collectives = joined(communicating.moving, communicating.waiting, host.collectives)
    everything = _length(windows, joined(own, collectives))
    waited_for = _length(windows, joined(own, collectives, host.compiling)) - everything
    rest = "idle_host_ns" if len(ops[0]) or len(collectives[0]) else "idle_other_ns"
    return {
        "data_loading_ns": loading, "idle_compile_ns": compiles - loading + waited_for,
        "compute_ns": computes - compiles,
        "exposed_collective_ns": everything - computes - waits, "idle_peer_ns": waits,
        rest: windows[1] - windows[0] - everything - waited_for,
    }  # fmt: skip


def _waiting(windows: Intervals, before: Intervals, communicating: _Collectives) -> Array:
    """How long it did nothing but wait for a rank, in no other collective and not at what goes `before`."""
    if not len(communicating.waiting[0]):
        return np.zeros(len(windows[0]), np.int64)
    moving = joined(before, communicating.moving)
    return _length(windows, joined(moving, communicating.waiting)) - _length(windows, moving)


def _length(windows: Intervals, one: Intervals) -> Array:
    """How long each window is covered."""
    return covered_before(windows[1], *one) - covered_before(windows[0], *one)
