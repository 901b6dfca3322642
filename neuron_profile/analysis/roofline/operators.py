"""The operators whose FLOPs and bytes count, none of them inside another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.recorded_calls import DistinctCalls, distinct_calls
from neuron_profile.hardware import OpCost, op_cost
from trace_format import Trace
from trace_format.tables import Slices

Array = np.ndarray

UNKNOWN, RECORDED, FORMULA, GENERIC = range(4)
SOURCES = ("", "recorded", "formula", "generic")
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Operators:
    """All operators on the host, in row order; columns `(n,)`.

    - `rows`: their slices. `calls`: what each was called with; `costs` of each distinct call, None where unknown.
    - `counts`: whether its own FLOPs and bytes count.
    - `flops`, `bytes`: float64, NaN where neither recorded nor known by a formula, and for those that do not count.
    - `recomputed_flops`: those of `flops` that repeat what was worked out before, inside this one operator.
    - `flops_source`, `bytes_source`: index into `SOURCES`; generic is the formula for operators without one of theirs.
    """

    rows: Array
    calls: DistinctCalls
    costs: Sequence[OpCost | None]
    counts: Array
    flops: Array
    bytes: Array
    recomputed_flops: Array
    flops_source: Array
    bytes_source: Array


def operators_of(trace: Trace, rows: Array) -> Operators:
    """The operators among the slices `rows`, ascending.

    One with FLOPs of its own, recorded or by a formula, counts whole, and nothing that it calls does (addmm copies its
    bias); one that is made of others counts only where none of them was recorded.
    """
    slices = trace.slices
    calls = distinct_calls(trace, rows)
    costs = [op_cost(name, args) for name, args in calls]
    by_formula = np.array([cost.flops if cost else np.nan for cost in costs], np.float64)
    moved = np.array([cost.nbytes if cost else np.nan for cost in costs], np.float64)
    again = np.array([cost.recomputed_flops if cost else 0.0 for cost in costs], np.float64)
    generic = np.array([cost is not None and cost.generic for cost in costs], bool)
    whole = np.array([cost is not None and not cost.calls_others for cost in costs], bool)
    recorded, recorded_bytes = slices.flops[rows], slices.bytes[rows]
    has_flops = recorded >= 0
    has_flops &= recorded < np.inf
    has_bytes = recorded_bytes >= 0
    known = np.isfinite(moved)[calls.of_row]
    known |= has_flops
    known |= has_bytes
    counts = _counting(slices, rows, known, whole[calls.of_row] | has_flops)
    counting = np.flatnonzero(counts)
    call = calls.of_row[counting]
    flops, flops_source = _told(rows, counting, by_formula[call], recorded, has_flops, generic[call])
    nbytes, bytes_source = _told(rows, counting, moved[call], recorded_bytes, has_bytes, generic[call])
    repeated = again[calls.of_row] if again.any() else np.zeros(len(rows))
    return Operators(rows, calls, costs, counts, flops, nbytes, repeated, flops_source, bytes_source)


def _told(
    rows: Array, counting: Array, by_formula: Array, recorded: Array, is_recorded: Array, generic: Array
) -> tuple[Array, Array]:
    """A number of each operator, and the source of it; NaN where it does not count, or is not known.

    `by_formula` and `generic` are of the operators at `counting`.
    """
    values, source = np.full(len(rows), np.nan), np.full(len(rows), UNKNOWN, np.uint8)
    of_record = is_recorded[counting]
    values[counting] = np.where(of_record, recorded[counting], by_formula)
    formula = np.where(np.isnan(by_formula), UNKNOWN, np.where(generic, GENERIC, FORMULA)).astype(np.uint8)
    source[counting] = np.where(of_record, np.uint8(RECORDED), formula)
    return values, source


def _counting(slices: Slices, rows: Array, known: Array, whole: Array) -> Array:
    """Which of the operators count: of those with anything known, all that are whole and in no other such, then of
    those made of others the ones with none of them inside; `(n,) bool`."""
    found = np.flatnonzero(known)
    counts = np.zeros(len(rows), bool)
    if len(found) == 0:
        return counts
    on_tracks, is_whole = _on_tracks(slices, rows[found]), whole[found]
    outer = ~_inside(on_tracks, is_whole)
    found, is_whole = found[outer], is_whole[outer]
    track, start, end = (column[outer] for column in on_tracks)
    holds = np.zeros(len(found), bool)
    holds[:-1] = (track[1:] == track[:-1]) & (start[1:] < end[:-1])
    counts[found[is_whole | ~holds]] = True
    return counts


def starts_inside(slices: Slices, rows: Array, whole: Array) -> Array:
    """Whether each slice starts inside one before it, on its track, that is whole; `(n,) bool`."""
    return _inside(_on_tracks(slices, rows), whole) if len(rows) else np.zeros(0, bool)


def _inside(on_tracks: tuple[Array, Array, Array], whole: Array) -> Array:
    track, start, end = on_tracks
    reach = np.where(whole, end, np.iinfo(np.int64).min)
    first = np.flatnonzero(np.r_[True, track[1:] != track[:-1]])
    for begin, stop in zip(first.tolist(), [*first[1:].tolist(), len(track)], strict=True):
        np.maximum.accumulate(reach[begin:stop], out=reach[begin:stop])
    inside = np.zeros(len(track), bool)
    inside[1:] = (track[1:] == track[:-1]) & (start[1:] < reach[:-1])
    return inside


def _on_tracks(slices: Slices, rows: Array) -> tuple[Array, Array, Array]:
    """Track, start and end of slices; rows of one track follow one another in order of start."""
    start, end = slices.ts_ns[rows], slices.dur_ns[rows]
    unfinished = np.flatnonzero(end < 0)
    end += start
    end[unfinished] = _NEVER
    return slices.track[rows], start, end
