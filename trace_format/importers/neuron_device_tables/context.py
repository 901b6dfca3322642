"""What the readers of all tables of one device profile share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.errors import LimitExceededError
from trace_format.importers.neuron_device.tracks import DeviceTracks
from trace_format.importers.neuron_device_tables.carried import Carried
from trace_format.importers.neuron_device_tables.cores import Cores
from trace_format.importers.neuron_device_tables.links import Links
from trace_format.importers.neuron_device_tables.part import UNREADABLE, Part
from trace_format.limits import LATEST_NS, LONGEST_NS

Array = np.ndarray
K = TypeVar("K")

_MOST_TRACKS = 1 << 17  # a logical core has 512 semaphores and some hundred queues


@dataclass
class Context:
    """Builder, tracks and cores of one device profile, and what its rows have told so far.

    `zero_ns` is the `ts_ns` of the profile's own time 0.
    """

    builder: TraceBuilder
    tracks: DeviceTracks
    cores: Cores
    carried: Carried
    path: Path
    zero_ns: int = 0
    links: Links = field(default_factory=Links)
    knows_transposes: bool = False
    listed: Counter[str] = field(default_factory=Counter)  # instructions by engine
    unjoined: int = 0  # predecessors that are no row of this file
    end_ns: int = 0  # of what was seen so far, relative to time 0
    hbm_seen: set[int] = field(default_factory=set)  # cores
    busy: dict[tuple[int, str], list[tuple[Array, Array]]] = field(default_factory=dict)  # by core and engine

    def timed(self, part: Part, column: str = "timestamp") -> tuple[Part, Array]:
        """The rows that have a time, and that time; the others are counted as left out."""
        ts = part.integers(column, UNREADABLE)
        good = (ts > -LATEST_NS) & (ts < LATEST_NS)
        self.leave_out(f"row of {part.name} without a time that can be read", int((~good).sum()))
        ts = ts[good]
        self.end_ns = max(self.end_ns, int(ts.max(initial=0)))
        return part.where(good), ts + self.zero_ns

    def durations(self, part: Part, ts: Array) -> Array:
        """How long the rows take, from their duration or else their end; -1 where neither can be read."""
        dur = part.integers("duration", UNREADABLE)
        if part.has("end_ts"):
            end = part.integers("end_ts", UNREADABLE)
            far = (end < -LATEST_NS) | (end > LATEST_NS)
            dur = np.where(dur == UNREADABLE, np.where(far, UNREADABLE, end + self.zero_ns - ts), dur)
        good = (dur >= 0) & (dur < LONGEST_NS)
        if not good.all():
            self.builder.report.repaired[f"row of {part.name} without a duration that can be read"] += int(
                (~good).sum()
            )
        dur = np.where(good, dur, -1)
        self.end_ns = max(self.end_ns, int((ts - self.zero_ns + np.maximum(dur, 0)).max(initial=0)))
        return dur

    def tracks_of(self, track: Callable[[int, K], int], cores: list[int], keys: list[K]) -> Array:
        """`(n,)` tracks: what `track(core, key)` gives for each row."""
        known: dict[tuple[int, K], int] = {}
        out = []
        for pair in zip(cores, keys, strict=True):
            row = known.get(pair)
            if row is None:
                row = known[pair] = track(*pair)
                if self.builder["tracks"].rows > _MOST_TRACKS:
                    raise LimitExceededError(f"has more than {_MOST_TRACKS} queues and semaphores", path=self.path)
            out.append(row)
        return np.array(out, np.int64)

    def leave_out(self, cause: str, rows: int) -> None:
        if rows:
            self.builder.report.left_out[cause] += rows
