"""What each operator needs, how fast it was done, and how fast the device could have done it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.arguments import top_rows
from neuron_profile.analysis.grouping import Groups, group
from neuron_profile.analysis.operations.attribution import call_text
from neuron_profile.analysis.roofline.bounds import Bounds, bounds
from neuron_profile.analysis.roofline.devices import Devices, devices_of
from neuron_profile.analysis.roofline.executions import execution_rows
from neuron_profile.analysis.roofline.operators import SOURCES
from neuron_profile.analysis.roofline.work import DTYPES, Work, work_of
from neuron_profile.hardware import DevicePeaks
from trace_format import Trace

Array = np.ndarray

BY = ("op", "name")
_OPERATOR, _KERNEL = "operator", "kernel"


def roofline(trace: Trace, by: str = "op", top: int | None = None, *, peaks: DevicePeaks | None = None) -> pd.DataFrame:
    """The work of each device by operator, one row each, by time, longest first.

    `by` is "op" (the operator with the shapes it was given) or "name" (the operator alone). Device work counts for the
    operator that launched it; a kernel behind which none was recorded has a row of its own name, and a run of a NEFF on
    a Neuron device one of its program's. Calls that differ in type, or in how their FLOPs and bytes are known, have
    rows of their own. Of a rank without any device work its host's operators are the rows. Collectives, copies from and
    to the host, and simulated tracks are left out. `top` keeps the first so many rows. `peaks` takes the place of the
    published peaks of every device, and is the only one a host has.

    Columns: op; kind ("operator", "kernel", "execution"); device (its name, "host", or "unknown device"); dtype
    ("bf16", "tf32", ...: of the largest input; "" unknown); count (calls); time_ns (sum of the durations of its
    kernels; of operators of the host their own); share_ratio (of time_ns in all rows of the same device); flops and
    flops_source ("recorded", "formula" or ""), bytes and bytes_source (each byte moved once; "generic": by the formula
    for operators without one of their own, unless that asks for more than the memory can move); arithmetic_intensity
    (FLOPs per byte); flops_per_s, bytes_per_s (achieved); peak_flops_per_s (dense, for the type), peak_bytes_per_s,
    peak_source; bound ("compute" or "memory": which takes longer at its peak; "" unknown); attainable_flops_per_s (the
    smaller of arithmetic_intensity x peak_bytes_per_s and peak_flops_per_s); flops_ratio, bytes_ratio (achieved over
    peak); efficiency_ratio (the least time at the peaks over time_ns); note (what is wrong where a ratio is above 1);
    slice (the row of the longest slice of the work). Numbers that are not known are NaN.

    `attrs`: time_ns (of all rows), flops_coverage_ratio and bytes_coverage_ratio (shares of it with known FLOPs and
    bytes; NaN where there is none), unplaced_flops (of operators of which no work on a device was recorded; not in the
    rows), implausible_bytes (by the generic formula, left out), unfinished (slices without an end, left out), peaks
    (names of devices -> where their peaks come from).

    Raises ValueError for an unknown `by`.
    Raises ValueError for a `top` below 0.
    """
    top = top_rows(top)
    if by not in BY:
        raise ValueError(f"a roofline cannot be grouped by {by!r}: choose one of {', '.join(BY)}")
    devices = devices_of(trace, peaks)
    work = work_of(trace, devices)
    labels, texts, kinds = _labels(trace, work, by)
    groups = group(
        (labels, work.dtype, work.device, work.flops_source, work.bytes_source),
        (max(len(texts), 1), len(DTYPES), len(devices.names), len(SOURCES), len(SOURCES)),
    )
    frame = _frame(work, groups, devices, texts, kinds)
    runs = execution_rows(trace, peaks)
    if len(runs):
        frame = pd.concat([frame, runs], ignore_index=True) if len(frame) else runs
        frame = frame.sort_values("time_ns", ascending=False, kind="stable", ignore_index=True)
    of_device = frame.groupby("device", sort=False)["time_ns"].transform("sum") if len(frame) else frame["time_ns"]
    frame["share_ratio"] = np.where(of_device > 0, frame["time_ns"] / of_device.where(of_device > 0, 1), np.nan)
    attrs = _coverage(frame, work)
    frame = frame.head(top) if top is not None else frame
    frame.attrs.clear()
    frame.attrs.update(attrs)
    return frame


def _labels(trace: Trace, work: Work, by: str) -> tuple[Array, list[str], list[str]]:
    """The label of each slice as index into texts, and the kind of each; operators with the same text are one."""
    strings, calls, owned = trace.pool.strings.values, work.operators.calls, work.owner >= 0
    found: dict[tuple[str, str], int] = {}
    of_call = np.array(
        [
            found.setdefault((_OPERATOR, call_text(name, args) if by == "op" else name), len(found))
            for name, args in calls
        ],
        np.int64,
    )
    of_name = np.zeros(len(strings), np.int64)
    for name in np.unique(trace.slices.name[work.slice[~owned]]).tolist():
        of_name[name] = found.setdefault((_KERNEL, strings[name]), len(found))
    labels = of_name[trace.slices.name[work.slice]] if len(work.slice) else np.zeros(0, np.int64)
    labels[owned] = of_call[calls.of_row[work.owner[owned]]]
    kinds, texts = zip(*found, strict=True) if found else ((), ())
    return labels, list(texts), list(kinds)


def _frame(work: Work, groups: Groups, devices: Devices, texts: Sequence[str], kinds: Sequence[str]) -> pd.DataFrame:
    label, dtype, device, flops_source, bytes_source = groups.values
    time_ns = groups.sum(work.time_ns)
    order = np.lexsort((label, -time_ns))
    count = np.bincount(groups.of_row, work.first, len(groups)).astype(np.int64)
    flops, nbytes = (np.bincount(groups.of_row, part, len(groups)) for part in (work.flops, work.bytes))
    limits = bounds(
        flops, nbytes, time_ns,
        peak_flops=_peak_flops(devices, device, dtype), peak_bytes=_peak_bytes(devices, device),
        sources=[peaks.source if (peaks := devices.peaks[i]) else "" for i in device.tolist()],
    )  # fmt: skip
    columns: dict[str, Any] = {
        "op": [texts[i] for i in label.tolist()],
        "kind": [kinds[i] for i in label.tolist()],
        "device": [devices.names[i] for i in device.tolist()],
        "dtype": [DTYPES[i] for i in dtype.tolist()],
        "count": count, "time_ns": time_ns, "share_ratio": np.full(len(groups), np.nan),
        "flops": flops, "flops_source": [SOURCES[i] for i in flops_source.tolist()],
        "bytes": nbytes, "bytes_source": [SOURCES[i] for i in bytes_source.tolist()],
    }  # fmt: skip
    frame = as_frame(columns, limits)
    longest = np.zeros(len(groups), np.int64)
    most = groups.max(work.time_ns, least=0)
    at = np.flatnonzero(work.time_ns == most[groups.of_row])
    longest[groups.of_row[at]] = work.slice[at]  # of several the last one written stays
    frame["slice"] = longest
    return frame.iloc[order].reset_index(drop=True)


def as_frame(columns: dict[str, Any], limits: Bounds) -> pd.DataFrame:
    """The columns of `roofline` from what was done and its bounds; texts stay objects where there are no rows."""
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=object) if isinstance(values, list) else values
            for name, values in {**columns, **limits.columns()}.items()
        }
    )


def _peak_flops(devices: Devices, device: Array, dtype: Array) -> Array:
    return np.array(
        [
            known.flops_by_dtype.get(DTYPES[of_type], np.nan) if (known := devices.peaks[kind]) else np.nan
            for kind, of_type in zip(device.tolist(), dtype.tolist(), strict=True)
        ],
        np.float64,
    )


def _peak_bytes(devices: Devices, device: Array) -> Array:
    return np.array(
        [(known and known.memory_bytes_per_s) or np.nan for known in (devices.peaks[kind] for kind in device.tolist())],
        np.float64,
    )


def _coverage(frame: pd.DataFrame, work: Work) -> dict[str, Any]:
    total = int(frame["time_ns"].sum())
    known = {name: int(frame["time_ns"][frame[name].notna()].sum()) for name in ("flops", "bytes")}
    return {
        "time_ns": total,
        "flops_coverage_ratio": known["flops"] / total if total else float("nan"),
        "bytes_coverage_ratio": known["bytes"] / total if total else float("nan"),
        "unplaced_flops": work.unplaced_flops,
        "implausible_bytes": work.implausible_bytes,
        "unfinished": work.unfinished,
        "peaks": {name: source for name, source in zip(frame["device"], frame["peak_source"], strict=True) if source},
    }
