"""Which slice moved how many bytes: the one place that decides what counts, and that nothing counts twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.derived import kept_with_the_trace
from neuron_profile.analysis.launches.enclosing import Enclosing
from neuron_profile.analysis.launches.launching import launching_slice
from neuron_profile.analysis.recorded_calls import distinct_calls
from neuron_profile.analysis.roofline.devices import devices_of
from neuron_profile.analysis.sides import HOST, side_of_slices, side_of_tracks
from neuron_profile.hardware import op_cost
from trace_format import CATEGORIES, Trace
from trace_format.tables import Slices

Array = np.ndarray

_HOST_OP, _RUNTIME = CATEGORIES.index("host_op"), CATEGORIES.index("runtime")
# Others may tell of bytes that they allocate (hipMalloc, nrt_dma_mem_alloc), or of a copy that has a record of its own.
_MOVES = np.isin(CATEGORIES, ("host_op", "compute", "dma", "memcpy", "memset", "collective"))

# The generic rule takes an operator to read its inputs whole; one that looks up a few rows of a table does not. No
# memory moves this many bytes in a nanosecond (20 TB/s; the fastest of 2025, NVIDIA B200's, moves 8). Where the peak of
# the device's own memory is known, that is the limit.
_IMPLAUSIBLE_BYTES_PER_NS = 20_000


@dataclass(frozen=True, slots=True)
class Movement:
    """Slices that moved bytes, in row order; columns of equal length.

    - `slice`: the row of the slice during which the bytes moved: of the device where an operator launched work
      there, else the operator itself.
    - `name`: string id of the operator, or of the slice itself where it has a record of its own.
    - `bytes`; `read_bytes`: those of them that an operator reads, -1 where a record does not tell.
    - `estimated`: whether they were worked out from shapes; `generic`: by the rule for unknown operators.
    - `unplaced_bytes`: estimated for operators whose work on the device was not recorded.
    - `implausible_bytes`: left out, because the generic rule asks for more than the memory moves in that time.
    """

    slice: Array
    name: Array
    bytes: Array
    read_bytes: Array
    estimated: Array
    generic: Array
    unplaced_bytes: int
    implausible_bytes: int


@dataclass(frozen=True, slots=True)
class _Operators:
    """Operators on the host that count, none inside another, in row order."""

    rows: Array
    read_bytes: Array
    written_bytes: Array
    generic: Array

    @property
    def bytes(self) -> Array:
        return self.read_bytes + self.written_bytes

    def keep(self, which: Array) -> _Operators:
        return _Operators(self.rows[which], self.read_bytes[which], self.written_bytes[which], self.generic[which])


@kept_with_the_trace
def movement(trace: Trace) -> Movement:
    """All movement of bytes that the trace tells of. Empty for a trace with neither records nor shapes."""
    slices = trace.slices
    side = side_of_slices(trace)
    recorded = np.flatnonzero((slices.bytes >= 0) & (side <= HOST) & _MOVES[slices.category])
    operators = _counting_operators(trace, np.flatnonzero((side == HOST) & (slices.category == _HOST_OP)))
    around = Enclosing(slices, operators.rows)

    launched_by = launching_slice(trace)
    device = np.flatnonzero(launched_by >= 0)
    operator_of = _positions(operators.rows, around.innermost(launched_by[device]))
    device, operator_of = device[operator_of >= 0], operator_of[operator_of >= 0]
    launches = _marked(len(operators.rows), operator_of)
    # an operator's estimate gives way to the records inside it, and to those of what it launched
    inside = _positions(operators.rows, around.innermost(recorded))
    has_record = _marked(len(operators.rows), np.r_[inside, operator_of[slices.bytes[device] >= 0]])
    asked_device = _positions(operators.rows, around.innermost(_launch_calls(slices)))
    unplaced = _marked(len(operators.rows), asked_device) & ~launches & ~has_record

    shared = ~has_record[operator_of]
    device, operator_of = device[shared], operator_of[shared]
    on_host = operators.keep(~launches & ~has_record & ~unplaced)
    rows = np.concatenate([recorded, device, on_host.rows])
    named = np.concatenate([recorded, operators.rows[operator_of], on_host.rows])
    dur_ns = slices.dur_ns[device]
    read, written = (_share_out(part, operator_of, dur_ns) for part in (operators.read_bytes, operators.written_bytes))
    moved = np.concatenate([slices.bytes[recorded], read + written, on_host.bytes])
    read = np.concatenate([np.full(len(recorded), -1, np.int64), read, on_host.read_bytes])
    generic = np.concatenate([np.zeros(len(recorded), bool), operators.generic[operator_of], on_host.generic])
    estimated = np.arange(len(rows)) >= len(recorded)
    implausible = generic & (slices.dur_ns[rows] >= 0)
    asked = np.flatnonzero(implausible)
    most = _most_bytes_per_ns(trace)[slices.track[rows[asked]]]
    implausible[asked] = moved[asked] > most * slices.dur_ns[rows[asked]]
    order = np.argsort(rows, kind="stable")
    order = order[~implausible[order]]
    return Movement(
        rows[order], slices.name[named[order]], moved[order], read[order], estimated[order], generic[order],
        int(operators.bytes[unplaced].sum()), int(moved[implausible].sum()),
    )  # fmt: skip


def _most_bytes_per_ns(trace: Trace) -> Array:
    """What the memory of each track's device moves in a nanosecond at most, `(tracks,) float64`."""
    devices = devices_of(trace)
    rates = [known.memory_bytes_per_s if known else None for known in devices.peaks]
    most = np.array([rate / 1e9 if rate else _IMPLAUSIBLE_BYTES_PER_NS for rate in rates])
    on_host = side_of_tracks(trace.tracks) == HOST
    return np.where(on_host, _IMPLAUSIBLE_BYTES_PER_NS, most[devices.of_track])


def _counting_operators(trace: Trace, rows: Array) -> _Operators:
    """The operators among `rows` whose own bytes count.

    An operator with a formula of its own counts whole, and nothing that it calls does (addmm copies its bias);
    one that is made of others counts only where none of them was recorded.
    """
    slices = trace.slices
    calls = distinct_calls(trace, rows[slices.args[rows] > 0])
    costs = [op_cost(name, args) for name, args in calls]
    read, written = (
        np.array([getattr(cost, part) if cost else 0 for cost in costs], np.int64)
        for part in ("read_bytes", "written_bytes")
    )
    generic = np.array([cost is not None and cost.generic for cost in costs], bool)
    whole = np.array([cost is not None and not cost.calls_others for cost in costs], bool)

    found = _Operators(calls.rows, read[calls.of_row], written[calls.of_row], generic[calls.of_row])
    whole = whole[calls.of_row]
    order = np.argsort(slices.track[found.rows], kind="stable")
    some = order[found.bytes[order] > 0]
    found, whole = found.keep(some), whole[some]

    inner = _inside_earlier(slices, found.rows, whole)
    found, whole = found.keep(~inner), whole[~inner]
    found = found.keep(whole | ~_has_later_inside(slices, found.rows))
    return found.keep(np.argsort(found.rows))


def _inside_earlier(slices: Slices, rows: Array, whole: Array) -> Array:
    """Whether each slice starts inside one before it, on its track, that counts whole."""
    if len(rows) == 0:
        return np.zeros(0, bool)
    track, start, end = _on_tracks(slices, rows)
    first = np.flatnonzero(np.r_[True, track[1:] != track[:-1]])
    reach = np.where(whole, end, np.iinfo(np.int64).min)
    for begin, stop in zip(first, np.r_[first[1:], len(rows)], strict=True):
        reach[begin:stop] = np.maximum.accumulate(reach[begin:stop])
    inside = np.zeros(len(rows), bool)
    inside[1:] = (track[1:] == track[:-1]) & (start[1:] < reach[:-1])
    return inside


def _has_later_inside(slices: Slices, rows: Array) -> Array:
    """Whether the slice after each one, on its track, starts inside it."""
    track, start, end = _on_tracks(slices, rows)
    inside = np.zeros(len(rows), bool)
    inside[:-1] = (track[1:] == track[:-1]) & (start[1:] < end[:-1])
    return inside


def _on_tracks(slices: Slices, rows: Array) -> tuple[Array, Array, Array]:
    start, dur_ns = slices.ts_ns[rows], slices.dur_ns[rows]
    return slices.track[rows], start, np.where(dur_ns < 0, np.iinfo(np.int64).max, start + np.maximum(dur_ns, 0))


def _launch_calls(slices: Slices) -> Array:
    """Runtime calls that put work on a device: those with a correlation."""
    return np.flatnonzero((slices.category == _RUNTIME) & (slices.correlation > 0))


def _positions(ascending: Array, rows: Array) -> Array:
    """Where each of `rows` is in `ascending`; -1 stays -1."""
    return np.where(rows >= 0, np.searchsorted(ascending, rows), -1)


def _marked(length: int, positions: Array) -> Array:
    """Flags that are true at the positions; -1 is none."""
    flags = np.zeros(length, bool)
    flags[positions[positions >= 0]] = True
    return flags


def _share_out(whole_bytes: Array, owner: Array, dur_ns: Array) -> Array:
    """Each owner's bytes divided among its slices by their durations, to the byte: `(n,) int64`."""
    owners = len(whole_bytes)
    weight = np.maximum(dur_ns, 0).astype(np.float64)
    total = np.bincount(owner, weights=weight, minlength=owners)
    weight = np.where(total[owner] > 0, weight, 1.0)  # none took time: in equal parts
    total = np.bincount(owner, weights=weight, minlength=owners)
    part = np.floor(whole_bytes[owner] * (weight / total[owner])).astype(np.int64)
    # what rounding left goes to the first slice
    left = whole_bytes.copy()
    np.subtract.at(left, owner, part)
    _, first = np.unique(owner, return_index=True)
    part[first] += left[owner[first]]
    return part
