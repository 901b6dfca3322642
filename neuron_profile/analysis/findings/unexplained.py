"""A device that idles most of the time for a reason that the trace does not tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuron_profile.analysis.breakdown import PARTS, busiest_steps
from neuron_profile.analysis.breakdown.idle import gaps_in
from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.cost import cost
from neuron_profile.analysis.findings.host import LAUNCHES
from neuron_profile.analysis.findings.rule import Evidence, Rule
from neuron_profile.analysis.intervals import merged
from neuron_profile.analysis.sides import HOST
from neuron_profile.analysis.work import device_work
from trace_format import CATEGORIES
from trace_format import number_text as text

Array = np.ndarray

LEAST_RATIO = 1 / 3
# The longest gap explains nothing where it is less than this of the part, and it is the cause where it is half of it.
NOTHING_RATIO, CAUSE_RATIO = 0.01, 0.5
LAUNCHED, UNKNOWN = "idle_launch_ns", "idle_other_ns"
_RUNTIME = CATEGORIES.index("runtime")
_RECORD_THE_HOST = (
    "Record the host as well: torch.profiler with ProfilerActivity.CPU and the device's activity, begun before the "
    "first step; runtime calls tell what launched each kernel."
)
_RECORD_THE_CALLS = (
    "Record the calls that launch work too (torch.profiler with both ProfilerActivity.CPU and the device's activity), "
    "and begin before the first of them: their correlation tells whether the host or the device was late."
)
_RECORD_ALL = (
    "Wait for the device before recording ends (torch.cuda.synchronize() before the profiler stops) and see whether "
    "the work is there then; work of another library may lack from a trace, and capturing a graph does none."
)
_RECORD_LATER = (
    "A first call loads code or builds a graph: record later, torch.profiler.schedule(wait=1, warmup=2, ...), and see "
    "whether it is still there."
)
_FEWER_PIECES = (
    "Each piece of work begins late by as much as a start takes: fewer and larger ones (torch.compile, fused "
    "operators, larger batches) have fewer gaps. Where a graph launched them see whether tracing slows its kernels."
)
_LOOK_AT_THE_GAP = (
    "Open the longest gap in the timeline: a wait for another stream's event or for another process on the device, a "
    "graph being uploaded at its launch, the profiler's own start, or work that was not recorded."
)


@dataclass(frozen=True, slots=True)
class _Gap:
    """A time in a step in which the device does nothing.

    - `part_ns`: how much of it is the part that was asked for.
    - `after`, `before`: the work around it, `launch`: what launched the latter; rows of slices, -1 for none.
    """

    dur_ns: int
    part_ns: int
    after: int
    before: int
    launch: int

    @property
    def slices(self) -> tuple[int, ...]:
        return tuple(row for row in (self.before, self.launch, self.after) if row >= 0)


def unexplained_idle(context: Context) -> Evidence | None:
    steps = busiest_steps(context.breakdown)
    if not len(steps) or int(steps["device"].iloc[0]) < 0:
        return None
    sums = steps[list(PARTS)].sum()
    part = LAUNCHED if sums[LAUNCHED] >= sums[UNKNOWN] else UNKNOWN
    ratio = float(sums[part]) / max(float(steps["total_ns"].sum()), 1.0)
    if not sums[part] or (ratio < LEAST_RATIO and sums.idxmax() != part):
        return None
    rows = _work_of(context, steps)
    gap = _longest_gap(context, steps, rows, part)
    lines, of_all = _told(context, gap, part), gap.part_ns / float(sums[part])
    advice = _LOOK_AT_THE_GAP
    if of_all < NOTHING_RATIO:
        pieces = text.count(context.median_count(rows))
        lines = [f"no gap is long: the device does {pieces} pieces of work {context.per_step}", *lines]
        advice = _FEWER_PIECES
    if part == UNKNOWN:
        lines = [*_how_known(context, rows), *lines]
        advice = _RECORD_ALL if gap.before < 0 else _RECORD_THE_CALLS
        advice = advice if (context.side == HOST).any() else _RECORD_THE_HOST
    elif of_all >= CAUSE_RATIO and 2 * _call_ns(context, gap) >= gap.dur_ns:
        advice = _RECORD_LATER
    rank = int(steps["rank"].iloc[0]) if context.breakdown["rank"].nunique() > 1 else -1
    who = f"On rank {rank} the device" if rank >= 0 else "The device"
    when = "after its work was launched" if part == LAUNCHED else "and no launch is known that would end it"
    title = f"{who} idles {text.ratio(ratio)} of the time {when}: the trace does not tell why"
    found = cost(steps, steps[part].to_numpy(np.int64))
    return Evidence(title, found, tuple(lines), gap.slices, is_time=False, rank=rank, advice=advice)


def _work_of(context: Context, steps: pd.DataFrame) -> Array:
    """The rows of the work of the device that the steps are of, in order of time; it has some, or it had no steps."""
    slices, tracks = context.trace.slices, context.trace.tracks
    rows = np.flatnonzero(device_work(context.trace))
    mine = tracks.device[slices.track[rows]] == steps["device"].iloc[0]
    if steps["rank"].iloc[0] >= 0:
        mine &= context.rank_of_slice[rows] == steps["rank"].iloc[0]
    rows = rows[mine]
    return rows[np.argsort(slices.ts_ns[rows], kind="stable")]


def _longest_gap(context: Context, steps: pd.DataFrame, rows: Array, part: str) -> _Gap:
    """The gap in the steps that has most of the part, which has some time."""
    slices = context.trace.slices
    start, stop = slices.ts_ns[rows], slices.ts_ns[rows] + slices.dur_ns[rows]
    busy = merged(start, stop)
    windows = (steps["start_ns"].to_numpy(np.int64), steps["end_ns"].to_numpy(np.int64))
    (begin, end), before = gaps_in(busy, rows[np.searchsorted(start, busy[0])], windows)
    launch = np.where(before >= 0, context.launched_by[np.maximum(before, 0)], -1)
    since = np.clip(slices.ts_ns[np.maximum(launch, 0)], begin, end)
    lengths = np.where(launch >= 0, end - since, 0) if part == LAUNCHED else np.where(launch >= 0, 0, end - begin)
    at = int(np.argmax(lengths))
    ended = rows[stop <= begin[at]]
    after = int(ended[int(np.argmax(slices.ts_ns[ended] + slices.dur_ns[ended]))]) if len(ended) else -1
    return _Gap(int(end[at] - begin[at]), int(lengths[at]), after, int(before[at]), int(launch[at]))


def _told(context: Context, gap: _Gap, part: str) -> list[str]:
    """The longest gap in words."""
    until = f"before {_short(context, gap.before)}" if gap.before >= 0 else "after the last work that was recorded"
    line = f"longest gap: {text.duration(gap.part_ns)} {until}"
    if part == LAUNCHED:
        call = _call_ns(context, gap)
        line += f", from its launch by {_short(context, gap.launch)}"
        line += f", a call of {text.duration(call)}" if call >= 0 else ""
    begins = f"at the end of {_short(context, gap.after)}" if gap.after >= 0 else "before any work was recorded"
    return [line, f"it begins {begins}"]


def _call_ns(context: Context, gap: _Gap) -> int:
    """How long the launching call took; -1 where that is not known."""
    return int(context.trace.slices.dur_ns[gap.launch]) if gap.launch >= 0 else -1


def _how_known(context: Context, rows: Array) -> list[str]:
    """Of how much of the device's work the launch is known, and of how many launches the work is."""
    slices = context.trace.slices
    if not (context.side == HOST).any():
        return ["no events of the host were recorded, so nothing tells what launched the work, or when"]
    unknown, whole = int((context.launched_by[rows] < 0).sum()), text.counted(len(rows), "piece")
    lines = [f"the launches of {text.count(unknown)} of its {whole} of work were not recorded"] if unknown else []
    calls = context.named(LAUNCHES, np.flatnonzero((slices.category == _RUNTIME) & (context.side == HOST)))
    if len(calls) > len(rows):
        lines.append(f"the host made {text.count(len(calls))} launching calls, the device has {whole} of work")
    return lines


def _short(context: Context, row: int) -> str:
    return text.shortened(context.name(row), 60)


RULES = (
    Rule(
        "unexplained-idle",
        "idle_launch_ns and idle_other_ns of the breakdown: the device idles though its work was launched, or no "
        "launch is known",
        "one of them is a third of the time, or the largest part of all",
        "what is largest must be named, even where the trace does not hold its cause",
        unexplained_idle,
        "no time: what is not explained cannot be promised back",
        _LOOK_AT_THE_GAP,
        said_by=("engine-waits",),
    ),
)
