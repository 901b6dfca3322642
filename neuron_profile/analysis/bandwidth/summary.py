"""How much of its bandwidth each channel used."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from neuron_profile.analysis.bandwidth.bytes_moved import coverage
from neuron_profile.analysis.bandwidth.channel_loads import ChannelLoad, channel_loads
from neuron_profile.analysis.bandwidth.channels import DIRECTIONS, OF_LINKS, PEER, TO_DEVICE, Channel, copy_directions
from neuron_profile.analysis.bandwidth.movement import movement
from neuron_profile.analysis.bandwidth.peak_rates import PeakRate, PeakRates
from neuron_profile.analysis.sides import DEVICE, HOST, SIDES, side_of_slices
from neuron_profile.analysis.texts import table
from neuron_profile.hardware import DevicePeaks
from trace_format import CATEGORIES, TRACK_KINDS, Trace

Array = np.ndarray

BUSY_RATIO = 0.8  # of the peak: what counts as saturated
PEAK_IS_WRONG = "above the peak: the peak is wrong"
CACHES_OR_PEAK = "above the peak: the peak is wrong, or caches served part of these estimated bytes"
_COLUMNS = (
    "rank", "device", "core", "side", "direction", "queue", "bytes", "estimated_ratio", "window_ns", "active_ns",
    "average_bytes_per_s", "active_bytes_per_s", "highest_bytes_per_s", "bin_ns", "peak_bytes_per_s", "peak_source",
    "average_share_ratio", "active_share_ratio", "highest_share_ratio", "above_80_percent_ns", "above_80_percent_ratio",
    "coverage_ratio", "warning",
)  # fmt: skip
_WORK = np.isin(CATEGORIES, ("host_op", "runtime", "compute", "dma", "memcpy", "memset", "collective", "other"))
_MEMCPY, _DMA_QUEUE = CATEGORIES.index("memcpy"), TRACK_KINDS.index("dma_queue")


def bandwidth_summary(trace: Trace, bins: int = 1000, peaks: DevicePeaks | None = None) -> pd.DataFrame:
    """How fast bytes went over each channel, on average and at most, and what share of its peak that is.

    A channel is a direction of a device: memory_read and memory_write, memory (both together, and what does not tell
    which), host_to_device, device_to_host, peer, and each dma_queue of a NeuronCore; on the host its memory. The
    window is from the first byte to the last; the highest rate is that of a bin, a `bins`-th of it, and so is the time
    above 80 % of the peak made of whole bins. `peaks` take the place of what is known of the devices.

    Columns: rank, device, core (-1: not told), side, direction, queue ("" for what is none), bytes, estimated_ratio,
    window_ns, active_ns (in which any of its transfers was under way), average_bytes_per_s (over the window),
    active_bytes_per_s (over active_ns; NaN where that is 0), highest_bytes_per_s, bin_ns, peak_bytes_per_s (NaN: not
    known), peak_source, average_share_ratio, active_share_ratio, highest_share_ratio (of the peak),
    above_80_percent_ns, above_80_percent_ratio (of the window), coverage_ratio (share of the time of the work of its
    device, or of the packets of its queue, of which the bytes are known), warning ("" or that a share is above 1).
    Sorted by rank, device, core, side, direction, queue. `attrs`: those of `bytes_moved`.
    A trace that tells of no bytes gives an empty frame. Raises ValueError for fewer than one bin.
    """
    if bins < 1:
        raise ValueError(f"a summary of bandwidth needs at least one bin, not {bins}")
    loads, limits, known = channel_loads(trace, bins), PeakRates(trace, peaks), _coverage(trace)
    rows = []
    for channel, load in loads.of.items():
        limit = limits.of(channel)
        covered = 1.0 if load.is_counted else known.get(_place(channel), math.nan)
        rows.append((*_identity(channel), *_numbers(load, loads.edges, limit), covered))
    frame = table(rows, _COLUMNS[:-1])
    shares = frame[["active_share_ratio", "highest_share_ratio"]].max(axis=1)
    frame["warning"] = np.where(
        shares > 1, np.where(frame["estimated_ratio"] > 0, CACHES_OR_PEAK, PEAK_IS_WRONG), ""
    ).astype(object)
    frame.attrs.update(coverage(movement(trace)))
    return frame


def _identity(channel: Channel) -> tuple[int, int, int, str, str, str]:
    return channel.rank, channel.device, channel.core, channel.side, channel.direction, channel.queue


def _numbers(load: ChannelLoad, edges: Array, limit: PeakRate) -> tuple[object, ...]:
    width, peak = np.diff(edges), limit.bytes_per_s
    rates = load.binned / width * 1e9
    nbytes, window_ns = load.bytes, int(edges[-1] - edges[0])
    active_ns = int((load.stop - load.begin).sum())
    average, highest = nbytes / window_ns * 1e9, float(rates.max())
    active = nbytes / active_ns * 1e9 if active_ns else math.nan
    above_ns = int(width[rates >= BUSY_RATIO * peak].sum()) if not math.isnan(peak) else -1
    estimated = load.estimated_bytes / nbytes if nbytes else math.nan
    return (
        round(nbytes), estimated, window_ns, active_ns, average, active, highest, int(width.max()), peak, limit.source,
        average / peak, active / peak, highest / peak, above_ns, above_ns / window_ns if above_ns >= 0 else math.nan,
    )  # fmt: skip


def _place(channel: Channel) -> tuple[object, ...]:
    """What a channel's coverage is told of: its queue, its direction of a link, or else all other work of its side."""
    if channel.queue:
        return channel.rank, channel.device, channel.core, channel.queue
    return channel.rank, channel.device, channel.direction if channel.direction in OF_LINKS else channel.side


def _coverage(trace: Trace) -> dict[tuple[object, ...], float]:
    """For each place (see `_place`) the share of the time of its work of which the bytes are known."""
    slices, tracks, side = trace.slices, trace.tracks, side_of_slices(trace)
    known = np.zeros(len(slices), bool)
    known[movement(trace).slice] = True
    # by what a place is: all work of a device but copies over links, these by direction, the work of a host
    kinds: list[tuple[str, Array]] = [(SIDES[HOST], np.flatnonzero((side == HOST) & _WORK[slices.category]))]
    copies = np.flatnonzero(slices.category == _MEMCPY)
    direction = copy_directions(trace, copies)
    on_device = (side == DEVICE) & _WORK[slices.category]
    for way in range(TO_DEVICE, PEER + 1):
        rows = copies[direction == way]
        on_device[rows] = False
        kinds.append((DIRECTIONS[way], rows))
    kinds.append((SIDES[DEVICE], np.flatnonzero(on_device)))
    queues, places = _queue_names(trace), list(zip(tracks.rank, tracks.device, tracks.core, strict=True))
    sums: dict[tuple[object, ...], tuple[float, float]] = {}
    for kind, rows in kinds:
        # operators lie in one another, and those that count do not
        own_ns = slices.self_ns[rows] if kind == SIDES[HOST] else slices.dur_ns[rows]
        whole_ns = _by_track(trace, rows, own_ns)
        rows = rows[known[rows]]
        known_ns = _by_track(trace, rows, slices.dur_ns[rows])
        for row in np.flatnonzero(whole_ns).tolist():
            rank, device, core = (int(number) for number in places[row])
            place = (rank, device, core, queues[row]) if row in queues else (rank, device, kind)
            before = sums.get(place, (0.0, 0.0))
            sums[place] = before[0] + float(known_ns[row]), before[1] + float(whole_ns[row])
    return {place: min(part / whole, 1.0) for place, (part, whole) in sums.items()}


def _by_track(trace: Trace, rows: Array, dur_ns: Array) -> Array:
    """The sum of the durations of these slices on each track; -1 is of one that did not finish."""
    sums = np.zeros(len(trace.tracks), np.int64)
    np.add.at(sums, trace.slices.track[rows], np.maximum(dur_ns, 0))
    return sums


def _queue_names(trace: Trace) -> dict[int, str]:
    """The queue of each track that is one, by the name of its packets."""
    slices, tracks = trace.slices, trace.tracks
    is_queue = tracks.kind == _DMA_QUEUE
    if not is_queue.any():
        return {}
    packets = np.flatnonzero(is_queue[slices.track])
    queues, first = np.unique(slices.track[packets], return_index=True)
    names = slices.name[packets[first]].tolist()
    return {queue: trace.pool.strings[name] for queue, name in zip(queues.tolist(), names, strict=True)}
