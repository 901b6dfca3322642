"""How much of each collective lies under no compute."""

from __future__ import annotations

import numpy as np

from neuron_profile.analysis.collectives.spans import Spans
from neuron_profile.analysis.intervals import covered_before, merged
from neuron_profile.analysis.work import COMPUTE, Intervals, by_device, device_work, of_rank, operators, union_of
from trace_format import Trace

Array = np.ndarray
Place = tuple[int, int, bool]  # rank, device, whether it is one


def computing(trace: Trace, spans: Spans) -> dict[Place, Intervals]:
    """When each device that had collectives computed; for a host that had them, when its operators ran."""
    found: dict[Place, Intervals] = {}
    places = set(zip(spans.rank.tolist(), spans.device.tolist(), spans.on_device.tolist(), strict=True))
    if any(on_device for _, _, on_device in places):
        rows = np.flatnonzero(device_work(trace) == COMPUTE)
        found = {
            (rank, device, True): union_of(trace, mine)
            for rank, device, mine in by_device(trace, rows)
            if (rank, device, True) in places
        }
    none = np.zeros(0, np.int64)
    for rank, device, on_device in places:
        if (rank, device, on_device) not in found:
            found[rank, device, on_device] = (none, none) if on_device else of_rank(operators(trace), rank)
    return found


def of_place(spans: Spans, place: Place) -> Array:
    """Which spans (bool) were on this device or host."""
    rank, device, on_device = place
    return (spans.rank == rank) & (spans.device == device) & (spans.on_device == on_device)


def exposed_ns(trace: Trace, spans: Spans, busy: dict[Place, Intervals]) -> Array:
    """How long each span was under no compute of its device (`busy`: see `computing`), `(n,) int64`."""
    out = np.zeros(len(spans), np.int64)
    start = trace.slices.ts_ns[spans.piece_slice]
    end = start + trace.slices.dur_ns[spans.piece_slice]
    for place, compute in busy.items():
        pieces = np.flatnonzero(of_place(spans, place)[spans.piece_span])
        hidden = covered_before(end[pieces], *compute) - covered_before(start[pieces], *compute)
        np.add.at(out, spans.piece_span[pieces], end[pieces] - start[pieces] - hidden)
    return out


def work_of(trace: Trace, spans: Spans, place: Place) -> Intervals:
    """When a device or host was in any collective."""
    pieces = spans.piece_slice[of_place(spans, place)[spans.piece_span]]
    start = trace.slices.ts_ns[pieces]
    return merged(start, start + trace.slices.dur_ns[pieces])
