"""Which rank the others wait for, and what it was busy with meanwhile."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from neuron_profile.analysis.collectives.arrivals import Arrivals
from neuron_profile.analysis.intervals import union_length
from neuron_profile.analysis.sides import DEVICE, HOST, side_of_tracks
from trace_format import CATEGORIES, Trace

Array = np.ndarray

NOTHING: Final = "(no operator running)"
_EXAMINED: Final = 4  # collectives: those in which the others waited longest
# As good an explanation as the best: what is inside another takes nearly as much time, and says more.
_NEARLY: Final = 0.8
_STEP = re.compile(r"ProfilerStep#\d+")
# The host waits: cudaStreamSynchronize, aten::item, c10d::barrier, _c10d_functional::wait_tensor, gloo's own spans.
_WAITS = re.compile(r".*[Ss]ynchronize|aten::(?:item|_local_scalar_dense)|_?c10d|gloo:|nccl:|record_param_comms")
_NOT_WORK = ("sync", "semaphore", "collective", "overhead")
_PLAIN = ("annotation", "python")  # say where, not what


@dataclass(frozen=True, slots=True)
class After:
    """What a rank spent more time in than the others, and how much more, in the collectives looked at."""

    what: str
    more_ns: int


@dataclass(frozen=True, slots=True)
class _Window:
    """The time of one rank from one collective of a group to its next, on its own clock."""

    rank: int
    begin_ns: int
    end_ns: int


def after(trace: Trace, found: Arrivals, rank: int) -> After | None:
    """What this rank was busy with before collectives to which it came last; None where the trace does not tell.

    From the end of the collective of the same group before (else from when on all were recorded) until each rank came:
    the own time of its slices by name, against the median of the other ranks; on its devices if that explains half of
    what it took longer, else on its host. Looked at are the few collectives in which the others waited longest.
    """
    lines = _Lines(trace)
    longer_ns = 0.0
    on_device: dict[str, float] = {}
    on_host: dict[str, float] = {}
    for windows in _before(found, rank):
        lengths = [window.end_ns - window.begin_ns for window in windows]
        longer_ns += lengths[0] - float(np.median(lengths[1:]))
        _add_extra(on_device, [lines.own_time(window, DEVICE) for window in windows])
        _add_extra(on_host, [lines.own_time(window, HOST) for window in windows])
    extra = on_device if max(on_device.values(), default=0) >= longer_ns / 2 else on_host
    most = max(extra.values(), default=0)
    if longer_ns <= 0 or most <= 0:
        return None
    good = [name for name, more in extra.items() if more >= _NEARLY * most]
    best = min(good, key=lambda name: (lines.says_little(name), -extra[name], name))
    return After(best, round(extra[best]))


def _add_extra(extra: dict[str, float], times: list[dict[str, int]]) -> None:
    """Add what the first of these has more than the median of the others."""
    for name in set().union(*times):
        usual = float(np.median([one.get(name, 0) for one in times[1:]]))
        extra[name] = extra.get(name, 0) + times[0].get(name, 0) - usual


def _before(found: Arrivals, rank: int) -> list[list[_Window]]:
    """The windows of all ranks, this one's first, before the collectives in which the others waited longest for it."""
    spans, of_span = found.spans, found.matches.of_span
    last = found.last_span[found.last_span >= 0]
    last = last[spans.rank[last] == rank]
    waited = np.zeros(len(found.matches), np.int64)
    known = found.blamed_ns >= 0
    np.add.at(waited, of_span[known], found.blamed_ns[known])
    previous = _previous(found)
    out: list[list[_Window]] = []
    for span in last[np.argsort(-waited[of_span[last]], kind="stable")].tolist():
        here = np.flatnonzero(of_span == of_span[span])
        here = np.r_[span, here[here != span]]
        if len(out) == _EXAMINED:
            break
        ranks = spans.rank[here].tolist()
        if (previous[here] >= 0).all():
            begins = spans.end_ns[previous[here]].tolist()
        else:
            recorded = int(found.recorded_ns[of_span[span]])
            begins = [recorded + found.clocks.offset_ns[who] for who in ranks]
        ends = spans.start_ns[here].tolist()
        out.append([_Window(*window) for window in zip(ranks, begins, np.maximum(begins, ends).tolist(), strict=True)])
    return out


def _previous(found: Arrivals) -> Array:
    """Of each span the one before it of the same rank and group, -1 for none; only complete collectives count."""
    spans = found.spans
    rows = np.flatnonzero(found.wait_ns >= 0)
    rows = rows[np.lexsort((spans.start_ns[rows], spans.groups.of_row[rows], spans.rank[rows]))]
    same = (spans.rank[rows[1:]] == spans.rank[rows[:-1]]) & (
        spans.groups.of_row[rows[1:]] == spans.groups.of_row[rows[:-1]]
    )
    out = np.full(len(spans), -1, np.int64)
    out[rows[1:][same]] = rows[:-1][same]
    return out


class _Lines:
    """The slices of each track in order of time."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        track = trace.slices.track
        in_order = bool((track[1:] >= track[:-1]).all())
        self._order = None if in_order else np.argsort(track, kind="stable")
        self._borders = np.searchsorted(track if self._order is None else track[self._order],
                                        np.arange(len(trace.tracks) + 1))  # fmt: skip
        self._side = side_of_tracks(trace.tracks)
        self._plain: set[str] = {NOTHING}

    def says_little(self, name: str) -> bool:
        """Whether a name says where time was spent, rather than with what."""
        return name in self._plain

    def own_time(self, window: _Window, side: int) -> dict[str, int]:
        """The own time of the slices of a rank in a window by name; on the host also that in which nothing ran."""
        trace, slices = self._trace, self._trace.slices
        sums: dict[str, int] = {}
        starts, ends = [], []
        on = (trace.tracks.rank == window.rank) & (self._side == side) & (np.diff(self._borders) > 0)
        for track in np.flatnonzero(on).tolist():
            rows, begin, end = self._clipped(track, window)
            own = end - begin
            at = np.searchsorted(rows, slices.parent[rows])
            inside = (at < len(rows)) & (slices.parent[rows] >= 0)
            inside[inside] = rows[at[inside]] == slices.parent[rows[inside]]
            np.subtract.at(own, at[inside], (end - begin)[inside])
            for row, length in zip(rows.tolist(), own.tolist(), strict=True):
                name, category = trace.pool.strings[slices.name[row]], CATEGORIES[slices.category[row]]
                if category in _NOT_WORK or _WAITS.match(name) or _STEP.match(name):
                    continue
                sums[name] = sums.get(name, 0) + length
                if category in _PLAIN:
                    self._plain.add(name)
            steps = np.array([bool(_STEP.match(trace.pool.strings[name])) for name in slices.name[rows].tolist()], bool)
            starts.append(begin[~steps])
            ends.append(end[~steps])
        if side == HOST and starts:
            covered = union_length(np.concatenate(starts), np.concatenate(ends))
            sums[NOTHING] = window.end_ns - window.begin_ns - covered
        return sums

    def _clipped(self, track: int, window: _Window) -> tuple[Array, Array, Array]:
        """The slices of a track in a window: rows, ascending, and their starts and ends inside it."""
        slices = self._trace.slices
        rows = np.arange(self._borders[track], self._borders[track + 1])
        rows = rows if self._order is None else self._order[rows]
        first, last = np.searchsorted(slices.ts_ns[rows], (window.begin_ns, window.end_ns))
        around = int(rows[first - 1]) if first else -1
        open_rows = []
        while around >= 0:
            open_rows.append(around)
            around = int(slices.parent[around])
        rows = np.unique(np.concatenate([np.array(open_rows, np.int64), rows[first:last]]))
        begin = np.clip(slices.ts_ns[rows], window.begin_ns, window.end_ns)
        end = np.clip(slices.ts_ns[rows] + np.maximum(slices.dur_ns[rows], 0), window.begin_ns, window.end_ns)
        some = end > begin
        return rows[some], begin[some], end[some]
