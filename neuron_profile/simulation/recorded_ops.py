"""Which of the recorded operators a NeuronCore would have run, and in which NEFFs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from neuron_profile.simulation.lowering import TRITON, Target, generic, lacks_shapes, lower
from neuron_profile.simulation.work import Work
from trace_format import CATEGORIES, Trace
from trace_format.nesting import nest
from trace_format.row_order import by_number

Array = np.ndarray

_HOST_OP, _ANNOTATION = CATEGORIES.index("host_op"), CATEGORIES.index("annotation")
# A call of a compiled graph: AOTAutograd's functions, and inductor's graphs. Dynamo's own region encloses these; where
# it encloses none (a backend of one's own), it stands for the graph itself.
_GRAPH = re.compile(r"CompiledFunction(Backward)?|## Call CompiledFxGraph .*")
_REGION = re.compile(r"Torch-Compiled Region: .*")
# Steps are counted in tensors of one element that torch keeps on the host (torch/optim/adamw.py: "host-device sync").
_OPTIMIZER = "Optimizer.step#"
_SINGLE_BYTES = 16  # two numbers of eight bytes
# what makes the host wait for the device
_SYNCS = frozenset({"aten::_local_scalar_dense", "aten::item", "aten::is_nonzero", "aten::nonzero"})


@dataclass(frozen=True, slots=True, eq=False)
class RecordedOps:
    """Operators in the order in which the host asked for them, those of a graph together; columns `(n,)`.

    - `slice`: their rows; `ts_ns` when the host began with them, or with the graph they are in.
    - `work`: index into `works`, which has one entry for each operator name, argument set and mode.
    - `graph`: the row of the slice that called the compiled graph they are in, -1 for none.
    - `after_sync`: whether the host waited for the device since the operator before.
    - `without_shapes`: how many operators were recorded without shapes, or with some that no machine holds.
    """

    slice: Array
    ts_ns: Array
    work: Array
    graph: Array
    after_sync: Array
    works: tuple[Work, ...]
    calls: tuple[tuple[str, bytes], ...]
    without_shapes: int = 0

    def __len__(self) -> int:
        return len(self.slice)

    def of_rows(self, rows: Array) -> RecordedOps:
        """Those whose slice is among `rows`, a mask over all slices."""
        mine = rows[self.slice]
        return RecordedOps(
            self.slice[mine], self.ts_ns[mine], self.work[mine], self.graph[mine], self.after_sync[mine], self.works,
            self.calls, self.without_shapes,
        )  # fmt: skip


def recorded_ops(trace: Trace, target: Target, compiled: Target) -> RecordedOps:
    """The outermost operators that have a rule, and those without one inside which none has: not what they call.

    `compiled` is the target of those inside a compiled graph.
    """
    rows, parent, depth = _nested(trace)
    slices, pool = trace.slices, trace.pool
    name, args = slices.name[rows].astype(np.int64), slices.args[rows].astype(np.int64)
    levels = _levels(depth)
    graph = _graphs(trace, rows, name, parent, levels)
    key = (name * len(pool.arg_sets) + args) * 2 + (graph >= 0)
    distinct, of_row = np.unique(key, return_inverse=True)
    signatures = _Signatures(trace, distinct, target, compiled)
    on_host = signatures.single[of_row] & _covered(_named(trace, name, _is_optimizer_step), parent, levels)
    known, moves = signatures.known[of_row] & ~on_host, signatures.moves[of_row] & ~on_host
    chosen = _outermost(known, parent, levels)
    inside = _covered(chosen, parent, levels)
    has_known = _above(known, parent, levels)
    others = _outermost(moves & ~known & ~has_known & ~inside, parent, levels)
    picked = np.flatnonzero(chosen | others)
    asked = np.where(graph[picked] >= 0, graph[picked], picked)  # the graph's call, or the operator itself
    asked_ns = slices.ts_ns[rows[asked]]
    by_time = np.lexsort((slices.ts_ns[rows[picked]], asked, asked_ns))
    order, ts_ns = picked[by_time], asked_ns[by_time]
    graph_rows = np.where(graph[order] >= 0, rows[np.maximum(graph[order], 0)], -1)
    used, number = np.unique(signatures.number[of_row[order]], return_inverse=True)
    waits = rows[~on_host][_named(trace, name[~on_host], _SYNCS.__contains__)]
    return RecordedOps(
        rows[order], ts_ns, number, graph_rows, _after_wait(trace, waits, rows[order], ts_ns),
        tuple(signatures.works[at] for at in used.tolist()), tuple(signatures.calls[at] for at in used.tolist()),
        int(signatures.without_shapes[of_row].sum()),
    )  # fmt: skip


def _nested(trace: Trace) -> tuple[Array, Array, Array]:
    """The finished host operators and annotations: their rows, and who lies directly around each among them."""
    slices = trace.slices
    wanted = np.isin(slices.category, (_HOST_OP, _ANNOTATION)) & (slices.dur_ns >= 0)
    wanted &= ~trace.tracks.simulated[slices.track].astype(bool)
    rows = np.flatnonzero(wanted)
    found = nest(slices.track[rows], slices.ts_ns[rows], slices.dur_ns[rows])
    return rows, found.parent.astype(np.int64), found.depth


class _Signatures:
    """What each distinct (name, argument set, in a graph or not) is; columns over `distinct`."""

    def __init__(self, trace: Trace, distinct: Array, target: Target, compiled: Target) -> None:
        pool = trace.pool
        self.known, self.moves, self.without_shapes, self.single = np.zeros((4, len(distinct)), bool)
        self.number = np.full(len(distinct), -1, np.int64)
        self.works: list[Work] = []
        self.calls: list[tuple[str, bytes]] = []
        for at, key in enumerate(distinct.tolist()):
            pair, in_graph = divmod(key, 2)
            name, args = divmod(pair, len(pool.arg_sets))
            text, arg_set = pool.strings[name], pool.arg_sets[args]
            if "::" not in text and not text.startswith(TRITON):
                continue
            where = compiled if in_graph else target
            work = lower(text, arg_set, where)
            self.known[at] = work is not None
            if work is None:
                work = generic(text, arg_set, where)
                self.moves[at] = work is not None
                self.without_shapes[at] = work is None and lacks_shapes(text, arg_set)
            if work is not None:
                self.single[at] = max(work.read_bytes, work.written_bytes) <= _SINGLE_BYTES
                self.number[at] = len(self.works)
                self.works.append(work)
                self.calls.append((text, arg_set))


def _graphs(trace: Trace, rows: Array, name: Array, parent: Array, levels: Sequence[Array]) -> Array:
    """For each row the position of the graph call it is in, -1 for none."""
    is_graph = _named(trace, name, lambda text: _GRAPH.fullmatch(text) is not None)
    is_region = _named(trace, name, lambda text: _REGION.fullmatch(text) is not None)
    if not is_graph.any() and not is_region.any():
        return np.full(len(rows), -1, np.int64)
    is_region &= ~_above(is_graph | is_region, parent, levels)
    own = np.where(_outermost(is_graph | is_region, parent, levels), np.arange(len(rows)), -1)
    for level in levels:
        inherits = level[(own[level] < 0) & (parent[level] >= 0)]
        own[inherits] = own[parent[inherits]]
    return own


def _named(trace: Trace, name: Array, fits: Callable[[str], bool]) -> Array:
    """Which of these string ids have a text that fits."""
    strings = trace.pool.strings
    return np.isin(name, [one for one in np.unique(name).tolist() if fits(strings[one])])


def _is_optimizer_step(text: str) -> bool:
    return text.startswith(_OPTIMIZER)


def _levels(depth: Array) -> list[Array]:
    """The positions at each depth, from the outermost on."""
    order, bounds = by_number(depth)
    return [order[begin:end] for begin, end in pairwise(bounds.tolist())] if len(depth) else []


def _covered(marked: Array, parent: Array, levels: Sequence[Array]) -> Array:
    """Whether something marked lies around each."""
    out = np.zeros(len(marked), bool)
    for level in levels[1:]:
        around = parent[level]
        out[level] = (around >= 0) & (out[around] | marked[around])
    return out


def _outermost(marked: Array, parent: Array, levels: Sequence[Array]) -> Array:
    return marked & ~_covered(marked, parent, levels)


def _above(marked: Array, parent: Array, levels: Sequence[Array]) -> Array:
    """Whether something marked lies inside each."""
    out = np.zeros(len(marked), bool)
    for level in reversed(levels):
        inner = level[(marked[level] | out[level]) & (parent[level] >= 0)]
        out[parent[inner]] = True
    return out


def _after_wait(trace: Trace, waits: Array, rows: Array, ts_ns: Array) -> Array:
    """Whether the host waited for the device between each operator and the one before of its rank."""
    slices, rank_of = trace.slices, trace.tracks.rank
    out = np.zeros(len(rows), bool)
    ends, of_wait = slices.ts_ns[waits] + slices.dur_ns[waits], rank_of[slices.track[waits]]
    of_row = rank_of[slices.track[rows]]
    for rank in np.unique(of_wait).tolist():
        mine = np.flatnonzero(of_row == rank)
        before = np.searchsorted(np.sort(ends[of_wait == rank]), ts_ns[mine], "right")
        out[mine] = np.diff(before, prepend=0) > 0
    return out
