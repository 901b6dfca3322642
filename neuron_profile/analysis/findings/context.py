"""What the rules look at: parts of a trace's analysis, worked out once and only when asked for."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd

from neuron_profile.analysis.breakdown import PARTS, breakdown
from neuron_profile.analysis.findings.cost import Cost, cost
from neuron_profile.analysis.intervals import merged, within
from neuron_profile.analysis.launches.launching import launching_slice
from neuron_profile.analysis.neuron_device import DeviceMetrics, device_metrics
from neuron_profile.analysis.sides import DEVICE, HOST, side_of_slices
from neuron_profile.analysis.steps.steps import steps
from trace_format import CATEGORIES, Trace
from trace_format import number_text as text

Array = np.ndarray

_HOST_OP = CATEGORIES.index("host_op")
_EXAMPLES = 3


class Context:
    """A trace and what is known about its steps."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @cached_property
    def steps(self) -> pd.DataFrame:
        return steps(self.trace)

    @cached_property
    def breakdown(self) -> pd.DataFrame:
        return breakdown(self.trace)

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The breakdown of the device of each rank that idles least: a row for each step of each rank."""
        frame = self.breakdown
        if not len(frame):
            return frame
        idle = frame[[name for name in PARTS if name.startswith("idle_")]].sum(axis=1)
        sums = pd.DataFrame(
            {"rank": frame["rank"], "device": frame["device"], "idle": idle, "total": frame["total_ns"]}
        )
        sums = sums.groupby(["rank", "device"], as_index=False).sum()
        sums["ratio"] = sums["idle"] / sums["total"].clip(lower=1)
        best = sums.sort_values(["rank", "ratio"], kind="stable").drop_duplicates("rank")
        return frame.merge(best[["rank", "device"]], on=["rank", "device"])

    @cached_property
    def side(self) -> Array:
        return side_of_slices(self.trace)

    @cached_property
    def launched_by(self) -> Array:
        return launching_slice(self.trace)

    @cached_property
    def rank_of_slice(self) -> Array:
        return self.trace.tracks.rank[self.trace.slices.track]

    @cached_property
    def host_ops(self) -> Array:
        """The rows of operators on the host."""
        return np.flatnonzero((self.trace.slices.category == _HOST_OP) & (self.side == HOST))

    @cached_property
    def outermost_ops(self) -> Array:
        """The operators on the host that no other called."""
        slices, parent = self.trace.slices, self.trace.slices.parent[self.host_ops]
        return self.host_ops[(parent < 0) | (slices.category[np.maximum(parent, 0)] != _HOST_OP)]

    @cached_property
    def device_work(self) -> Array:
        """The rows of measured work of devices."""
        return np.flatnonzero((self.side == DEVICE) & (self.trace.slices.dur_ns > 0))

    @cached_property
    def device(self) -> DeviceMetrics:
        """The metrics of runs on Neuron devices."""
        return device_metrics(self.trace)

    @property
    def has_steps(self) -> bool:
        return bool(self.steps.attrs["found_by"] != "window")

    @property
    def per_step(self) -> str:
        """ "per step", or what takes its place where the whole window is looked at as one."""
        return "per step" if self.has_steps else "in the window"

    @property
    def step(self) -> str:
        """What the times are shares of: "step" or "window"."""
        return "step" if self.has_steps else "window"

    @property
    def on_device(self) -> bool:
        """Whether measured work of devices is what the steps are made of."""
        return bool(len(self.rows)) and bool((self.rows["device"] >= 0).all())

    def part(self, *names: str) -> Array:
        """The sum of these parts of the breakdown in each of `rows`, `(n,) int64`; a part it does not have is 0."""
        return sum(
            (self.rows[name].to_numpy() for name in names if name in self.rows), np.zeros(len(self.rows), np.int64)
        )

    def cost(self, lengths: Array) -> Cost:
        return cost(self.rows, lengths)

    def told(self, found: Cost) -> str:
        """A cost with what it is a share of: "5.72 ms per step (12.2 %, in 7 of 7 steps)"."""
        in_steps = f", in {found.seen} of {text.counted(found.steps, 'step')}" if self.has_steps else ""
        return f"{text.duration(found.per_step_ns)} {self.per_step} ({text.ratio(found.share_ratio)}{in_steps})"

    def average(self, lengths: Array) -> Cost:
        """The same in an average step after the first, for what comes in some steps only: of the same rank."""
        found = self.cost(lengths)
        mine = dict(self.windows())[found.rank]
        mine = mine[1:] if len(mine) > 1 else mine
        mean = float(lengths[mine].mean())
        whole = float(self.rows["total_ns"].to_numpy()[mine].mean())
        seen = int((lengths[mine] > 0).sum())
        return replace(
            found, per_step_ns=round(mean), share_ratio=mean / max(whole, 1.0), seen=seen, steps=len(mine)
        )  # fmt: skip

    def is_usual(self, found: Cost) -> bool:
        """Whether more than half of the steps have it."""
        return 2 * found.seen > found.steps

    def lengths(self, start: Array, end: Array, rank: Array) -> Array:
        """How much of each of `rows` the union of the intervals of its rank covers, `(n,) int64`."""
        out = np.zeros(len(self.rows), np.int64)
        for number, mine in self.windows():
            theirs = (rank == number) | (number < 0)
            begin, stop = self.rows["start_ns"].to_numpy()[mine], self.rows["end_ns"].to_numpy()[mine]
            out[mine] = within(begin, stop, start[theirs], end[theirs])
        return out

    def lengths_of(self, rows: Array) -> Array:
        """How much of each step the union of these slices covers."""
        start = self.trace.slices.ts_ns[rows]
        return self.lengths(start, start + np.maximum(self.trace.slices.dur_ns[rows], 0), self.rank_of_slice[rows])

    def counts(self, rows: Array) -> Array:
        """How many of these slices begin in each of `rows`, `(n,) int64`."""
        out = np.zeros(len(self.rows), np.int64)
        ts_ns, rank = self.trace.slices.ts_ns[rows], self.rank_of_slice[rows]
        for number, mine in self.windows():
            theirs = np.sort(ts_ns[(rank == number) | (number < 0)])
            begin, stop = self.rows["start_ns"].to_numpy()[mine], self.rows["end_ns"].to_numpy()[mine]
            out[mine] = np.searchsorted(theirs, stop) - np.searchsorted(theirs, begin)
        return out

    def median_count(self, rows: Array) -> int:
        """How many of these slices begin in the median step."""
        return round(float(np.median(self.counts(rows)))) if len(self.rows) else 0

    def windows(self) -> list[tuple[int, Array]]:
        """The steps of each rank: its number and their positions in `rows`, in order of time."""
        rank = self.rows["rank"].to_numpy()
        return [(int(number), np.flatnonzero(rank == number)) for number in np.unique(rank)]

    def named(self, pattern: str, rows: Array) -> Array:
        """Those of the rows whose name fits the pattern from its start."""
        fits = re.compile(pattern).match
        chosen = np.array([bool(fits(text)) for text in self.trace.pool.strings.values], bool)
        return rows[chosen[self.trace.slices.name[rows]]] if len(rows) else rows

    def name(self, row: int) -> str:
        return self.trace.pool.strings[int(self.trace.slices.name[row])]

    def counted_names(self, rows: Array, most: int = 3) -> list[tuple[str, int, int]]:
        """The commonest names of the slices by their time, as (name, count, summed duration in ns)."""
        names = self.trace.slices.name[rows].astype(np.int64)
        count = np.bincount(names)
        total = np.bincount(names, np.maximum(self.trace.slices.dur_ns[rows], 0))
        order = np.argsort(-total, kind="stable")[:most]
        return [(self.trace.pool.strings[int(i)], int(count[i]), int(total[i])) for i in order.tolist() if count[i]]

    def longest(self, rows: Array) -> tuple[int, ...]:
        """The longest few of the rows, longest first."""
        return tuple(rows[np.argsort(-self.trace.slices.dur_ns[rows], kind="stable")[:_EXAMPLES]].tolist())

    def runs(self, rows: Array, longest_gap_ns: int, at_least: int) -> tuple[Array, Array, Array]:
        """Slices of one track that follow one another, as starts, ends and ranks of the runs.

        A run goes on as long as the next begins no later than `longest_gap_ns` after the end of those before it, and
        has no fewer than `at_least` slices.
        """
        starts, ends, ranks = [], [], []
        track = self.trace.slices.track[rows]
        for number in np.unique(track).tolist():
            mine = rows[track == number]
            start = self.trace.slices.ts_ns[mine]
            end = start + np.maximum(self.trace.slices.dur_ns[mine], 0)
            begin, stop = merged(start, end + longest_gap_ns)
            stop = stop - longest_gap_ns
            enough = np.searchsorted(start, stop, "left") - np.searchsorted(start, begin, "left") >= at_least
            starts.append(begin[enough])
            ends.append(stop[enough])
            ranks.append(np.full(int(enough.sum()), self.trace.tracks.rank[number]))
        none = np.zeros(0, np.int64)
        return tuple(np.concatenate(part) if part else none for part in (starts, ends, ranks))  # type: ignore[return-value]
