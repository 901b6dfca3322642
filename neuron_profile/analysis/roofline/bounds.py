"""What the peaks of a device allow, and how near something came to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray

_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class Bounds:
    """Rates, limits and their ratios, as columns `(n,)`; see `roofline` for what each is. NaN and "" are unknown."""

    arithmetic_intensity: Array
    flops_per_s: Array
    bytes_per_s: Array
    peak_flops_per_s: Array
    peak_bytes_per_s: Array
    peak_source: list[str]
    bound: list[str]
    attainable_flops_per_s: Array
    flops_ratio: Array
    bytes_ratio: Array
    efficiency_ratio: Array
    note: list[str]

    def columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def bounds(
    flops: Array, nbytes: Array, time_ns: Array, *, peak_flops: Array, peak_bytes: Array, sources: Sequence[str]
) -> Bounds:
    """The bounds of work with these FLOPs, bytes and times; `sources` say where its peaks come from.

    Roofline (Williams, Waterman and Patterson, 2009): attainable = min(intensity x peak bandwidth, peak FLOP/s). Where
    nothing is computed the memory alone bounds it, and it is bound by memory even if no peak is known for its type.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        seconds = np.where(time_ns > 0, time_ns / _NS_PER_S, np.nan)
        intensity = np.where(nbytes > 0, flops / nbytes, np.nan)
        flops_per_s, bytes_per_s = flops / seconds, nbytes / seconds
        computing_s = np.where(flops == 0, 0.0, flops / peak_flops)
        moving_s = nbytes / peak_bytes
        least_s = np.maximum(computing_s, moving_s)  # NaN where either is unknown
        attainable = np.minimum(intensity * peak_bytes, peak_flops)
        flops_ratio, bytes_ratio = flops_per_s / peak_flops, bytes_per_s / peak_bytes
        efficiency = least_s / seconds
    known = np.isfinite(least_s)
    return Bounds(
        arithmetic_intensity=intensity, flops_per_s=flops_per_s, bytes_per_s=bytes_per_s,
        peak_flops_per_s=np.where(np.isfinite(peak_flops), peak_flops, np.nan),
        peak_bytes_per_s=np.where(np.isfinite(peak_bytes), peak_bytes, np.nan),
        peak_source=list(sources),
        bound=[("compute" if computes else "memory") if knows else ""
               for computes, knows in zip((computing_s > moving_s).tolist(), known.tolist(), strict=True)],
        attainable_flops_per_s=attainable, flops_ratio=flops_ratio, bytes_ratio=bytes_ratio,
        efficiency_ratio=efficiency,
        note=[above_one(flops=f, nbytes=b, source=s)
              for f, b, s in zip(flops_ratio.tolist(), bytes_ratio.tolist(), sources, strict=True)],
    )  # fmt: skip


def above_one(*, flops: float, nbytes: float, source: str) -> str:
    """What it means that work did more than its peaks allow; "" where it did not."""
    notes = []
    if flops > 1:
        notes.append(f"{flops:.3g} times the peak FLOP/s: the peak is wrong, or fewer FLOPs were done than are counted")
    if nbytes > 1:
        notes.append(f"{nbytes:.3g} times the peak bytes/s: the peak is wrong, or a cache held some of the data")
    return "; ".join(notes) + (f" (peak: {source})" if notes and source else "")
