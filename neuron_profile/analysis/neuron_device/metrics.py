"""What AWS's profiler says about a run, by its names and in its units, worked out from the records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from neuron_profile.analysis.neuron_device.peaks_used import PeaksUsed, peaks_used
from neuron_profile.analysis.neuron_device.runs import Run, runs_of
from neuron_profile.analysis.neuron_device.sums import (
    DMA_CLASSES,
    ENGINES,
    Throttling,
    dma_sums,
    engine_sums,
    throttling,
    work_sums,
)
from neuron_profile.analysis.records import plain
from trace_format import Trace

_PS_PER_S: Final = 10**12
_PS_PER_NS: Final = 1000
COMPUTED: Final = "computed from the records"
REPORTED: Final = "reported by the source; what it leaves out is computed from the records"
# What can be added up over runs; all other numbers of AWS's are fractions, which follow from these.
_ADDITIVE: Final = ("_time", "_count", "_bytes", "_size", "_flops", "_cycles")
# What stands beside AWS's metrics in `values`; a source that says them too means something else.
_OURS: Final = ("num_physical_cores", "peak_flops_per_core", "hbm_bytes_per_s", "peaks_source", "metrics_source",
                "notes", "execution_count")  # fmt: skip
_LARGEST: Final = 1 << 63
_UTILISATIONS: Final = ("hfu_estimated_percent", "mfu_estimated_percent", "mfu_hlo_estimated_percent",
                        "mfu_inst_estimated_percent", "mbu_estimated_percent", "mbu_min_read_util_percent")  # fmt: skip
_NO_HLO: Final = (
    "mfu_estimated_percent counts the matmuls of the instructions, less transposes: without HLO statistics of the NEFF "
    "the model's own are unknown"
)


@dataclass(frozen=True, slots=True)
class ExecutionMetrics:
    """One run, or the total of several.

    - `name`, `index`: the NEFF's name, and which of the runs of its file; "total" and -1 for a total.
    - `rank`, `device`, `core`: -1 where not told. `start_ns`: when it began.
    - `values`: AWS's names to seconds, bytes, counts and fractions, and what its summary has as text. What is unknown
      is not there. Beside AWS's: <engine>_engine_waiting_time (it waited and did no work), num_physical_cores,
      peak_flops_per_core, hbm_bytes_per_s, peaks_source, metrics_source and notes.
    - `reported`: which of them the source itself stated; the others were worked out here.
    """

    name: str
    index: int
    rank: int
    device: int
    core: int
    start_ns: int
    values: Mapping[str, Any]
    reported: frozenset[str]

    def to_dict(self) -> dict[str, Any]:
        """`values` as JSON takes them, after who they are about (rank and cores only where told)."""
        who = {"name": self.name, "execution": self.index, "rank": self.rank, "device": self.device, "core": self.core}
        return {**{key: value for key, value in who.items() if value != -1}, **plain(self.values)}


@dataclass(frozen=True, slots=True)
class DeviceMetrics:
    """The metrics of each run, and of all; `total` is None where the trace has no profile of a Neuron device."""

    total: ExecutionMetrics | None
    executions: tuple[ExecutionMetrics, ...]


def device_metrics(trace: Trace) -> DeviceMetrics:
    """The metrics of all runs of NEFFs in a trace, in order of rank, device, core and time.

    A total adds up times, bytes and counts over runs, also over those that ran at once; its fractions follow from
    these sums. What is unknown in one of the runs is unknown in the total.
    """
    parts = [_parts(trace, run) for run in runs_of(trace)]
    if not parts:
        return DeviceMetrics(None, ())
    executions = tuple(_metrics(part) for part in parts)
    return DeviceMetrics(executions[0] if len(executions) == 1 else _total(parts, executions), executions)


@dataclass(frozen=True, slots=True)
class _Capacity:
    """What the peaks allow in the time of a run; None where a peak is unknown."""

    flops: float | None
    hbm_bytes: float | None
    flops_per_byte: float | None  # of all cores


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the metrics of a run follow from."""

    run: Run
    peaks: PeaksUsed
    sums: Mapping[str, float]
    throttling: Sequence[Throttling]
    capacity: _Capacity


def _parts(trace: Trace, run: Run) -> _Parts:
    peaks, seconds = peaks_used(run.facts), run.total_ps / _PS_PER_S
    counted = {**dict(engine_sums(trace, run)), **dict(dma_sums(trace, run)), **dict(work_sums(trace, run))}
    sums: dict[str, float] = {"total_time": seconds}
    sums |= {key: value / _PS_PER_S if key.endswith("_time") else value for key, value in counted.items()}
    if peaks.others_ghz:
        sums["neuroncore_cycle_count"] = _cycles(run.total_ps, peaks.others_ghz)
        sums["dma_active_cycles"] = _cycles(counted["dma_active_time"], peaks.others_ghz)
    if run.facts.event_count is not None:
        sums["event_count"] = run.facts.event_count
        sums["trace_count"] = len(run.instructions) + len(run.counted_packets) + run.facts.event_count
    cores = max(len(run.cores), 1)
    flops = peaks.core_flops and peaks.core_flops * cores
    hbm = peaks.hbm_bytes_per_s
    capacity = _Capacity(flops and flops * seconds, hbm and hbm * seconds, flops / hbm if flops and hbm else None)
    return _Parts(run, peaks, sums, throttling(trace, run), capacity)


def _cycles(time_ps: int, clock_ghz: float) -> int:
    # clocks are given in tenths of a GHz, and 1.2 is no float
    return time_ps * round(clock_ghz * 1000) // (1000 * _PS_PER_NS)


def _metrics(parts: _Parts) -> ExecutionMetrics:
    run, facts = parts.run, parts.run.facts
    reported = {
        key: value
        for key, value in facts.reported.items()
        if value is not None and key not in _OURS and (_is_number(value) or not (key in parts.sums or _counts(key)))
    }
    known = {**parts.sums, **{key: value for key, value in reported.items() if _is_number(value)}}
    computed = {**parts.sums, **_fractions(known, parts.throttling, parts.capacity)}
    values: dict[str, Any] = {**computed, **_peaks(parts), **reported}
    values |= {
        name: value
        for name in ("instance_type", "runtime_version", "driver_version", "collectives_version", "compiler_version",
                     "profiler_version", "nd_idx")
        if name not in values and (value := getattr(facts, name)) not in ("", None)
    }  # fmt: skip
    values["metrics_source"] = REPORTED if reported else COMPUTED
    values["notes"] = [*facts.warnings, *_notes(values)]
    return ExecutionMetrics(
        run.name, facts.index, run.rank, run.device, run.core, run.start_ns, values, frozenset(reported)
    )


def _peaks(parts: _Parts) -> dict[str, Any]:
    peaks = parts.peaks
    found = {
        "num_physical_cores": len(parts.run.cores) or None, "peak_flops_per_core": peaks.core_flops,
        "hbm_bytes_per_s": peaks.hbm_bytes_per_s, "peaks_source": peaks.source or None,
    }  # fmt: skip
    if peaks.core_flops and peaks.hbm_bytes_per_s:
        found["peak_flops_bandwidth_ratio"] = peaks.core_flops / peaks.hbm_bytes_per_s
    return {key: value for key, value in found.items() if value is not None}


def _fractions(sums: Mapping[str, Any], states: Iterable[Throttling], capacity: _Capacity) -> dict[str, float]:
    """AWS's fractions (`*_percent`) and ratios that follow from sums; none whose parts are unknown."""
    total = sums.get("total_time")
    out: dict[str, float | None] = {
        f"{name}_active_time_percent": _over(sums.get(f"{name}_active_time"), total)
        for name in (*(f"{engine}_engine" for engine in ENGINES), "dma", "total")
    }
    # of the time in which any packet was under way, not of the whole; AWS's names hide that
    for what, whole in (
        ("dma_active_time", sums.get("dma_active_time")),
        ("dma_packet", _plus(*(sums.get(f"{name}_dma_packet_count") for name in DMA_CLASSES))),
        ("dma_size", _plus(*(sums.get(f"{name}_dma_size") for name in DMA_CLASSES))),
    ):
        key = "dma_packet_count" if what == "dma_packet" else what
        for name in DMA_CLASSES:
            out[f"{name}_{what}_percent"] = _over(sums.get(f"{name}_{key}"), whole)
        out[f"dynamic_{what}_percent"] = _plus(*(out[f"{name}_{what}_percent"] for name in DMA_CLASSES[1:]))
    out |= _work(sums, capacity)
    out |= _throttle(states)
    return {name: value for name, value in out.items() if value is not None}


def _work(sums: Mapping[str, Any], capacity: _Capacity) -> dict[str, float | None]:
    hardware, transposes, model = (sums.get(f"{name}_flops") for name in ("hardware", "transpose", "model"))
    matmuls = None if hardware is None or transposes is None else hardware - transposes
    moved = _plus(sums.get("hbm_read_bytes"), sums.get("hbm_write_bytes"))
    # AWS writes 0 where the NEFF has no HLO statistics, and then counts what the instructions did
    useful = model or matmuls
    best = {
        name: None if ratio is None else min(ratio, 1.0)
        for name, flops in (("mfu", useful), ("mfu_inst", matmuls))
        for ratio in (_over(_over(flops, moved), capacity.flops_per_byte),)
    }
    return {
        "hfu_estimated_percent": _over(hardware, capacity.flops),
        "mfu_estimated_percent": _over(useful, capacity.flops),
        "mfu_inst_estimated_percent": _over(matmuls, capacity.flops),
        "mfu_hlo_estimated_percent": _over(model, capacity.flops),
        "mbu_estimated_percent": _over(moved, capacity.hbm_bytes),
        "mbu_min_read_util_percent": _over(sums.get("inputs_and_weights_size_bytes"), capacity.hbm_bytes),
        "mm_arithmetic_intensity": _over(matmuls, moved),
        **{f"{name}_max_achievable_estimated_percent": value for name, value in best.items()},
    }


def _throttle(states: Iterable[Throttling]) -> dict[str, float | None]:
    out: dict[str, float | None] = {}
    of_core: dict[int, list[Throttling]] = {}
    for found in states:
        prefix, core = f"throttle_activity_{found.state}", f"nc{found.core}_percent"
        out[f"{prefix}_active_time_{core}"] = _over(found.time_ns, found.until_ns)
        out[f"{prefix}_avg_util_limit_{core}"] = _over(found.limit_ns, found.time_ns)
        of_core.setdefault(found.core, []).append(found)
    for number, mine in of_core.items():
        limits = sum(found.limit_ns for found in mine)
        out[f"throttle_avg_util_limit_nc{number}_percent"] = _over(limits, max(found.until_ns for found in mine))
        out[f"throttle_active_nc{number}_time_ns"] = sum(found.limited_ns for found in mine)
    return out


def _total(parts: Sequence[_Parts], executions: Sequence[ExecutionMetrics]) -> ExecutionMetrics:
    values = [found.values for found in executions]
    shared = set(values[0]).intersection(*values[1:])
    sums = {
        key: sum(of[key] for of in values)
        for key in values[0]
        if key in shared and key.endswith(_ADDITIVE) and all(_is_number(of[key]) for of in values)
    }
    states: dict[tuple[int, int], Throttling] = {}
    for state in (state for part in parts for state in part.throttling):
        before = states.get((state.core, state.state))
        states[state.core, state.state] = before.plus(state) if before else state
    capacity = _Capacity(
        _plus(*(part.capacity.flops for part in parts)), _plus(*(part.capacity.hbm_bytes for part in parts)),
        _same([part.capacity.flops_per_byte for part in parts]),
    )  # fmt: skip
    out: dict[str, Any] = {**sums, **_fractions(sums, states.values(), capacity)}
    alike = ("num_physical_cores", "peak_flops_per_core", "hbm_bytes_per_s", "peak_flops_bandwidth_ratio",
             "peaks_source", "instance_type", "runtime_version", "driver_version", "compiler_version")  # fmt: skip
    out |= {name: value for name in alike if (value := _same([of.get(name) for of in values])) is not None}
    out["execution_count"] = len(executions)
    out["metrics_source"] = _same([of["metrics_source"] for of in values]) or REPORTED
    out["notes"] = [*dict.fromkeys(note for part in parts for note in part.run.facts.warnings), *_notes(out)]
    rank, device, core = (
        -1 if (number := _same([getattr(found, name) for found in executions])) is None else int(number)
        for name in ("rank", "device", "core")
    )
    reported = frozenset.intersection(*(found.reported for found in executions)) & set(sums)
    start_ns = min(found.start_ns for found in executions)
    return ExecutionMetrics("total", -1, rank, device, core, start_ns, out, reported)


def _notes(values: Mapping[str, Any]) -> list[str]:
    """What a reader must know before believing the numbers."""
    notes = [
        f"{name} is {values[name]:.3g}, and nothing uses more than all of a peak: the peak is wrong "
        f"({values.get('peaks_source', 'of unknown source')})"
        for name in _UTILISATIONS
        if _is_number(values.get(name)) and values[name] > 1
    ]
    if not values.get("model_flops") and "mfu_estimated_percent" in values:
        notes.append(_NO_HLO)
    return notes


def _counts(name: str) -> bool:
    """Whether a metric of this name is a number; texts under such names say nothing."""
    return name.endswith((*_ADDITIVE, "_percent", "_ns", "_intensity", "_ratio"))


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) < _LARGEST if isinstance(value, int) else math.isfinite(value)


def _over(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _plus(*parts: float | None) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _same(values: Sequence[Any]) -> Any:
    """The value that all have; None where they differ."""
    return values[0] if all(value == values[0] for value in values) else None
