"""Forward, backward, optimizer: which part of a training step a moment belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.sides import HOST, side_of_tracks
from trace_format import CATEGORIES, Trace

Array = np.ndarray

BETWEEN, BACKWARD, OPTIMIZER, ZERO_GRAD, INPUT = range(5)
# How torch names them: torch/csrc/autograd/engine.cpp, torch/optim/optimizer.py, torch/utils/data/dataloader.py
_MARKS = {
    "autograd::engine::evaluate_function: ": BACKWARD,
    "Optimizer.step#": OPTIMIZER,
    "Optimizer.zero_grad#": ZERO_GRAD,
    "enumerate(DataLoader)#": INPUT,
}
_HOST_OP = CATEGORIES.index("host_op")
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Phases:
    """The phases of one process, which follow one another: marked ones, and what is between them.

    - `starts_ns`, `ends_ns`, `kinds`: the marked ones, in order of time.
    - `backward_ns`: where each backward pass begins, ascending.
    - `tracks`: the threads whose work they order: the one that runs the program, and those with marks.
    """

    starts_ns: Array
    ends_ns: Array
    kinds: Array
    backward_ns: Array
    tracks: Array

    def at(self, ts_ns: Array) -> tuple[Array, Array]:
        """The number of the phase of each moment, ascending with time, and its kind; `(n,) int64` both."""
        before = np.searchsorted(self.starts_ns, ts_ns, "right") - 1
        marked = (before >= 0) & (ts_ns < self.ends_ns[before]) if len(self.starts_ns) else np.zeros(len(ts_ns), bool)
        number = np.where(marked, 2 * before + 1, 2 * (before + 1))
        return number, np.where(marked, self.kinds[before] if len(self.kinds) else BETWEEN, BETWEEN)

    def backwards_begun(self, ts_ns: Array) -> Array:
        """How many backward passes have begun at each moment."""
        return np.searchsorted(self.backward_ns, ts_ns, "right")


def training_phases(trace: Trace) -> dict[tuple[int, int], Phases]:
    """The phases of each process that trains, by (rank, pid); a process without any mark of them is not in it.

    A backward pass lasts from its first operator to the last before the program's own thread does something else. An
    optimizer's step whose closure runs a backward pass begins after that.
    """
    tracks, slices, strings = trace.tracks, trace.slices, trace.pool.strings.values
    kind_of_name = np.array([_kind(text) for text in strings], np.int64)
    on_host = side_of_tracks(tracks) == HOST
    marks = np.flatnonzero((kind_of_name != BETWEEN)[slices.name])
    marks = marks[on_host[slices.track[marks]]]
    found: dict[tuple[int, int], Phases] = {}
    place = np.stack([tracks.rank.astype(np.int64), tracks.pid.astype(np.int64)], axis=1)
    for rank, pid in np.unique(place[np.unique(slices.track[marks])], axis=0).tolist():
        theirs = np.flatnonzero((place[:, 0] == rank) & (place[:, 1] == pid))
        in_process = np.zeros(len(tracks), bool)
        in_process[theirs] = True
        own = marks[in_process[slices.track[marks]]]
        ops = np.flatnonzero((slices.category == _HOST_OP) & in_process[slices.track])
        ops = ops[(kind_of_name[slices.name[ops]] != BACKWARD) | ~on_host[slices.track[ops]]]
        found[rank, pid] = _phases(trace, own, kind_of_name[slices.name[own]], ops)
    return found


def _kind(name: str) -> int:
    return next((kind for mark, kind in _MARKS.items() if name.startswith(mark)), BETWEEN)


def _phases(trace: Trace, marks: Array, kind: Array, ops: Array) -> Phases:
    slices = trace.slices
    order = np.argsort(slices.ts_ns[marks], kind="stable")
    marks, kind = marks[order], kind[order]
    starts = slices.ts_ns[marks]
    ends = np.where(slices.dur_ns[marks] < 0, _NEVER, starts + np.maximum(slices.dur_ns[marks], 0))
    busy = slices.track[ops]
    # in a backward pass on a thread of its own the program's thread waits, and has the more operators elsewhere
    main = int(np.argmax(np.bincount(busy))) if len(busy) else -1
    is_backward = kind == BACKWARD
    begun = np.sort(np.concatenate([starts[~is_backward], slices.ts_ns[ops[busy == main]]]))
    backward_starts, backward_ends = _merged(starts[is_backward], ends[is_backward], begun)
    starts, ends, kind = starts[~is_backward], ends[~is_backward], kind[~is_backward]
    if len(backward_starts):
        last = np.searchsorted(backward_starts, ends) - 1
        inside = (kind == OPTIMIZER) & (last >= 0) & (backward_starts[last] >= starts)
        starts = np.where(inside, np.minimum(backward_ends[last], ends), starts)
    starts = np.concatenate([starts, backward_starts])
    order = np.argsort(starts, kind="stable")
    starts = starts[order]
    ends = np.concatenate([ends, backward_ends])[order]
    ends = np.minimum(ends, np.r_[starts[1:], _NEVER])
    kinds = np.concatenate([kind, np.full(len(backward_starts), BACKWARD)])[order]
    some = ends > starts
    used = np.union1d(slices.track[marks], [main] if main >= 0 else [])
    return Phases(starts[some], ends[some], kinds[some], backward_starts, used.astype(np.int64))


def _merged(starts: Array, ends: Array, begun: Array) -> tuple[Array, Array]:
    """Intervals in order of start as fewer: two are one where nothing else has begun between them."""
    if len(starts) == 0:
        return starts, ends
    reach = np.maximum.accumulate(ends)
    apart = np.searchsorted(begun, starts[1:]) > np.searchsorted(begun, reach[:-1])
    first = np.flatnonzero(np.r_[True, apart & (starts[1:] > reach[:-1])])
    return starts[first], reach[np.r_[first[1:] - 1, len(starts) - 1]]
