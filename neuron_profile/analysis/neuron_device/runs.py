"""The runs of NEFFs that a trace tells of, and which of its rows belong to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from trace_format import CATEGORIES, TRACK_KINDS, Trace
from trace_format.importers.neuron_device.execution import Execution, execution_of
from trace_format.importers.neuron_device.tracks import EXECUTIONS

Array = np.ndarray

_PS_PER_NS = 1000
_ENGINE, _QUEUE, _THROTTLE, _ANNOTATION = (
    TRACK_KINDS.index(kind) for kind in ("engine", "dma_queue", "throttle", "device_annotation")
)
# Up to this version of the NTFF AWS's tool keeps rows that begin in the run and end after it; worked out from pairs of
# profiles and AWS's JSON of the same runs.
_LAST_VERSION_WITHOUT_END = 5
_FETCHING = "instruction"  # the class of the queues that fetch instructions
_LAST_OF_FETCH_BYTES = 4


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Slices of one kind of track in order of their start; columns `(n,) int64`.

    - `slice`, `track`: rows of those tables.
    - `start_ps`, `end_ps`: picoseconds since the run began.
    """

    slice: Array
    track: Array
    start_ps: Array
    end_ps: Array

    def __len__(self) -> int:
        return len(self.slice)

    def where(self, which: Array) -> Rows:
        """Those for which `which` (a mask or positions) holds."""
        return Rows(self.slice[which], self.track[which], self.start_ps[which], self.end_ps[which])

    def since(self, start_ps: int) -> Rows:
        """The same with times since `start_ps`."""
        return Rows(self.slice, self.track, self.start_ps - start_ps, self.end_ps - start_ps)

    @property
    def dur_ps(self) -> Array:
        return self.end_ps - self.start_ps


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run of a NEFF on a logical core, and its rows.

    - `slice`: the row of its slice; `start_ns` when it began, and `start_ps` picoseconds beyond that.
    - `name`, `rank`, `device`, `core`: of its profile; the numbers are -1 where the source does not tell.
    - `facts`: what the source says about it.
    - `cores`: the physical cores, ascending: those the facts name, else those that have tracks.
    - `packets`: all DMA packets; `counted_packets` those of them that AWS's tool counts.
    - `track_core`: the physical core of every track of the trace (-1: none), `(tracks,)`.
    """

    slice: int
    name: str
    group: int
    rank: int
    device: int
    core: int
    start_ns: int
    start_ps: int
    facts: Execution
    cores: tuple[int, ...]
    track_core: Array
    instructions: Rows
    packets: Rows
    counted_packets: Rows
    throttles: Rows

    @property
    def total_ps(self) -> int:
        return self.facts.total_time_ps


def runs_of(trace: Trace) -> tuple[Run, ...]:
    """The runs of a trace by rank, device, core and start. Empty where it has no profile of a Neuron device."""
    tracks = trace.tracks
    lines = [
        row
        for row in np.flatnonzero(tracks.kind == _ANNOTATION).tolist()
        if trace.pool.strings[int(tracks.name[row])] == EXECUTIONS and tracks.parent[row] >= 0
    ]
    found: list[Run] = []
    if lines:
        group_of = _groups(tracks.parent, [int(tracks.parent[row]) for row in lines])
        for line in lines:
            found += _of_profile(trace, line, group_of == tracks.parent[line])
    return tuple(sorted(found, key=lambda run: (run.rank, run.device, run.core, run.start_ns, run.start_ps)))


def _groups(parent: Array, groups: Sequence[int]) -> Array:
    """The one of `groups` around each track or at it, -1 for none; `(tracks,) int64`."""
    out = np.full(len(parent), -1, np.int64)
    out[list(groups)] = list(groups)
    # a profile is four levels deep; a foreign trace whose parents go in a circle ends here too
    for _ in range(len(parent)):
        open_rows = np.flatnonzero((out < 0) & (parent >= 0))
        new = out[parent[open_rows]]
        if not (new >= 0).any():
            break
        out[open_rows] = new
    return out


def _of_profile(trace: Trace, line: int, below: Array) -> list[Run]:
    """The runs on one Executions track; `below` marks the tracks of its profile."""
    slices, tracks = trace.slices, trace.tracks
    told: list[tuple[int, Execution]] = []
    for row in np.flatnonzero((slices.track == line) & (slices.category == CATEGORIES.index("annotation"))).tolist():
        try:
            told.append((row, execution_of(trace.pool.arg_sets[int(slices.args[row])])))
        except msgspec.MsgspecError:
            continue  # a slice that others put there
    if not told:
        return []
    origin_ns = int(slices.ts_ns[told[0][0]])
    rows = [_rows(trace, below & (tracks.kind == kind), origin_ns) for kind in (_ENGINE, _QUEUE, _THROTTLE)]
    starts = [(int(slices.ts_ns[row]) - origin_ns) * _PS_PER_NS + max(int(slices.ts_ps[row]), 0) for row, _ in told]
    cores = np.unique(tracks.core[below & np.isin(tracks.kind, (_ENGINE, _QUEUE))])
    fetch_start = _fetch_start(trace, rows[1])
    found = []
    for (row, facts), start, following in zip(told, starts, [*starts[1:], None], strict=True):
        end = start + facts.total_time_ps
        chosen = [_within(kind, start, end, following, facts) for kind in rows]
        instructions, packets, throttles = (
            kind.where(which).since(start) for kind, which in zip(rows, chosen, strict=True)
        )
        counted = packets
        if _has_end(facts):
            counted = packets.where(fetch_start[chosen[1]] >= start)
        found.append(
            Run(
                slice=row, name=trace.pool.strings[int(slices.name[row])], group=int(tracks.parent[line]),
                rank=int(tracks.rank[line]), device=int(tracks.device[line]), core=int(tracks.core[line]),
                start_ns=int(slices.ts_ns[row]), start_ps=max(int(slices.ts_ps[row]), 0), facts=facts,
                cores=tuple(facts.physical_cores or cores[cores >= 0].tolist()), track_core=tracks.core,
                instructions=instructions, packets=packets, counted_packets=counted, throttles=throttles,
            )
        )  # fmt: skip
    return found


def _rows(trace: Trace, of_tracks: Array, origin_ns: int) -> Rows:
    """The finished slices of these tracks in order of start, in picoseconds from `origin_ns`."""
    slices = trace.slices
    rows = np.flatnonzero(of_tracks[slices.track] & (slices.dur_ns >= 0)) if of_tracks.any() else np.zeros(0, np.int64)
    start = (slices.ts_ns[rows] - origin_ns) * _PS_PER_NS + np.maximum(slices.ts_ps[rows], 0)
    end = start + slices.dur_ns[rows] * _PS_PER_NS + np.maximum(slices.dur_ps[rows], 0)
    return Rows(rows, slices.track[rows].astype(np.int64), start, end).where(np.argsort(start, kind="stable"))


def _within(rows: Rows, start: int, end: int, following: int | None, facts: Execution) -> Array:
    """Positions of the rows of the run from `start` to `end`, as AWS's tool chooses them."""
    first = int(np.searchsorted(rows.start_ps, start))
    stop = len(rows) if following is None else int(np.searchsorted(rows.start_ps, following))
    mine = np.arange(first, stop)
    return mine[rows.end_ps[mine] <= end] if _has_end(facts) else mine


def _has_end(facts: Execution) -> bool:
    return facts.ntff_version is None or facts.ntff_version > _LAST_VERSION_WITHOUT_END


def _fetch_start(trace: Trace, packets: Rows) -> Array:
    """When the fetch that a packet of an instruction queue belongs to began; its own start for all others.

    A fetch ends with a packet of 4 bytes. AWS's tool leaves out those that began before the run: worked out from
    profiles and its JSON of the same runs.
    """
    out = packets.start_ps.copy()
    fetching = trace.slices.source_category[packets.slice] == trace.pool.strings.find(_FETCHING)
    for track in np.unique(packets.track[fetching]).tolist():
        mine = np.flatnonzero(fetching & (packets.track == track))
        last = trace.slices.bytes[packets.slice[mine]] == _LAST_OF_FETCH_BYTES
        first = np.r_[True, last[:-1]]
        out[mine] = out[mine][first][np.cumsum(first) - 1]
    return out
