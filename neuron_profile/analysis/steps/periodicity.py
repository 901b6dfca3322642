"""Steps that nobody marked, found by what repeats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.derived import kept_with_the_trace
from neuron_profile.analysis.sides import ANNOTATION, DEVICE, HOST, side_of_slices
from trace_format import CATEGORIES, Trace

Array = np.ndarray

_HOST_OP, _PYTHON = CATEGORIES.index("host_op"), CATEGORIES.index("python")
_DEVICE_WORK = [CATEGORIES.index(category) for category in ("compute", "collective")]
_OPTIMIZER = "Optimizer.step#"  # how torch.optim marks its steps: "Optimizer.step#SGD.step"
_MODULE = "nn.Module: "
# What makes a repetition one of steps: chosen so that the public traces in which a loop of steps was recorded have
# theirs, and those of a single step, whose layers repeat, have none.
_FEWEST = 3  # repetitions: two may look alike by chance
_FEWEST_NAMES = 3  # that occur once in each: a single operator that repeats is a loop of its own, not a step
_REGULAR = 0.25  # distances may differ from the median one by so much of it
_MOST = 0.9  # of the distances, and of the repetitions
_ALIKE = 0.8  # what two repetitions have in common, as a share of both
_RECURRING = 0.8  # of the names: what was recorded is the repetition and little else
_COVERED = 0.5  # of the time from the first operation to the last
_MOST_CANDIDATES = 16
_MOST_ROWS = 500_000  # looked at, those of rare names first
_MOST_CELLS = 1 << 24


@dataclass(frozen=True, slots=True)
class Periods:
    """Repetitions of one process or device, in order: `(n,) int64` starts and ends, and the name of what marks them."""

    rank: int
    mark: str
    start_ns: Array
    end_ns: Array


@kept_with_the_trace
def periods(trace: Trace) -> tuple[Periods, ...]:
    """The steps of each process that repetition shows; for a rank without host operators, those of its devices.

    A step ends where torch's optimizers end theirs; else it begins at an operation that occurs at nearly equal
    distances. Either counts only if nearly everything recorded repeats with it: at least `_FEWEST` repetitions (2 of
    an optimizer), in `_MOST` of which the same operations occur as often; `_RECURRING` of all operations occur in
    each; no nn.Module lasts over several of them, as it does where layers repeat within a step. Of several such
    repetitions the longest counts. At least `_FEWEST_NAMES` operations must occur once in each. Empty where none is
    sure.
    """
    found = []
    for rank, rows in _processes(trace):
        work = _Work.of(trace, rows)
        if len(work.counts) < _FEWEST_NAMES:
            continue
        best = _by_optimizer(trace, rank, work) or _by_operation(trace, rank, work)
        if best is not None:
            found.append(best)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Work:
    """The operations of one process: rows, the number of each one's name, how often each name occurs, which it is."""

    rows: Array
    name: Array
    counts: Array
    names: Array
    tracks: Array
    first_ns: int
    last_ns: int

    @classmethod
    def of(cls, trace: Trace, rows: Array) -> _Work:
        slices = trace.slices
        ids = slices.name[rows]
        counts = np.bincount(ids, minlength=len(trace.pool.strings))
        names = np.flatnonzero(counts)
        number = np.zeros(len(counts), np.int64)
        number[names] = np.arange(len(names))
        ts_ns = slices.ts_ns[rows]
        end_ns = int((ts_ns + slices.dur_ns[rows]).max())
        return cls(rows, number[ids], counts[names], names, np.unique(slices.track[rows]), int(ts_ns.min()), end_ns)


def _processes(trace: Trace) -> Iterator[tuple[int, Array]]:
    """Rank and rows of finished operations of each process, or of the devices of a rank without any on the host."""
    slices, tracks = trace.slices, trace.tracks
    side = side_of_slices(trace)
    finished = slices.dur_ns >= 0
    on_host = np.flatnonzero((slices.category == _HOST_OP) & (side == HOST) & finished)
    rank_of, pid_of = tracks.rank[slices.track[on_host]], tracks.pid[slices.track[on_host]]
    tracks_used = np.unique(slices.track[on_host])
    for rank, pid in sorted({(int(tracks.rank[t]), int(tracks.pid[t])) for t in tracks_used.tolist()}):
        yield rank, on_host[(rank_of == rank) & (pid_of == pid)]
    on_device = np.flatnonzero(np.isin(slices.category, _DEVICE_WORK) & (side == DEVICE) & finished)
    rank_of = tracks.rank[slices.track[on_device]]
    for rank in np.setdiff1d(rank_of, tracks.rank[tracks_used]).tolist():
        yield rank, on_device[rank_of == rank]


def _by_optimizer(trace: Trace, rank: int, work: _Work) -> Periods | None:
    slices, strings = trace.slices, trace.pool.strings
    rows = np.flatnonzero((slices.category == ANNOTATION) & (slices.dur_ns >= 0))
    rows = rows[np.isin(slices.track[rows], work.tracks)]
    used = np.unique(slices.name[rows])
    marks = [name for name in used.tolist() if strings[name].startswith(_OPTIMIZER)]
    rows = rows[np.isin(slices.name[rows], marks)]
    if len(rows) < 2:
        return None
    ends = np.sort(slices.ts_ns[rows] + slices.dur_ns[rows])
    borders = np.r_[min(work.first_ns, int(ends[0]) - 1), ends]
    alike = _alike(trace, work, borders)
    if alike is None or not alike[1:].all():
        return None
    first = 0 if alike[0] else 1
    name = strings[int(slices.name[rows[0]])]
    return Periods(rank, name, borders[first:-1], borders[first + 1 :]) if len(ends) - first >= 2 else None


def _by_operation(trace: Trace, rank: int, work: _Work) -> Periods | None:
    often = np.unique(work.counts[work.counts >= _FEWEST])
    tried = 0
    for times in often.tolist():
        marks = np.flatnonzero(work.counts == times)
        each = np.rint(work.counts / times)
        repeats = (each >= 1) & (np.abs(work.counts - each * times) <= each)  # the first or last may be cut off
        if repeats.mean() < _RECURRING or len(marks) < _FEWEST_NAMES:
            continue
        if len(marks) * times > _MOST_ROWS or tried == _MOST_CANDIDATES:
            return None
        tried += 1
        found = _at_marks(trace, rank, work, marks, times)
        if found is not None:
            return found
    return None


def _at_marks(trace: Trace, rank: int, work: _Work, marks: Array, times: int) -> Periods | None:
    """The repetitions that begin at one of the names `marks`, all of which occur so many times."""
    slices = trace.slices
    is_mark = np.zeros(len(work.counts), bool)
    is_mark[marks] = True
    at = np.flatnonzero(is_mark[work.name])
    ts_ns = slices.ts_ns[work.rows[at]]
    begins = ts_ns[np.lexsort((ts_ns, work.name[at]))].reshape(len(marks), times)
    distance = np.diff(begins, axis=1)
    usual = np.median(distance, axis=1)[:, None]
    regular = (np.abs(distance - usual) <= _REGULAR * usual).mean(axis=1) >= _MOST
    regular &= usual[:, 0] > 0
    if not regular.any():
        return None
    chosen = np.flatnonzero(regular)[np.argmin(begins[regular, 0])]
    start = begins[chosen]
    # the last one lasts as long as the longest at most, and no longer than there is work
    end = min(int(start[-1] + distance[chosen].max()), work.last_ns)
    borders = np.r_[start, max(end, int(start[-1]) + 1)]
    alike = _alike(trace, work, borders)
    if alike is None or alike[:-1].mean() < _MOST:
        return None
    last = len(borders) if alike[-1] else len(borders) - 1
    borders = borders[:last]
    if len(borders) <= _FEWEST or borders[-1] - borders[0] < _COVERED * (work.last_ns - work.first_ns):
        return None
    return Periods(rank, trace.pool.strings[int(work.names[marks[chosen]])], borders[:-1], borders[1:])


def _alike(trace: Trace, work: _Work, borders: Array) -> Array | None:
    """Of each part between two borders whether it is like the others; None where what was recorded does not repeat."""
    slices, parts = trace.slices, len(borders) - 1
    if len(work.counts) * parts > _MOST_CELLS or _inside_modules(trace, work, borders):
        return None
    rare = np.argsort(work.counts, kind="stable")
    looked_at = np.zeros(len(work.counts), bool)
    looked_at[rare[: max(1, int(np.searchsorted(np.cumsum(work.counts[rare]), _MOST_ROWS, "right")))]] = True
    rows = np.flatnonzero(looked_at[work.name]) if not looked_at.all() else np.arange(len(work.rows))
    part = np.searchsorted(borders, slices.ts_ns[work.rows[rows]], "right") - 1
    inside = (part >= 0) & (part < parts)
    cells = np.bincount(work.name[rows[inside]] * parts + part[inside], minlength=len(work.counts) * parts)
    times = cells.reshape(-1, parts)[looked_at]
    in_all_but_the_ends = (times > 0).sum(axis=1) >= min(parts - 1, _MOST * parts)
    if in_all_but_the_ends.mean() < _RECURRING:
        return None
    usual = np.median(times, axis=1)[:, None]
    return np.asarray(1 - np.abs(times - usual).sum(axis=0) / np.maximum((times + usual).sum(axis=0), 1) >= _ALIKE)


def _inside_modules(trace: Trace, work: _Work, borders: Array) -> bool:
    """Whether a call of an nn.Module lasts over more than one of the borders."""
    slices, strings = trace.slices, trace.pool.strings.values
    rows = np.flatnonzero((slices.category == _PYTHON) & (slices.dur_ns >= 0))
    if len(rows) == 0:
        return False
    used = np.unique(slices.name[rows])
    modules = np.zeros(len(strings), bool)
    modules[[name for name in used.tolist() if strings[name].startswith(_MODULE)]] = True
    rows = rows[modules[slices.name[rows]]]
    rows = rows[np.isin(slices.track[rows], work.tracks)]
    start = slices.ts_ns[rows]
    inside = np.searchsorted(borders, start + slices.dur_ns[rows], "left") - np.searchsorted(borders, start, "right")
    return bool((inside > 1).any())
