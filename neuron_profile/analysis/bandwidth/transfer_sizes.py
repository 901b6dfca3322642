"""How large the transfers are, and what the small ones cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec
import numpy as np
import pandas as pd

from neuron_profile.analysis.bandwidth.channel_loads import bounded
from neuron_profile.analysis.bandwidth.channels import (
    DIRECTIONS,
    MEMORY,
    OF_LINKS,
    QUEUE,
    READ,
    WRITE,
    Channel,
    Traffic,
    traffic,
)
from neuron_profile.analysis.bandwidth.peak_rates import PeakRates
from neuron_profile.analysis.grouping import group
from neuron_profile.analysis.intervals import union_length
from neuron_profile.analysis.launches.enclosing import Enclosing
from neuron_profile.analysis.launches.launching import launching_slice
from neuron_profile.analysis.sides import HOST, side_of_slices
from neuron_profile.analysis.texts import table
from trace_format import CATEGORIES, TRACK_KINDS, Trace

Array = np.ndarray

# AWS Neuron docs, "Guideline to Avoid Under-Utilizing DMA Bandwidth": payloads of 4 KiB and more saturate HBM
SMALL_DMA_BYTES = 4 << 10
# Where CUDA itself tells small copies apart (CUDA C++ Programming Guide, "Concurrent Execution between Host and
# Device"): what starts a copy, some microseconds, takes as long as these bytes at a PCIe link's rate and longer.
SMALL_COPY_BYTES = 64 << 10
NOT_TOLD = "(not told)"
OBSERVED, PACKET_MODEL, NO_MODEL = "rate of its large transfers", "packet time of the DMA engine", "none"

_CHANNEL = ("rank", "device", "core", "direction", "queue")
_MEMSET = CATEGORIES.index("memset")
_HOST_OP = CATEGORIES.index("host_op")
_DMA_QUEUE = TRACK_KINDS.index("dma_queue")
# Each DMA transfer ends with the update of a semaphore (AWS Neuron docs, "Introduction to DMA with NKI"): packets of
# this size in profiles of trn2.
_SEMAPHORE_BYTES = 4
_FETCH = "instruction"  # the class of queues that fetch instructions: nobody chooses their sizes
_PS_PER_NS = 1000
_BITS = 63  # of a size
_LONGEST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class TransferSizes:
    """The recorded transfers of a trace by size; columns rank, device, core (-1: not told), direction, queue first.

    - `histogram`: at_least_bytes, below_bytes (powers of two; the first bin is [0, 1)), count, bytes, dur_ns (their
      sum, overlap counted), bytes_per_s (of one transfer at a time; NaN where they took no time), count_ratio,
      bytes_ratio, time_ratio (of the channel's). Bins without transfers have no rows.
    - `small`: channels with transfers below what is useful: small_below_bytes, count, count_ratio, bytes, bytes_ratio,
      dur_ns, time_ratio, active_ns (in which any small one was under way), useful_bytes_per_s (of one transfer at a
      time at a useful size), would_take_ns (the same bytes at that rate, at most dur_ns; -1: not known),
      saved_active_ns (an estimate: their share of active_ns that would go; -1: not known), model (what that rate is).
      By dur_ns, most first.
    - `makers`: who made the small ones: what (the tensor of a DMA transfer, the operator that asked for a copy, or
      `NOT_TOLD`), kind ("tensor" or "operator"), count, bytes, dur_ns, slice (the row of the longest). By dur_ns.
    """

    histogram: pd.DataFrame
    small: pd.DataFrame
    makers: pd.DataFrame


def transfer_sizes(trace: Trace) -> TransferSizes:
    """How many transfers of which size went over each channel, and what those cost that are too small.

    A transfer is a recorded copy or a DMA packet: neither memset nor an operator's estimate is one. Small is a DMA
    packet below `SMALL_DMA_BYTES`, save those that fetch instructions or update a semaphore (4 bytes and less), and a
    copy over a link below `SMALL_COPY_BYTES`. What the small ones would take at a useful size is an estimate: their
    bytes at the rate of the channel's transfers that are not small, and where it has none the time that a NeuronCore's
    DMA engine takes for a packet of 4 KiB. A copy within a memory counts once, as "memory". Transfers without an end
    are left out.
    A trace without transfers gives empty frames.
    """
    found = _transfers(trace)
    channel = found.channel
    groups = group((channel, _bit_lengths(found.bytes)), (max(len(found.channels), 1), _BITS + 1))
    of_group, bins = groups.values
    sums = {"count": groups.count(), "bytes": groups.sum(found.bytes), "dur_ps": groups.sum(found.dur_ps)}
    whole = {name: _per_channel(of_group, values, found.channels)[of_group] for name, values in sums.items()}
    histogram = _channels_frame(found.channels, of_group)
    histogram["at_least_bytes"] = np.where(bins > 0, np.int64(1) << np.maximum(bins - 1, 0), 0)
    histogram["below_bytes"] = np.where(bins < _BITS, np.int64(1) << np.minimum(bins, _BITS - 1), _LONGEST)
    histogram["count"], histogram["bytes"] = sums["count"], sums["bytes"]
    histogram["dur_ns"] = sums["dur_ps"] // _PS_PER_NS
    with np.errstate(divide="ignore", invalid="ignore"):
        histogram["bytes_per_s"] = np.where(sums["dur_ps"] > 0, sums["bytes"] / sums["dur_ps"] * 1e12, np.nan)
        for share, name in (("count_ratio", "count"), ("bytes_ratio", "bytes"), ("time_ratio", "dur_ps")):
            histogram[share] = np.where(whole[name] > 0, sums[name] / whole[name], np.nan)
    is_small = _is_small(found)
    return TransferSizes(histogram, _small(trace, found, is_small), _makers(trace, found, is_small))


def small_packets(trace: Trace) -> Array:
    """The rows of the slices that are DMA packets too small by `transfer_sizes`, ascending; empty for none."""
    if not (trace.tracks.kind == _DMA_QUEUE).any():
        return np.zeros(0, np.int64)
    found = _transfers(trace)
    return np.sort(found.slice[_is_small(found) & found.is_queue[found.channel]])


def _is_small(found: _Transfers) -> Array:
    """Whether each transfer is below what is useful on its channel."""
    return (found.bytes < found.small_below[found.channel]) & (
        (found.bytes > _SEMAPHORE_BYTES) | ~found.is_queue[found.channel]
    )


def _bit_lengths(sizes: Array) -> Array:
    """How many bits each size takes, 0 for none: sizes from 2^(n-1) to below 2^n take n."""
    bits = np.where(sizes > 0, np.frexp(sizes.astype(np.float64))[1], 0).astype(np.int64)
    # a float may round up to the next power of two, for the largest sizes beyond all
    bits = np.minimum(bits, _BITS)
    return bits - ((bits > 0) & (sizes < np.int64(1) << np.clip(bits - 1, 0, _BITS - 1)))


@dataclass(frozen=True, slots=True, eq=False)
class _Transfers:
    """The transfers, by channel; `small_below`, `is_queue` are of each channel, `first` says where its rows begin."""

    channels: tuple[Channel, ...]
    first: Array
    channel: Array
    slice: Array
    bytes: Array
    dur_ps: Array
    small_below: Array
    is_queue: Array


def _transfers(trace: Trace) -> _Transfers:
    went, slices = traffic(trace), trace.slices
    rows = np.concatenate([np.zeros(0, np.int64), *(_of_channel(trace, went, i) for i in range(len(went.channels)))])
    row = went.slice[rows]
    small = np.array([_small_below(channel) for channel in went.channels], np.int64)
    is_queue = np.array([bool(channel.queue) for channel in went.channels], bool)
    fetches = np.zeros(len(went.channels), bool)
    is_fetch = slices.source_category[row] == trace.pool.strings.find(_FETCH)
    fetches[went.channel[rows[is_fetch]]] = True
    channel = went.channel[rows]
    dur_ps = np.minimum(slices.dur_ns[row], _LONGEST // _PS_PER_NS - 1) * _PS_PER_NS + np.maximum(slices.dur_ps[row], 0)
    return _Transfers(
        went.channels, np.searchsorted(channel, np.arange(len(went.channels) + 1)), channel, row, slices.bytes[row],
        dur_ps, np.where(fetches & is_queue, 0, small), is_queue,
    )  # fmt: skip


def _of_channel(trace: Trace, went: Traffic, number: int) -> Array:
    """Positions of the recorded transfers of a channel that ended; a copy within a memory is there where it is read."""
    rows = went.rows(number)
    if went.channels[number].direction == DIRECTIONS[WRITE]:
        return np.zeros(0, np.int64)
    some = ~went.estimated[rows] & (went.slice[rows] >= 0) & (went.dur_ns[rows] >= 0)
    some[some] = trace.slices.category[went.slice[rows][some]] != _MEMSET
    return np.flatnonzero(some) + int(went.first[number])


def _small_below(channel: Channel) -> int:
    if channel.direction == DIRECTIONS[QUEUE]:
        return SMALL_DMA_BYTES
    return SMALL_COPY_BYTES if channel.direction in OF_LINKS else 0


def _channels_frame(channels: tuple[Channel, ...], of_row: Array) -> pd.DataFrame:
    frame = table([[getattr(c, name) for name in _CHANNEL] for c in channels], _CHANNEL)
    # what is copied within a memory is both read and written
    frame["direction"] = frame["direction"].replace(DIRECTIONS[READ], DIRECTIONS[MEMORY])
    return frame.iloc[of_row].reset_index(drop=True)


def _per_channel(of_row: Array, numbers: Array, channels: tuple[Channel, ...]) -> Array:
    out = np.zeros(len(channels), np.int64)
    np.add.at(out, of_row, numbers)
    return out


def _small(trace: Trace, found: _Transfers, is_small: Array) -> pd.DataFrame:
    rates, slices = PeakRates(trace), trace.slices
    numbers, rows = [], []
    for number, channel in enumerate(found.channels):
        mine = slice(int(found.first[number]), int(found.first[number + 1]))
        small = np.flatnonzero(is_small[mine]) + mine.start
        if len(small) == 0:
            continue
        large = np.flatnonzero(found.bytes[mine] >= found.small_below[number]) + mine.start
        count, nbytes, dur_ps = len(small), int(found.bytes[small].sum()), int(found.dur_ps[small].sum())
        rate, model = _useful_rate(int(found.bytes[large].sum()), int(found.dur_ps[large].sum()), rates, channel)
        start, took_ns = bounded(slices.ts_ns[found.slice[small]], slices.dur_ns[found.slice[small]])
        active_ns = union_length(start, start + took_ns)
        dur_ns = dur_ps // _PS_PER_NS
        would_ns = -1 if math.isnan(rate) else min(round(nbytes / rate * 1e9), dur_ns)
        saved_ns = -1 if would_ns < 0 else round(active_ns * (1 - would_ns / dur_ns)) if dur_ns else 0
        numbers.append(number)
        rows.append((
            int(found.small_below[number]), count, count / (mine.stop - mine.start), nbytes,
            _ratio(nbytes, int(found.bytes[mine].sum())), dur_ns, _ratio(dur_ps, int(found.dur_ps[mine].sum())),
            active_ns, rate, would_ns, saved_ns, model,
        ))  # fmt: skip
    columns = [
        "small_below_bytes", "count", "count_ratio", "bytes", "bytes_ratio", "dur_ns", "time_ratio", "active_ns",
        "useful_bytes_per_s", "would_take_ns", "saved_active_ns", "model",
    ]  # fmt: skip
    frame = _channels_frame(found.channels, np.array(numbers, np.int64)).join(pd.DataFrame(rows, columns=columns))
    return frame.sort_values("dur_ns", ascending=False, kind="stable", ignore_index=True)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _useful_rate(large_bytes: int, large_ps: int, rates: PeakRates, channel: Channel) -> tuple[float, str]:
    if large_bytes and large_ps:
        return large_bytes / large_ps * 1e12, OBSERVED
    core = rates.core(channel) if channel.queue else None
    if core is None:
        return math.nan, NO_MODEL
    return SMALL_DMA_BYTES / (core.packet_fixed_ns + SMALL_DMA_BYTES / core.packet_rate) * 1e9, PACKET_MODEL


def _makers(trace: Trace, found: _Transfers, is_small: Array) -> pd.DataFrame:
    """The small transfers of each channel by the tensor or operator they belong to."""
    rows = np.flatnonzero(is_small)
    channel, at = found.channel[rows], found.slice[rows]
    of_queue = found.is_queue[channel]
    texts: list[str] = [NOT_TOLD]
    what = np.zeros(len(rows), np.int64)
    for which, named in ((of_queue, _tensors), (~of_queue, _operators)):
        ids, called = named(trace, at[which])
        what[which] = np.where(ids >= 0, ids + len(texts), 0)
        texts += called
    groups = group((channel, what), (max(len(found.channels), 1), len(texts)))
    of_group, named_by = groups.values
    longest = np.zeros(len(groups), np.int64)
    ascending = np.argsort(found.dur_ps[rows], kind="stable")
    longest[groups.of_row[ascending]] = at[ascending]
    frame = _channels_frame(found.channels, of_group)
    frame["what"] = pd.Series([texts[number] for number in named_by.tolist()], dtype=object)
    frame["kind"] = np.where(frame["queue"] != "", "tensor", "operator")
    frame["count"], frame["bytes"] = groups.count(), groups.sum(found.bytes[rows])
    frame["dur_ns"] = groups.sum(found.dur_ps[rows]) // _PS_PER_NS
    frame["slice"] = longest
    return frame.sort_values("dur_ns", ascending=False, kind="stable", ignore_index=True)


def _tensors(trace: Trace, rows: Array) -> tuple[Array, list[str]]:
    """The tensor that each DMA packet belongs to, as index into the names; -1 where its arguments do not tell."""
    used, of_row = np.unique(trace.slices.args[rows], return_inverse=True)
    names: dict[str, int] = {}
    ids = np.full(len(used), -1, np.int64)
    for place, args in enumerate(used.tolist()):
        try:
            told = msgspec.json.decode(trace.pool.arg_sets[args] or b"{}")
        except msgspec.DecodeError:
            continue
        variable = told.get("variable") if isinstance(told, dict) else None
        if isinstance(variable, str) and variable not in ("", "unknown"):
            ids[place] = names.setdefault(variable, len(names))
    return ids[of_row] if len(used) else np.zeros(0, np.int64), list(names)


def _operators(trace: Trace, rows: Array) -> tuple[Array, list[str]]:
    """The operator that asked for each copy, as index into the names; -1 where none was recorded."""
    slices = trace.slices
    operators = np.flatnonzero((slices.category == _HOST_OP) & (side_of_slices(trace) == HOST))
    asked = launching_slice(trace)[rows] if len(rows) else rows
    around = np.full(len(rows), -1, np.int64)
    known = asked >= 0
    around[known] = Enclosing(slices, operators).innermost(asked[known])
    found = around >= 0
    names, ids = np.unique(slices.name[around[found]], return_inverse=True)
    of_row = np.full(len(rows), -1, np.int64)
    of_row[found] = ids
    return of_row, [trace.pool.strings[name] for name in names.tolist()]
