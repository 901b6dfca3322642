"""When each collective ran on each rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.collectives.groups import ProcessGroups, process_groups
from neuron_profile.analysis.collectives.kernel_names import op_of_kernel
from neuron_profile.analysis.collectives.message import message_bytes, ranks_by_shard
from neuron_profile.analysis.launches.enclosing import Enclosing
from neuron_profile.analysis.launches.launching import launching_slice
from neuron_profile.analysis.sides import DEVICE, side_of_tracks
from neuron_profile.analysis.work import COLLECTIVE, device_work
from trace_format import Trace
from trace_format.trace_events.c10d import CALL

Array = np.ndarray

KERNEL_NAME = "kernel name"  # the source of what no row of the collectives table tells of
_CALLS = ("c10d", "record_param_comms")  # sources whose slice is the call on the host, which ends when work is queued
_NOT_COLLECTIVES = ("wait",)  # torch's record_param_comms notes waits in the same way
_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """A row for each collective on each rank; columns `(n,) int64` where nothing else is said.

    - `op`, `source`: index of `ops`, `sources`; `dtype`: a string of the pool.
    - `nbytes`: the whole message by nccl-tests, -1: unknown (see `message_bytes`).
    - `groups`: the process group of each; `ranks`: how many ranks take part, -1: unknown. `ranks_assumed`: of how many
      spans that is taken to be the whole job, as neither group nor sizes tell.
    - `rank`, `device`: of its track, -1: unknown; `on_device` (bool): whether the work was on a device.
    - `seq`: as in the table.
    - `start_ns`, `end_ns`: of the work, waiting for other ranks included; 0 and 0 where `timed` (bool) is False: only
      the call on the host is known.
    - `order_ns`: by which the collectives of one rank are in order: when the host asked, else the start.
    - `slice`: the last slice of the work, else the call.
    - `piece_span`, `piece_slice` `(m,)`: the slices that are the work, and the span of each.
    """

    op: Array
    ops: tuple[str, ...]
    dtype: Array
    source: Array
    sources: tuple[str, ...]
    nbytes: Array
    groups: ProcessGroups
    ranks: Array
    ranks_assumed: int
    rank: Array
    device: Array
    on_device: Array
    seq: Array
    start_ns: Array
    end_ns: Array
    timed: Array
    order_ns: Array
    slice: Array
    piece_span: Array
    piece_slice: Array

    def __len__(self) -> int:
        return len(self.op)

    @property
    def dur_ns(self) -> Array:
        return self.end_ns - self.start_ns


def spans(trace: Trace) -> Spans:
    """The spans of all measured collectives of a trace, in order of the table. Empty for a trace without.

    A row of the collectives table whose slice is a call on the host takes the time of the collective kernels that were
    launched in it; one of gloo that of all its spans. A kernel that no row claims is a collective by its name, of
    unknown size and group.
    """
    table, slices, tracks = trace.collectives, trace.slices, trace.tracks
    rows = np.flatnonzero(table.slice >= 0)
    simulated = tracks.simulated.astype(bool)[slices.track[table.slice[rows]]]
    skipped = [trace.pool.strings.find(text) for text in _NOT_COLLECTIVES]
    rows = rows[~simulated & ~np.isin(table.op[rows], skipped)]
    kernels = np.flatnonzero(device_work(trace) == COLLECTIVE)
    piece_span, piece_slice, asked = _pieces(trace, rows, kernels)
    claimed = np.zeros(len(slices), bool)
    claimed[piece_slice] = True
    alone = kernels[~claimed[kernels]]  # of no row
    rows = np.concatenate([rows, np.full(len(alone), -1)])
    piece_span = np.concatenate([piece_span, np.arange(len(rows) - len(alone), len(rows))])
    piece_slice = np.concatenate([piece_slice, alone])

    start, end = np.full(len(rows), _LAST), np.zeros(len(rows), np.int64)
    ends = slices.ts_ns[piece_slice] + slices.dur_ns[piece_slice]
    np.minimum.at(start, piece_span, slices.ts_ns[piece_slice])
    np.maximum.at(end, piece_span, ends)
    timed = np.bincount(piece_span, minlength=len(rows)) > 0
    start[~timed] = 0
    last = np.concatenate([table.slice[rows[rows >= 0]].astype(np.int64), alone])
    by_end = np.argsort(ends, kind="stable")
    last[piece_span[by_end]] = piece_slice[by_end]
    asked = np.concatenate([asked, np.full(len(alone), -1)])

    track = slices.track[last]
    groups = process_groups(trace, rows)
    op, ops = _ops(trace, rows, alone)
    source, sources = _sources(trace, rows)
    in_bytes, out_bytes = (_of_row(column, rows, -1) for column in (table.in_bytes, table.out_bytes))
    recorded = np.array(groups.recorded, bool)[groups.of_row]
    by_shard = np.where(recorded, -1, ranks_by_shard(ops, op, in_bytes, out_bytes))
    ranks = np.where(by_shard > 0, by_shard, np.array(groups.sizes, np.int64)[groups.of_row])
    return Spans(
        op=op, ops=ops, source=source, sources=sources, dtype=_of_row(table.dtype, rows, 0),
        nbytes=message_bytes(ops, op, in_bytes, out_bytes, ranks), groups=groups, ranks=ranks,
        ranks_assumed=int((~recorded & (by_shard < 0)).sum()),
        rank=tracks.rank[track].astype(np.int64), device=tracks.device[track].astype(np.int64),
        on_device=side_of_tracks(tracks)[track] == DEVICE,
        seq=_of_row(table.seq, rows, -1), start_ns=start, end_ns=end, timed=timed,
        order_ns=np.where(asked >= 0, slices.ts_ns[np.maximum(asked, 0)], start) if len(slices) else start,
        slice=last, piece_span=piece_span, piece_slice=piece_slice,
    )  # fmt: skip


def _pieces(trace: Trace, rows: Array, kernels: Array) -> tuple[Array, Array, Array]:
    """The slices of the work of each row: place in `rows` and slice; and the call on the host of each row, -1: none."""
    table, slices = trace.collectives, trace.slices
    of_row = table.slice[rows].astype(np.int64)
    calls = np.isin(table.source[rows], [trace.pool.strings.find(text) for text in _CALLS])
    asked = np.where(calls, of_row, -1)
    own = np.flatnonzero(~calls & (slices.dur_ns[of_row] >= 0) if len(of_row) else calls)
    places, pieces = [own], [of_row[own]]
    # kernels launched in a call on the host
    hosts, place = np.unique(of_row[calls], return_index=True)
    if len(hosts) and len(kernels):
        launched_by = launching_slice(trace)[kernels]
        found = np.flatnonzero(launched_by >= 0)
        around = Enclosing(slices, hosts).innermost(launched_by[found])
        found, around = found[around >= 0], around[around >= 0]
        places.append(np.flatnonzero(calls)[place][np.searchsorted(hosts, around)])
        pieces.append(kernels[found])
    # the call of each gloo span, and the other spans of that call
    flows = trace.flows
    arrows = (flows.kind == trace.pool.strings.find(CALL)) & (flows.from_slice >= 0) & (flows.to_slice >= 0)
    causes, effects = flows.from_slice[arrows], flows.to_slice[arrows]
    if len(causes) and len(own):
        effects, first = np.unique(effects, return_index=True)
        causes = causes[first]
        at = np.minimum(np.searchsorted(effects, of_row[own]), len(effects) - 1)
        called = effects[at] == of_row[own]
        asked[own[called]] = causes[at[called]]
        by_cause = np.argsort(asked[own], kind="stable")
        ordered = asked[own][by_cause]
        at = np.minimum(np.searchsorted(ordered, causes), len(ordered) - 1)
        more = (ordered[at] == causes) & (effects != of_row[own[by_cause[at]]]) & (slices.dur_ns[effects] >= 0)
        places.append(own[by_cause[at[more]]])
        pieces.append(effects[more])
    return np.concatenate(places), np.concatenate(pieces), asked


def _ops(trace: Trace, rows: Array, alone: Array) -> tuple[Array, tuple[str, ...]]:
    """The operation of each row, and of the kernels that have none by their names."""
    strings = trace.pool.strings
    ids, of_row = np.unique(trace.collectives.op[rows[rows >= 0]], return_inverse=True)
    names, of_kernel = np.unique(trace.slices.name[alone], return_inverse=True)
    texts = [strings[number] for number in ids.tolist()] + [op_of_kernel(strings[name]) for name in names.tolist()]
    number = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    renumbered = np.array([number[text] for text in texts], np.int64)
    return renumbered[np.concatenate([of_row, of_kernel + len(ids)])], tuple(number)


def _sources(trace: Trace, rows: Array) -> tuple[Array, tuple[str, ...]]:
    ids, of_row = np.unique(_of_row(trace.collectives.source, rows, -1), return_inverse=True)
    return of_row, tuple(KERNEL_NAME if number < 0 else trace.pool.strings[number] for number in ids.tolist())


def _of_row(column: Array, rows: Array, unknown: int) -> Array:
    """A column of the collectives table for these rows, int64; `unknown` for a row of -1."""
    out = np.full(len(rows), unknown, np.int64)
    out[rows >= 0] = column[rows[rows >= 0]]
    return out
