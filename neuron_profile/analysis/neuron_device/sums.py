"""What a run's records add up to: times in picoseconds, bytes, counts, by AWS's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from neuron_profile.analysis.intervals import union_length
from neuron_profile.analysis.neuron_device.runs import Rows, Run
from neuron_profile.analysis.neuron_device.waits import is_wait, waits
from trace_format import Trace

Array = np.ndarray

ENGINES: Final = ("tensor", "vector", "scalar", "gpsimd", "sync")
DMA_CLASSES: Final = ("static", "software_dynamic", "hardware_dynamic")
_TRANSPOSE: Final = "TRANSPOSE"  # what AWS's JSON has as instruction_type
_DMA_OPCODE: Final = "DMA_DIRECT2D"  # the instruction that starts a dynamic transfer and says what it moves
_PS_PER_NS: Final = 1000
_UNKNOWN_STATE: Final = 99  # the type of a throttle record that does not tell its limit


def engine_of(trace: Trace, rows: Rows) -> Array:
    """The index in `ENGINES` of each instruction's engine, -1 for another; `(n,) int64`."""
    strings, named = trace.pool.strings, trace.tracks.engine
    number = {row: strings[int(named[row])].lower() for row in np.unique(rows.track).tolist()}
    place = np.full(len(trace.tracks), -1, np.int64)
    for row, name in number.items():
        place[row] = ENGINES.index(name) if name in ENGINES else -1
    return place[rows.track]


def dma_class_of(trace: Trace, rows: Rows) -> Array:
    """The index in `DMA_CLASSES` of each packet; what is not dynamic, the instruction queue too, is static."""
    strings, named = trace.pool.strings, trace.slices.source_category[rows.slice]
    place = np.zeros(len(strings), np.int64)
    for name in np.unique(named).tolist():
        place[name] = DMA_CLASSES.index(strings[name]) if strings[name] in DMA_CLASSES else 0
    return place[named]


def engine_sums(trace: Trace, run: Run) -> Iterator[tuple[str, int]]:
    """Counts and times (ps) of each engine over both cores: AWS's, which are without waits, and for how long it waited
    while it did no work."""
    rows, waited = run.instructions, waits(trace, run)
    engine, works = engine_of(trace, rows), ~is_wait(trace, rows)
    for number, name in enumerate(ENGINES):
        mine = engine == number
        busy = rows.where(mine & works)
        yield f"{name}_engine_instruction_count", int(mine.sum())
        active = union_length(busy.start_ps, busy.end_ps)
        either = np.r_[busy.start_ps, waited.start_ps[mine]], np.r_[busy.end_ps, waited.end_ps[mine]]
        yield f"{name}_engine_active_time", active
        yield f"{name}_engine_waiting_time", union_length(*either) - active
        yield f"{name}_engine_instruction_time", int(busy.dur_ps.sum())
    yield "matmul_instruction_count", int(_opcode_is(trace, rows, "MATMUL").sum())
    activations = rows.where(_opcode_is(trace, rows, "ACTIVATE"))
    yield "activate_instruction_count", len(activations)
    yield "activate_instruction_time", int(activations.dur_ps.sum())
    busy, packets = rows.where(works), run.counted_packets
    starts, ends = np.r_[busy.start_ps, packets.start_ps], np.r_[busy.end_ps, packets.end_ps]
    yield "total_active_time", union_length(starts, ends)


def dma_sums(trace: Trace, run: Run) -> Iterator[tuple[str, int]]:
    """Counts, bytes and times (ps) of the packets that AWS counts, all and of each class."""
    packets = run.counted_packets
    moved, of_class = np.maximum(trace.slices.bytes[packets.slice], 0), dma_class_of(trace, packets)
    yield "dma_active_time", union_length(packets.start_ps, packets.end_ps)
    yield "dma_packet_time", int(packets.dur_ps.sum())
    for number, name in enumerate(DMA_CLASSES):
        mine = of_class == number
        some = packets.where(mine)
        yield f"{name}_dma_active_time", union_length(some.start_ps, some.end_ps)
        yield f"{name}_dma_packet_count", len(some)
        yield f"{name}_dma_size", int(moved[mine].sum())


def work_sums(trace: Trace, run: Run) -> Iterator[tuple[str, int]]:
    """FLOPs and HBM bytes, those that the records tell."""
    facts, slices, rows = run.facts, trace.slices, run.instructions
    on_tensor = rows.where(engine_of(trace, rows) == ENGINES.index("tensor"))
    flops = slices.flops[on_tensor.slice]
    if not np.isnan(flops[_opcode_is(trace, on_tensor, "MATMUL")]).any():
        yield "hardware_flops", int(np.nansum(flops))
        if facts.knows_transposes:
            transposes = _each(trace, on_tensor, lambda args: args.get("instruction_type") == _TRANSPOSE, bool)
            yield "transpose_flops", int(np.nansum(flops[transposes]))
    if facts.hlo_macs is not None:
        yield "model_flops", 2 * facts.hlo_macs
    for name in ("hbm_read_bytes", "hbm_write_bytes"):
        known = _hbm_bytes(trace, run, name)
        if known is not None:
            yield name, known
    for name in ("weight_size_bytes", "inputs_and_weights_size_bytes", "inputs_outputs_weights_size_bytes"):
        known = getattr(facts, name)
        if known is not None:
            yield name, known


def _hbm_bytes(trace: Trace, run: Run, name: str) -> int | None:
    """What dynamic transfers say of their HBM side; None where one does not, or where others move something too."""
    kinds = {trace.pool.strings[int(kind)] for kind in np.unique(trace.slices.source_category[run.packets.slice])}
    if kinds - {"instruction", *DMA_CLASSES[1:]}:
        return None  # static transfers: nothing tells which side of them is HBM
    rows = run.instructions
    starters = rows.where(_opcode_is(trace, rows, _DMA_OPCODE))
    if len(starters) == 0 and kinds & set(DMA_CLASSES[1:]):
        return None
    moved = _each(trace, starters, lambda args: _number(args.get(name)), np.float64)
    return None if np.isnan(moved).any() else int(moved.sum())


@dataclass(frozen=True, slots=True)
class Throttling:
    """How long a physical core (`core`, counted within its logical core) was in a throttle state, in nanoseconds.

    Each record counts with the whole nanoseconds that AWS's tool gives it. `limit_ns`: the time weighted by the limit
    (k/n) that held; `limited_ns`: the part with a limit below 1; `until_ns`: from the start of the run to the end of
    its last record, which AWS's fractions divide by (worked out from its JSON).
    """

    state: int
    core: int
    time_ns: int
    limit_ns: float
    limited_ns: int
    until_ns: int

    def plus(self, other: Throttling) -> Throttling:
        """Both together, of one state and core."""
        return Throttling(
            self.state, self.core, self.time_ns + other.time_ns, self.limit_ns + other.limit_ns,
            self.limited_ns + other.limited_ns, self.until_ns + other.until_ns,
        )  # fmt: skip


def throttling(trace: Trace, run: Run) -> list[Throttling]:
    """Each state of each core, by core and state; a record that does not tell its limit counts for none."""
    rows = run.throttles
    state, limit = throttle_states(trace, rows)
    core, dur_ns = run.track_core[rows.track], rows.dur_ps // _PS_PER_NS
    until_ns = int(rows.end_ps.max(initial=0)) // _PS_PER_NS
    found = []
    for place, number in enumerate(run.cores):
        for kind in np.unique(state[(core == number) & (state >= 0)]).tolist():
            mine = (core == number) & (state == kind)
            dur, bound = dur_ns[mine], limit[mine]
            limited = int(dur[bound < 1].sum())
            found.append(Throttling(kind, place, int(dur.sum()), float((dur * bound).sum()), limited, until_ns))
    return found


def throttle_states(trace: Trace, rows: Rows) -> tuple[Array, Array]:
    """The type and the limit (k/n) of each throttle row: `(n,) int64`, `(n,) float64`; -1 and NaN where not told."""
    state = _each(trace, rows, lambda args: _number(args.get("type")), np.float64)
    limit = _each(trace, rows, lambda args: _ratio(args.get("k"), args.get("n")), np.float64)
    known = ~np.isnan(state) & ~np.isnan(limit) & (state != _UNKNOWN_STATE)
    return np.where(known, state, -1).astype(np.int64), np.where(known, limit, np.nan)


def _opcode_is(trace: Trace, rows: Rows, opcode: str) -> Array:
    return np.asarray(trace.slices.name[rows.slice] == trace.pool.strings.find(opcode))


def _each(trace: Trace, rows: Rows, value: Callable[[dict[str, Any]], Any], dtype: Any) -> Array:
    """`value(arguments)` of each row, worked out once for all that share their arguments; `(n,)`."""
    used, of_row = np.unique(trace.slices.args[rows.slice], return_inverse=True)
    return np.array([value(trace.pool.args(number)) for number in used.tolist()], dtype)[of_row]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else float("nan")


def _ratio(k: Any, n: Any) -> float:
    top, bottom = _number(k), _number(n)
    return top / bottom if bottom > 0 else float("nan")
