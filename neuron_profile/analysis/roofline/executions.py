"""Runs of NEFFs on Neuron devices as work between two peaks, by AWS's own metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.neuron_device import ExecutionMetrics, device_metrics, runs_of
from neuron_profile.analysis.roofline.bounds import above_one, bounds
from neuron_profile.hardware import DevicePeaks
from trace_format import Trace

_DEVICE = "NeuronCore"
_TYPE = "bf16"  # the Tensor engine's rate that AWS's profiler divides by is that of BF16
_KIND, _RECORDED = "execution", "recorded"
_NS_PER_S = 1e9
_LONGEST_NS = 1 << 62  # a source may report anything


def execution_rows(trace: Trace, given: DevicePeaks | None) -> pd.DataFrame:
    """A row of `roofline` for each program that ran on a Neuron device; no rows for a trace without.

    FLOPs are those of the Tensor engine without transposes, as in AWS's mm_arithmetic_intensity; bytes those of HBM.
    The peaks are AWS's too: of the cores' Tensor engines, and of the memory of the logical core.
    """
    runs = [_Run.of(run, given) for run in device_metrics(trace).executions]
    if not runs:
        return pd.DataFrame()
    frame = pd.DataFrame(
        {
            "op": [run.name for run in runs], "source": [run.source for run in runs],
            "peak_flops": [run.peak_flops for run in runs], "peak_bytes": [run.peak_bytes for run in runs],
            "time_ns": [run.total_ns for run in runs], "flops": [run.hardware - run.transposes for run in runs],
            "bytes": [run.moved for run in runs], "slice": [run.slice for run in runs_of(trace)],
        }
    ).sort_values("time_ns", ascending=False, kind="stable")  # fmt: skip
    frame = frame.groupby(["op", "source", "peak_flops", "peak_bytes"], dropna=False, sort=False, as_index=False).agg(
        count=("time_ns", "size"), time_ns=("time_ns", "sum"), flops=("flops", _all), bytes=("bytes", _all),
        slice=("slice", "first"),
    )  # fmt: skip
    limits = bounds(
        frame["flops"].to_numpy(np.float64), frame["bytes"].to_numpy(np.float64), frame["time_ns"].to_numpy(np.int64),
        peak_flops=frame["peak_flops"].to_numpy(np.float64), peak_bytes=frame["peak_bytes"].to_numpy(np.float64),
        sources=frame["source"].tolist(),
    )  # fmt: skip
    rows = {
        "op": frame["op"], "kind": _KIND, "device": _DEVICE, "dtype": _TYPE, "count": frame["count"],
        "time_ns": frame["time_ns"], "share_ratio": np.nan, "flops": frame["flops"],
        "flops_source": np.where(frame["flops"].notna(), _RECORDED, ""), "bytes": frame["bytes"],
        "bytes_source": np.where(frame["bytes"].notna(), _RECORDED, ""), **limits.columns(),
        "slice": frame["slice"],
    }  # fmt: skip
    return pd.DataFrame(rows)


def execution_utilisations(trace: Trace, given: DevicePeaks | None) -> list[dict[str, Any]]:
    """A row of `utilisation` for each run of a NEFF, in order of rank, device, core and time."""
    return [_utilisation(run, _Run.of(run, given), given) for run in device_metrics(trace).executions]


def _utilisation(run: ExecutionMetrics, sums: _Run, given: DevicePeaks | None) -> dict[str, Any]:
    # AWS's fractions are of the peaks it takes; with others given they are as many times smaller as those are larger
    stated = sums if given is None else _Run.of(run, None)
    hfu, mfu = (
        _number(run, name) * stated.peak_flops / sums.peak_flops
        for name in ("hfu_estimated_percent", "mfu_estimated_percent")
    )
    mbu = _number(run, "mbu_estimated_percent") * stated.peak_bytes / sums.peak_bytes
    notes = run.values.get("notes", ()) if given is None else (above_one(flops=hfu, nbytes=mbu, source=sums.source),)
    return {
        "rank": run.rank, "device": run.device, "step": run.index, "name": run.name, "kind": _KIND,
        "start_ns": run.start_ns, "end_ns": run.start_ns + sums.total_ns, "total_ns": sums.total_ns,
        "device_ns": sums.active_ns, "hardware_flops": sums.hardware,
        "model_flops": _number(run, "model_flops") or np.nan,  # AWS: 0 where the NEFF has no HLO statistics
        "bytes": sums.moved, "hfu_ratio": hfu, "mfu_ratio": mfu, "mbu_ratio": mbu, "dtypes": "",
        "flops_source": _RECORDED if np.isfinite(sums.hardware) else "",
        "peak_flops_per_s": sums.peak_flops, "peak_bytes_per_s": sums.peak_bytes, "peak_source": sums.source,
        "flops_coverage_ratio": float(np.isfinite(sums.hardware)),
        "bytes_coverage_ratio": float(np.isfinite(sums.moved)),
        "peak_coverage_ratio": float(np.isfinite(sums.peak_flops)), "note": "; ".join(str(note) for note in notes),
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Run:
    """What a run did and could have done; NaN where unknown. Rates per second of its logical core."""

    name: str
    total_ns: int
    active_ns: int
    hardware: float
    transposes: float
    moved: float
    peak_flops: float
    peak_bytes: float
    source: str

    @classmethod
    def of(cls, run: ExecutionMetrics, given: DevicePeaks | None) -> _Run:
        total_ns, active_ns = (
            min(round(_number(run, name, 0.0) * _NS_PER_S), _LONGEST_NS) for name in ("total_time", "total_active_time")
        )  # fmt: skip
        peak_flops = _number(run, "peak_flops_per_core") * _number(run, "num_physical_cores", 1.0)
        peak_bytes, source = _number(run, "hbm_bytes_per_s"), str(run.values.get("peaks_source", ""))
        if given is not None:
            peak_flops = given.flops_by_dtype.get(_TYPE, np.nan)
            peak_bytes, source = given.memory_bytes_per_s or np.nan, given.source
        return cls(
            run.name, total_ns, active_ns, _number(run, "hardware_flops"), _number(run, "transpose_flops"),
            _number(run, "hbm_read_bytes") + _number(run, "hbm_write_bytes"), peak_flops, peak_bytes, source,
        )  # fmt: skip


def _all(numbers: pd.Series[float]) -> float:
    """The sum; unknown where one of them is."""
    return float(numbers.sum(skipna=False))


def _number(run: ExecutionMetrics, name: str, unknown: float = float("nan")) -> float:
    """A metric; `unknown` where the run has none, or no number."""
    value = run.values.get(name)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else unknown
