"""The device work of a trace, each slice with its part of the FLOPs and bytes of the operator behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.launches.launching import launching_slice
from neuron_profile.analysis.roofline.devices import Devices
from neuron_profile.analysis.roofline.operators import (
    GENERIC,
    RECORDED,
    UNKNOWN,
    Operators,
    operators_of,
    starts_inside,
)
from neuron_profile.analysis.sides import DEVICE, HOST, side_of_slices
from trace_format import CATEGORIES, TRACK_KINDS, Trace
from trace_format.tables import Slices

Array = np.ndarray

DTYPES = ("", "fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8")
_FP32, _TF32 = DTYPES.index("fp32"), DTYPES.index("tf32")
_HOST_OP, _MEMCPY, _MEMSET = (CATEGORIES.index(c) for c in ("host_op", "memcpy", "memset"))
_NOT_WORK = [CATEGORIES.index(c) for c in ("annotation", "sync", "semaphore", "collective", "overhead", "runtime")]
_STREAM = TRACK_KINDS.index("stream")
# Copies that stay in one device's memory, as Kineto names them: "Memcpy DtoD (Device -> Device)", "CopyDeviceToDevice".
_IN_MEMORY = re.compile(r".*(DtoD|Device\s*->\s*Device|DeviceToDevice).*", re.IGNORECASE)
# cuBLAS and CUTLASS name what a kernel multiplies in: "..._f32f32_tf32f32_...", "cutlass_80_tensorop_s1688gemm_...",
# of which 16x8x8 with float32 inputs is TF32 (CUTLASS, tools/library: opcode names).
# Of a device whose memory's peak is unknown: no memory moves this many bytes in a nanosecond (20 TB/s).
_IMPLAUSIBLE_BYTES_PER_NS = 20_000.0
_TF32_KERNEL = re.compile(r".*(tf32|tensorop_s1688(gemm|fprop|dgrad|wgrad)).*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Work:
    """Slices in which a device worked, or, of ranks without device, operators of the host; columns `(n,)`.

    - `slice`: their rows; `time_ns`: how long each is (of a host operator that does not count, its self time).
    - `owner`: the position in `operators` of the operator behind it, -1 where none was recorded.
    - `first`: true for one slice of each owner, and for all without.
    - `flops`, `bytes`: its part, by time, of what the owner has; NaN where unknown. `recomputed_flops` of them.
    - `flops_source`, `bytes_source`, `dtype`, `device`: index into `SOURCES`, `DTYPES` and the kinds of devices.
    - `unplaced_flops`: of operators that count and of which no work was recorded; `unfinished` slices left out.
    - `implausible_bytes`: not in `bytes`, because the generic formula, by which an operator reads its inputs whole,
      asks for more than the memory can move in the time.
    """

    operators: Operators
    slice: Array
    time_ns: Array
    owner: Array
    first: Array
    flops: Array
    bytes: Array
    recomputed_flops: Array
    flops_source: Array
    bytes_source: Array
    dtype: Array
    device: Array
    unplaced_flops: float
    implausible_bytes: float
    unfinished: int


def work_of(trace: Trace, devices: Devices) -> Work:
    """The measured work of all devices, but for collectives and copies from and to the host.

    A rank without any slice of a device is its host: its operators are the work. Engines and DMA queues of a Neuron
    device are not in it: their records tell more (see `neuron_device`).
    """
    slices, side = trace.slices, side_of_slices(trace)
    on_host = np.flatnonzero((side == HOST) & (slices.category == _HOST_OP))
    operators = operators_of(trace, on_host)
    rank = trace.tracks.rank.astype(np.int64)
    device = np.flatnonzero(side == DEVICE)
    with_device = np.unique(rank[np.unique(slices.track[device])])
    device = device[trace.tracks.kind[slices.track[device]] == _STREAM]
    device = device[~np.isin(slices.category[device], _NOT_WORK)]
    device = device[~_leaves_memory(trace, device)]
    ends = slices.dur_ns[device] >= 0
    device, unfinished = device[ends], int((~ends).sum())
    owner = _owner(trace, operators, launching_slice(trace)[device])

    alone = np.flatnonzero(~np.isin(rank, with_device)[slices.track[on_host]])
    alone = alone[~starts_inside(slices, on_host[alone], operators.counts[alone])]
    ends = slices.dur_ns[on_host[alone]] >= 0
    alone, unfinished = alone[ends], unfinished + int((~ends).sum())
    host_ns = slices.dur_ns[on_host[alone]]
    if len(alone):
        host_ns = np.where(operators.counts[alone], host_ns, slices.self_ns[on_host[alone]])

    rows, owner = np.r_[device, on_host[alone]], np.r_[owner, alone]
    time_ns = np.r_[slices.dur_ns[device], host_ns]
    kind = np.r_[devices.of_track[slices.track[device]], np.full(len(alone), devices.host, np.int64)]
    return _shared_out(trace, operators, rows, time_ns, owner, kind, devices, unfinished)


def _shared_out(
    trace: Trace, operators: Operators, rows: Array, time_ns: Array, owner: Array, device: Array, devices: Devices,
    unfinished: int,
) -> Work:  # fmt: skip
    count = len(operators.rows)
    owned = np.flatnonzero(owner >= 0)
    theirs = owner[owned]
    whole_ns = np.bincount(theirs, weights=time_ns[owned], minlength=count)
    pieces = np.bincount(theirs, minlength=count)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(whole_ns[theirs] > 0, time_ns[owned] / whole_ns[theirs], 1.0 / pieces[theirs])
    columns = {name: np.full(len(rows), np.nan) for name in ("flops", "bytes", "recomputed_flops")}
    sources = {name: np.full(len(rows), UNKNOWN, np.uint8) for name in ("flops_source", "bytes_source")}
    for name, column in columns.items():
        column[owned] = getattr(operators, name)[theirs] * part
    for name, source in sources.items():
        source[owned] = getattr(operators, name)[theirs]
    implausible = _implausible(operators, whole_ns, theirs, device[owned], devices)
    columns["bytes"][owned[implausible[theirs]]] = np.nan
    sources["bytes_source"][owned[implausible[theirs]]] = UNKNOWN
    first = owner < 0
    last_of = np.full(count, -1, np.int64)
    last_of[theirs] = owned
    first[last_of[last_of >= 0]] = True
    _own_records(trace.slices, rows, owner, columns, sources)
    placed = pieces > 0
    return Work(
        operators=operators, slice=rows, time_ns=time_ns, owner=owner, first=first, **columns, **sources,
        dtype=_dtypes(trace, operators, rows, owner), device=device, unfinished=unfinished,
        unplaced_flops=float(np.nansum(operators.flops[~placed])),
        implausible_bytes=float(operators.bytes[implausible].sum()),
    )  # fmt: skip


def _implausible(operators: Operators, whole_ns: Array, owner: Array, device: Array, devices: Devices) -> Array:
    """Whether the bytes of each operator, by the generic formula, are more than its device's memory can move."""
    rates = [(known.memory_bytes_per_s or 0) / 1e9 if known else 0 for known in devices.peaks]
    most = np.array([rate or _IMPLAUSIBLE_BYTES_PER_NS for rate in rates])
    implausible = np.zeros(len(whole_ns), bool)
    at = np.flatnonzero(operators.bytes_source[owner] == GENERIC)  # of several of one operator the last one decides
    owner, most = owner[at], most[device[at]]
    implausible[owner] = operators.bytes[owner] > most * whole_ns[owner]
    return implausible


def _own_records(
    slices: Slices, rows: Array, owner: Array, columns: dict[str, Array], sources: dict[str, Array]
) -> None:
    """Fill in what slices say of themselves where no operator says it of them."""
    flops, moved = slices.flops[rows], slices.bytes[rows]
    for name, own, known in (("flops", flops, (flops >= 0) & (flops < np.inf)), ("bytes", moved, moved >= 0)):
        mine = np.flatnonzero(known & (sources[f"{name}_source"] == UNKNOWN))
        columns[name][mine] = own[mine]
        sources[f"{name}_source"][mine] = RECORDED
        if name == "bytes":  # a copy in memory reads and writes what its record has once
            columns[name][mine[slices.category[rows[mine]] == _MEMCPY]] *= 2


def _dtypes(trace: Trace, operators: Operators, rows: Array, owner: Array) -> Array:
    """The type that each slice computes in: its operator's, TF32 where a kernel of it says so in its name."""
    number = {name: code for code, name in enumerate(DTYPES)}
    of_call = np.array([number[cost.dtype] if cost else 0 for cost in operators.costs], np.int64)
    if len(of_call) == 0:
        return np.zeros(len(rows), np.int64)
    is_tf32 = np.array([_TF32_KERNEL.fullmatch(text) is not None for text in trace.pool.strings.values], bool)
    in_tf32 = np.zeros(len(operators.rows), bool)
    in_tf32[owner[(owner >= 0) & is_tf32[trace.slices.name[rows]]]] = True
    dtype = np.where(owner >= 0, of_call[operators.calls.of_row[np.maximum(owner, 0)]], 0)
    return np.where((dtype == _FP32) & (owner >= 0) & in_tf32[np.maximum(owner, 0)], _TF32, dtype)


def _leaves_memory(trace: Trace, rows: Array) -> Array:
    """Whether each slice copies from or to somewhere else than its device's memory."""
    copies = trace.slices.category[rows] == _MEMCPY
    stays = np.array([_IN_MEMORY.fullmatch(text) is not None for text in trace.pool.strings.values], bool)
    return copies & ~stays[trace.slices.name[rows]]


def _owner(trace: Trace, operators: Operators, launched_by: Array) -> Array:
    """The position of the operator that each slice on the host belongs to: the one around it that counts, else the
    innermost; -1 for none. `launched_by` are rows, -1 for none."""
    slices = trace.slices
    place = np.full(len(slices), -1, np.int32 if len(slices) < 1 << 31 else np.int64)
    place[operators.rows] = np.arange(len(operators.rows))
    found = np.full(len(launched_by), -1, np.int64)
    if len(operators.rows) == 0:
        return found
    at, still = launched_by.copy(), np.flatnonzero(launched_by >= 0)
    while len(still):
        here = place[at[still]]
        is_operator = here >= 0
        counts = is_operator & operators.counts[np.maximum(here, 0)]
        takes = counts | (is_operator & (found[still] < 0))
        found[still[takes]] = here[takes]
        at[still] = slices.parent[at[still]]
        still = still[~counts & (at[still] >= 0)]
    return found
