"""What went over each channel in the bins of a window."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from neuron_profile.analysis.bandwidth.channels import DIRECTIONS, MEMORY, OF_MEMORY, Channel, traffic
from neuron_profile.analysis.bandwidth.spreading import spread
from neuron_profile.analysis.intervals import merged
from trace_format import Trace

Array = np.ndarray

# Times of broken files are taken to be no later than the year 2116 and to last no longer than 73 years, so that sums
# and differences of them stay below 2**63.
_EARLIEST_NS, _LATEST_NS, _LONGEST_NS = -(1 << 60), 1 << 62, 1 << 61


@dataclass(frozen=True, slots=True, eq=False)
class ChannelLoad:
    """What went over one channel.

    - `binned`, `estimated_binned`: the bytes in each bin, and those of them from shapes, `(bins,) float64`.
    - `bytes`, `estimated_bytes`: all of them. `is_counted`: whether a counter told of some.
    - `begin`, `stop`: when any of its transfers was under way, as disjoint intervals in order.
    """

    binned: Array
    estimated_binned: Array
    bytes: float
    estimated_bytes: float
    begin: Array
    stop: Array
    is_counted: bool

    def with_another(self, other: ChannelLoad) -> ChannelLoad:
        """Both together."""
        return ChannelLoad(
            self.binned + other.binned, self.estimated_binned + other.estimated_binned, self.bytes + other.bytes,
            self.estimated_bytes + other.estimated_bytes,
            *merged(np.concatenate([self.begin, other.begin]), np.concatenate([self.stop, other.stop])),
            self.is_counted or other.is_counted,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class ChannelLoads:
    """The loads of channels by rank, device, core, side, direction and queue; `edges` `(bins + 1,)` of their bins."""

    edges: Array
    of: dict[Channel, ChannelLoad]


def channel_loads(trace: Trace, bins: int) -> ChannelLoads:
    """The load of each channel, "memory" being that of both its directions and of what does not tell which.

    The window is from the start of the first transfer to the end of the last. Transfers without an end are left out.
    """
    went = traffic(trace)
    finished = went.dur_ns >= 0
    starts, durations = bounded(went.start_ns, went.dur_ns)
    edges = bin_edges(starts[finished], (starts + durations)[finished], bins)
    loads: dict[Channel, ChannelLoad] = {}
    for number, channel in enumerate(went.channels):
        rows = went.rows(number)
        start, dur_ns, nbytes = starts[rows], durations[rows], went.bytes[rows]
        estimated, is_finished = went.estimated[rows], finished[rows]
        if not is_finished.all():
            start, dur_ns, nbytes, estimated = (v[is_finished] for v in (start, dur_ns, nbytes, estimated))
        if len(start) == 0:
            continue
        binned = spread(edges, start, dur_ns, nbytes)
        if estimated.all():
            guessed = binned
        else:
            guessed = spread(edges, start[estimated], dur_ns[estimated], nbytes[estimated])
        load = ChannelLoad(
            binned, guessed, float(nbytes.sum()), float(nbytes[estimated].sum()), *merged(start, start + dur_ns),
            bool((went.slice[rows] < 0).any()),
        )  # fmt: skip
        if channel.direction in OF_MEMORY:
            whole = replace(channel, direction=DIRECTIONS[MEMORY])
            loads[whole] = loads[whole].with_another(load) if whole in loads else load
        if channel.direction != DIRECTIONS[MEMORY]:
            loads[channel] = load
    return ChannelLoads(edges, {channel: loads[channel] for channel in sorted(loads, key=_place)})


def bounded(start: Array, dur_ns: Array) -> tuple[Array, Array]:
    """Start and duration as they are, those of broken times within bounds in which they can be added."""
    return np.clip(start, _EARLIEST_NS, _LATEST_NS), np.minimum(dur_ns, _LONGEST_NS)


def bin_edges(start: Array, end: Array, bins: int) -> Array:
    """The borders of the bins, `(bins + 1,) int64`; one border alone where there is nothing to spread."""
    if len(start) == 0:
        return np.zeros(1, np.int64)
    first, last = int(start.min()), int(end.max())
    # a slice without duration at the very end needs a bin to lie in
    span = max(last - first, 1) + int(last > first and bool((start == last).any()))
    bins = min(bins, span)
    return np.array([first + span * i // bins for i in range(bins + 1)], np.int64)


def _place(channel: Channel) -> tuple[int, int, int, str, int, str]:
    direction = DIRECTIONS.index(channel.direction)
    return channel.rank, channel.device, channel.core, channel.side, direction, channel.queue
