"""How busy each line of each device is over time: its streams, or its engines and DMA queues."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuron_profile.analysis.bandwidth.channel_loads import bin_edges, bounded
from neuron_profile.analysis.collectives.arrivals import arrivals
from neuron_profile.analysis.intervals import covered, merged
from neuron_profile.analysis.texts import table
from neuron_profile.analysis.work import NONE, device_work, kind_of_work
from trace_format import TRACK_KINDS, Trace
from trace_format.importers.neuron_device.engines import ENGINES

Array = np.ndarray

DEVICE = "device"  # the kind of a lane that is all the work of its device
_KINDS = ("engine", "stream", "dma_queue", "collective")  # in which order the lanes of a device come
_COLUMNS = ("rank", "device", "core", "track", "name", "kind", "slices", "busy_ns", "busy_ratio")


@dataclass(frozen=True, slots=True, eq=False)
class DeviceLanes:
    """The lanes of devices, and how busy each is in bins of equal time.

    - `lanes`: rank, device, core (-1: not told), track (its row; -1: all work of the device together), name (that of
      the track; of an engine its own), kind (that of the track, `DEVICE` for all work together), slices (of work),
      busy_ns (when any of it was under way), busy_ratio (of the window). By rank and device, all work together first,
      then by core its engines, streams, DMA queues and collectives.
    - `edges_ns`: `(bins + 1,) int64`. `busy_ratio`: `(len(lanes), bins) float64`, the share of each bin.
    """

    lanes: pd.DataFrame
    edges_ns: Array
    busy_ratio: Array


def device_lanes(trace: Trace, bins: int = 400, *, simulated: bool = False) -> DeviceLanes:
    """The lanes of the measured devices, or of the simulated ones: never both.

    Work is what computes, communicates or copies (see `breakdown`); what waits or names others is none, nor is the part
    of a collective in which its rank waits for the last one to come (see `arrivals`). The window is
    the time of the trace; of simulated devices that from their first work to their last. Slices without an end are
    left out. A trace without such devices gives no lanes. Raises ValueError for fewer than one bin.
    """
    if bins < 1:
        raise ValueError(f"lanes of devices need at least one bin, not {bins}")
    rows = _work(trace, simulated=simulated)
    start, dur_ns = bounded(trace.slices.ts_ns[rows], trace.slices.dur_ns[rows])
    end = start + dur_ns
    if not simulated:
        start = _without_waiting(trace, rows, start, end)
    edges = _edges(trace, start, end, bins, simulated=simulated)
    window_ns = max(int(edges[-1] - edges[0]), 1)
    track = trace.slices.track[rows]
    borders = np.flatnonzero(np.diff(track)) + 1  # slices come track by track
    first, last = np.r_[0, borders][: len(track)], np.r_[borders, len(track)][: len(track)]
    used = track[first].astype(np.int64)
    unions = {
        row: merged(start[a:b], end[a:b])
        for row, a, b in zip(used.tolist(), first.tolist(), last.tolist(), strict=True)
    }
    frame, members = _lanes(trace, used)
    counts = np.bincount(track, minlength=len(trace.tracks))
    ratios, busy = np.zeros((len(frame), len(edges) - 1)), np.zeros(len(frame), np.int64)
    for number, tracks in enumerate(members):
        begin, stop = (np.concatenate(borders) for borders in zip(*(unions[row] for row in tracks), strict=True))
        inside = covered(edges, begin, stop)
        ratios[number], busy[number] = inside / np.diff(edges), int(inside.sum())
    frame["slices"] = np.array([counts[tracks].sum() for tracks in members], np.int64)
    frame["busy_ns"], frame["busy_ratio"] = busy, busy / window_ns
    return DeviceLanes(frame[list(_COLUMNS)], edges, ratios)


def _work(trace: Trace, *, simulated: bool) -> Array:
    """The rows of the work of measured or simulated devices, in order."""
    tracks = trace.tracks
    if not simulated:
        return np.flatnonzero(device_work(trace) != NONE)
    kinds = [TRACK_KINDS.index(kind) for kind in _KINDS]
    chosen = tracks.simulated.astype(bool) & np.isin(tracks.kind, kinds)
    return np.flatnonzero(kind_of_work(trace, chosen) != NONE) if chosen.any() else np.zeros(0, np.int64)


def _without_waiting(trace: Trace, rows: Array, start: Array, end: Array) -> Array:
    """The starts of work, those of slices of a collective no sooner than its last rank came."""
    come = arrivals(trace)
    spans = come.spans
    all_here = (spans.start_ns + np.maximum(come.wait_ns, 0))[spans.piece_span]
    of_slice = np.full(len(trace.slices), np.iinfo(np.int64).min)
    np.maximum.at(of_slice, spans.piece_slice, all_here)
    return np.clip(of_slice[rows], start, end)


def _edges(trace: Trace, start: Array, end: Array, bins: int, *, simulated: bool) -> Array:
    window = trace.time_range_ns
    if simulated or window is None or not len(start):
        return bin_edges(start, end, bins)
    borders = np.array([min(window[0], int(start.min())), max(window[1], int(end.max()))], np.int64)
    return bin_edges(borders[:1], borders[1:], bins)


def _lanes(trace: Trace, used: Array) -> tuple[pd.DataFrame, list[list[int]]]:
    """A row for each device and for each of its tracks with work, and the tracks that each row is made of."""
    tracks = trace.tracks
    names, engines = tracks.text("name"), tracks.text("engine")
    kind = [TRACK_KINDS[number] for number in tracks.kind.tolist()]
    core = tracks.core.tolist()

    def place(row: int) -> tuple[int, int, int, int]:
        of_kind = _KINDS.index(kind[row]) if kind[row] in _KINDS else len(_KINDS)
        return core[row], of_kind, ENGINES.index(engines[row]) if engines[row] in ENGINES else len(ENGINES), row

    devices: dict[tuple[int, int], list[int]] = {}
    for row in sorted(used.tolist(), key=place):
        devices.setdefault((int(tracks.rank[row]), int(tracks.device[row])), []).append(row)
    rows: list[tuple[int, int, int, int, str, str]] = []
    members: list[list[int]] = []
    for (rank, device), mine in sorted(devices.items()):
        rows.append((rank, device, -1, -1, "", DEVICE))
        rows += [(rank, device, core[row], row, engines[row] or names[row], kind[row]) for row in mine]
        members += [mine, *([row] for row in mine)]
    return table(rows, ["rank", "device", "core", "track", "name", "kind"]), members
