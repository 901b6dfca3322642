"""How much of what the devices can do a step uses: MFU, HFU, MBU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.measured import measured_window_ns
from neuron_profile.analysis.roofline.bounds import above_one
from neuron_profile.analysis.roofline.devices import devices_of
from neuron_profile.analysis.roofline.executions import execution_utilisations
from neuron_profile.analysis.roofline.sums import Place, Sums, WindowSums
from neuron_profile.analysis.roofline.work import DTYPES, work_of
from neuron_profile.analysis.steps.steps import WHOLE_WINDOW, steps
from neuron_profile.hardware import DevicePeaks
from trace_format import Trace

Array = np.ndarray

WHOLE = -1
_LONGEST_NS = (1 << 63) - 1  # what its column holds; a window of broken times may be longer
_INTEGERS = ("rank", "device", "step", "start_ns", "end_ns", "total_ns", "device_ns")
COLUMNS = (
    "rank", "device", "step", "name", "kind", "start_ns", "end_ns", "total_ns", "device_ns", "hardware_flops",
    "model_flops", "bytes", "hfu_ratio", "mfu_ratio", "mbu_ratio", "dtypes", "flops_source", "peak_flops_per_s",
    "peak_bytes_per_s", "peak_source", "flops_coverage_ratio", "bytes_coverage_ratio", "peak_coverage_ratio", "note",
)  # fmt: skip


def utilisation(trace: Trace, *, peaks: DevicePeaks | None = None) -> pd.DataFrame:
    """HFU, MFU and MBU of each device in each step, and over the whole window, by rank, device and start.

    - hfu_ratio: the time that all FLOPs would take at the peak of their type, over the step's time;
    - mfu_ratio: the same without what only repeats earlier work (see `recomputation`; and the scores that a fused
      attention computes again in its backward pass); NaN where the trace does not tell what does;
    - mbu_ratio: bytes moved over what the memory can move in the step.

    FLOPs are those of products of matrices (matmul, convolution, attention), as the peaks are, or any that the source
    states of work that is no known operator. What nothing is known of counts for nothing: with a coverage below 1 the
    ratios are lower bounds. A kernel on the border of two steps counts in each for the time it is there. Of a rank
    without device work its host's operators are the work, device -1, against `peaks` alone, which also take the place
    of the published peaks of every device. A run of a NEFF on a Neuron device is a row of kind "execution", by AWS's
    definitions (see `neuron_device.device_metrics`). Simulated tracks are not looked at.

    Columns: rank, device, step (`WHOLE` = -1: the whole window), name, kind ("step" or "execution"), start_ns, end_ns,
    total_ns, device_ns (sum of the kernels' time in it, without collectives and copies from and to the host),
    hardware_flops, model_flops, bytes, the three ratios, dtypes (of the FLOPs, most first: "bf16, fp32"), flops_source
    ("recorded", "formula", or both), peak_flops_per_s (of those types together, weighted by their FLOPs),
    peak_bytes_per_s, peak_source; flops_coverage_ratio and bytes_coverage_ratio (share of device_ns with known FLOPs,
    bytes), peak_coverage_ratio (share of hardware_flops whose type has a known peak; others are in no ratio); note
    (why MFU is unknown, or what is wrong where a ratio is above 1). Unknown is NaN. `attrs`: found_by (as in `steps`).
    A trace without work gives an empty frame with the same columns.
    """
    devices, found = devices_of(trace, peaks), steps(trace)
    sums = Sums(trace, work_of(trace, devices), devices)
    whole = _whole(trace) if found.attrs["found_by"] != "window" else None
    rows: list[dict[str, Any]] = []
    for place in sums.places:
        for windows in (_windows(found, place.rank), whole):
            if windows is not None:
                of_windows = sums.of(place, windows.begin, windows.stop)
                rows += [_row(place, windows, at, of_windows, sums.untold(place.rank)) for at in range(len(windows))]
    rows += execution_utilisations(trace, peaks)
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for name in COLUMNS:
        if name in _INTEGERS:
            frame[name] = frame[name].astype(np.int64)
        elif name.endswith(("_ratio", "_flops", "_per_s", "bytes")):
            frame[name] = frame[name].astype(np.float64)
    frame.attrs["found_by"] = found.attrs["found_by"]
    return frame


@dataclass(frozen=True, slots=True, eq=False)
class _Windows:
    """Disjoint windows in order: numbers and names of steps, and their borders."""

    steps: list[int]
    names: list[str]
    begin: Array
    stop: Array

    def __len__(self) -> int:
        return len(self.steps)


def _windows(found: pd.DataFrame, rank: int) -> _Windows:
    """The steps of a rank, each cut off where the next begins."""
    mine = found[(found["rank"] == rank) | (found["rank"] < 0)]
    begin, stop = mine["start_ns"].to_numpy(np.int64), mine["end_ns"].to_numpy(np.int64)
    stop = np.maximum(np.minimum(stop, np.r_[begin[1:], np.iinfo(np.int64).max][: len(stop)]), begin)
    return _Windows(mine["step"].tolist(), mine["name"].tolist(), begin, stop)


def _whole(trace: Trace) -> _Windows | None:
    window = measured_window_ns(trace)
    return window and _Windows([WHOLE], [WHOLE_WINDOW], np.array(window[:1]), np.array(window[1:]))


def _row(place: Place, windows: _Windows, at: int, sums: WindowSums, untold: str) -> dict[str, Any]:
    """A row of `utilisation`."""
    peaks = place.peaks
    begin, stop = int(windows.begin[at]), int(windows.stop[at])
    seconds = (stop - begin) / 1e9
    flops, model = sums.flops[at], sums.model_flops[at]
    rates = np.array([peaks.flops_by_dtype.get(dtype, np.nan) if peaks else np.nan for dtype in DTYPES])
    rated = np.isfinite(rates)
    hardware, with_peak = float(flops.sum()), float(flops[rated].sum())
    at_peak_s, model_at_peak_s = (float((part[rated] / rates[rated]).sum()) for part in (flops, model))
    known_flops = bool(sums.known_flops_ns[at] > 0) or hardware > 0  # a kernel may have taken no time
    known_bytes = bool(sums.known_bytes_ns[at] > 0) or bool(sums.bytes[at] > 0)
    hfu, mfu = (_over(part, seconds) if with_peak else np.nan for part in (at_peak_s, model_at_peak_s))
    memory = (peaks.memory_bytes_per_s if peaks else None) or np.nan
    moved = float(sums.bytes[at]) if known_bytes else np.nan
    mbu = _over(moved, seconds * memory)
    source = peaks.source if peaks else ""
    notes = (f"MFU is unknown: {untold}" if untold else "", above_one(flops=hfu, nbytes=mbu, source=source))
    return {
        "rank": place.rank, "device": place.device, "step": windows.steps[at], "name": windows.names[at],
        "kind": "step", "start_ns": begin, "end_ns": stop, "total_ns": min(stop - begin, _LONGEST_NS),
        "device_ns": round(float(sums.time_ns[at])),
        "hardware_flops": hardware if known_flops else np.nan,
        "model_flops": float(model.sum()) if known_flops and not untold else np.nan, "bytes": moved,
        "hfu_ratio": hfu, "mfu_ratio": np.nan if untold else mfu, "mbu_ratio": mbu,
        "dtypes": ", ".join(DTYPES[i] or "unknown" for i in np.argsort(-flops, kind="stable").tolist() if flops[i] > 0),
        "flops_source": sums.sources[at],
        "peak_flops_per_s": _over(with_peak, at_peak_s), "peak_bytes_per_s": memory, "peak_source": source,
        "flops_coverage_ratio": min(_over(sums.known_flops_ns[at], sums.time_ns[at]), 1.0),
        "bytes_coverage_ratio": min(_over(sums.known_bytes_ns[at], sums.time_ns[at]), 1.0),
        "peak_coverage_ratio": _over(with_peak, hardware), "note": "; ".join(note for note in notes if note),
    }  # fmt: skip


def _over(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else float("nan")
