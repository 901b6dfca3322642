"""Which thread of the host made another go on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.critical_path import kinds
from neuron_profile.analysis.critical_path.host_lanes import HostLanes
from neuron_profile.analysis.critical_path.sorted_keys import is_in
from trace_format import Trace

Array = np.ndarray

# How many pauses of other threads are looked at, last first, for the one that a thread waited for.
_MOST_LOOKS = 8
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Causes:
    """Moments of one thread at which another goes on, as keys of `HostLanes`.

    - `source`: the moment on the thread that is the cause, `(n,) int64`.
    - `woken`: the same moment on the thread that waited; what it did from then on it did itself.
    """

    source: Array
    woken: Array


def causes(trace: Trace, lanes: HostLanes) -> Causes:
    """What ended the pieces in which a thread may have waited for another; one cause at most for each.

    Such a piece (no slice, only an annotation around, or a Python frame that waits) ends because of the latest of:
    - an arrow from a slice of another thread to the slice that begins there;
    - a pause of another thread of the process that begins in the piece and lasts to its end: it handed over, as the
      program's thread and autograd's do.
    Where neither is there and the piece is a thread's first, and empty: what its process's busiest thread did then.
    """
    quiet_piece = kinds.waits_for_others(trace, lanes.row)
    quiet = np.flatnonzero(quiet_piece)
    arrows, pauses = _arrows(trace, lanes)[quiet], _pauses(lanes, quiet, quiet_piece)
    source = np.where(_moment(lanes, arrows) >= _moment(lanes, pauses), arrows, pauses)
    lane = lanes.lane
    first = np.r_[True, lane[1:] != lane[:-1]][: len(lane)]
    alone = (source < 0) & first[quiet] & (lanes.row[quiet] < 0)
    source[alone] = _busiest_then(lanes, quiet[alone], quiet_piece)
    known = source >= 0
    woken = lane[quiet[known]] * lanes.stride + _moment(lanes, source[known])
    return Causes(source[known], woken)


def _moment(lanes: HostLanes, key: Array) -> Array:
    """Nanoseconds since the window began; -1 for no key."""
    return np.where(key >= 0, key % lanes.stride, -1)


def _arrows(trace: Trace, lanes: HostLanes) -> Array:
    """For each piece the latest moment, inside it, of another thread that an arrow says was the cause of its end."""
    found = np.full(len(lanes.row), -1, np.int64)
    slices, flows, window = trace.slices, trace.flows, lanes.window
    arrows = np.flatnonzero((flows.from_slice >= 0) & (flows.to_slice >= 0))
    if len(arrows) == 0 or len(found) == 0:
        return found
    cause, effect = flows.from_slice[arrows], flows.to_slice[arrows]
    from_lane, to_lane = lanes.lane_of_track[slices.track[cause]], lanes.lane_of_track[slices.track[effect]]
    begins = slices.ts_ns[effect]
    ends = slices.ts_ns[cause] + np.maximum(slices.dur_ns[cause], 0)
    at_ns = np.where(ends <= begins, ends, slices.ts_ns[cause])
    good = (from_lane >= 0) & (to_lane >= 0) & (from_lane != to_lane) & (at_ns <= begins)
    good &= (at_ns >= window.start_ns) & (begins <= window.end_ns)
    source, to_key = lanes.key(from_lane[good], at_ns[good]), lanes.key(to_lane[good], begins[good])
    piece = np.minimum(np.searchsorted(lanes.end, to_key), len(found) - 1)
    inside = (lanes.end[piece] == to_key) & (_moment(lanes, source) > _moment(lanes, lanes.start[piece]))
    piece, source = piece[inside], source[inside]
    order = np.argsort(_moment(lanes, source), kind="stable")  # of several the latest is written last
    found[piece[order]] = source[order]
    return found


def _pauses(lanes: HostLanes, quiet: Array, quiet_piece: Array) -> Array:
    """For each of the quiet pieces the end of another thread's work in it, if that pauses to the piece's end."""
    found = np.full(len(quiet), -1, np.int64)
    lane = lanes.lane
    busy = np.flatnonzero(~quiet_piece)
    if len(busy) == 0 or len(quiet) == 0:
        return found
    goes_on = np.r_[lanes.end[busy[:-1]] == lanes.start[busy[1:]], False]
    again = np.r_[np.where(lane[busy[1:]] == lane[busy[:-1]], _moment(lanes, lanes.start[busy[1:]]), _NEVER), _NEVER]
    last, again = busy[~goes_on], again[~goes_on]
    pause_ns = lanes.end[last] - lane[last] * lanes.stride
    process = np.unique(lanes.pid_of_lane, return_inverse=True)[1].reshape(-1)
    key = process[lane[last]] * lanes.stride + pause_ns
    order = np.argsort(key, kind="stable")
    last, again, pause_ns, key = last[order], again[order], pause_ns[order], key[order]
    begin_ns = lanes.start[quiet] - lane[quiet] * lanes.stride
    end_ns = lanes.end[quiet] - lane[quiet] * lanes.stride
    at = np.searchsorted(key, process[lane[quiet]] * lanes.stride + end_ns, "right") - 1
    open_ones = np.arange(len(quiet))
    for _ in range(_MOST_LOOKS):
        here = at[open_ones]
        inside = (here >= 0) & (process[lane[last[here]]] == process[lane[quiet[open_ones]]])
        inside &= pause_ns[here] > begin_ns[open_ones]
        open_ones, here = open_ones[inside], here[inside]
        fits = (lane[last[here]] != lane[quiet[open_ones]]) & (again[here] >= end_ns[open_ones])
        found[open_ones[fits]] = lanes.end[last[here[fits]]]
        open_ones = open_ones[~fits]
        at[open_ones] -= 1
    return found


def _busiest_then(lanes: HostLanes, pieces: Array, quiet_piece: Array) -> Array:
    """The moment at which each piece ends on the busiest thread of its process; -1 where that is its own or is over."""
    count = len(lanes.pid_of_lane)
    busy_ns = np.bincount(lanes.lane, np.where(quiet_piece, 0, lanes.end - lanes.start), minlength=count)
    order = np.argsort(busy_ns, kind="stable")
    busiest = dict(zip(lanes.pid_of_lane[order].tolist(), order.tolist(), strict=True))  # the last one stays
    lane = lanes.lane[pieces]
    best = np.array([busiest[pid] for pid in lanes.pid_of_lane[lane].tolist()], np.int64)
    then = (best - lane) * lanes.stride + lanes.end[pieces]
    there = (best != lane) & ((lanes.piece_at(then) >= 0) | is_in(then, lanes.end))
    return np.where(there, then, -1)
