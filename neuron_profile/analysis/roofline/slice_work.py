"""What one slice of a device did, and what its device could have done meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.arguments import slice_row
from neuron_profile.analysis.derived import kept_with_the_trace
from neuron_profile.analysis.roofline.devices import Devices, devices_of
from neuron_profile.analysis.roofline.operators import SOURCES
from neuron_profile.analysis.roofline.work import DTYPES, Work, work_of
from trace_format import Trace

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class SliceWork:
    """What one slice did; NaN, "" and -1 are unknown.

    - `flops`, `bytes`: its part, by time, of what the operator behind it has, or of its own records, which their
      `..._source` tell: "recorded", "formula" or "generic" as in `roofline`.
    - `operator`: the row of the operator behind it. `dtype`: of the operator's largest input.
    - `peak_flops_per_s` (dense, for the type), `peak_bytes_per_s`: of its device, by `peak_source`.
    """

    flops: float
    flops_source: str
    bytes: float
    bytes_source: str
    operator: int
    dtype: str
    peak_flops_per_s: float
    peak_bytes_per_s: float
    peak_source: str


def slice_work(trace: Trace, row: int) -> SliceWork | None:
    """The work of one slice as `roofline` counts it; None for a slice that is no work of a device.

    The first call for a trace works all slices out and keeps them.
    Raises ValueError for a row that there is not.
    """
    row = slice_row(trace, row)
    devices, work, order = _work(trace)
    place = int(np.searchsorted(work.slice, row, sorter=order))
    if place == len(order) or work.slice[at := int(order[place])] != row:
        return None
    device, owner = int(work.device[at]), int(work.owner[at])
    dtype = DTYPES[work.dtype[at]]
    peaks = devices.peaks[device]
    return SliceWork(
        flops=float(work.flops[at]), flops_source=SOURCES[work.flops_source[at]],
        bytes=float(work.bytes[at]), bytes_source=SOURCES[work.bytes_source[at]],
        operator=int(work.operators.rows[owner]) if owner >= 0 else -1, dtype=dtype,
        peak_flops_per_s=peaks.flops_by_dtype.get(dtype, np.nan) if peaks else np.nan,
        peak_bytes_per_s=(peaks and peaks.memory_bytes_per_s) or np.nan,
        peak_source=peaks.source if peaks else "",
    )  # fmt: skip


@kept_with_the_trace
def _work(trace: Trace) -> tuple[Devices, Work, Array]:
    """The work of a trace, and its order by row."""
    devices = devices_of(trace)
    work = work_of(trace, devices)
    return devices, work, np.argsort(work.slice, kind="stable")
