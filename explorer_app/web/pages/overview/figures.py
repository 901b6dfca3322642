"""The row of single numbers of the Overview, each with its course over the steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from dash import html

from explorer_app import format as fmt
from explorer_app.web import subject
from explorer_app.web.breakdown_parts import part_color
from explorer_app.web.card import figure
from explorer_app.web.numbers import once
from explorer_app.web.pages.overview.answer import has_parts
from explorer_app.web.pages.overview.step_times import has_marks
from explorer_app.web.pages.overview.utilisation_figure import utilisation_figure
from explorer_app.web.sparkline import sparkline
from neuron_profile import analysis
from neuron_profile.analysis.breakdown import busiest, busiest_steps
from neuron_profile.analysis.measured import measured_window_ns
from trace_format import Trace

_LAST_TO_ARRIVE: Final = "Last to arrive"
_COLLECTIVE_PARTS: Final = ("exposed_collective_ns", "idle_peer_ns")


def figures(trace: Trace) -> list[Any]:
    """What the trace tells of: steps, work, collectives, compiling, memory, utilisation, the rank that is waited for.

    None for a trace in which nothing was measured.
    """
    if once(measured_window_ns, trace) is None:
        return []
    steps = once(analysis.steps, trace)
    made = [
        _step(trace, steps) if has_marks(steps) else _captured(trace), _busy(trace), _collectives(trace, steps),
        _compiling(trace, steps), _memory_peak(trace), utilisation_figure(trace), _straggler(trace, steps),
    ]  # fmt: skip
    return [one for one in made if one is not None]


def _with_course(made: html.Div, values: Sequence[float], label: str, color: str = "var(--np-accent)") -> html.Div:
    """A figure with a sparkline in it, where there are values to compare."""
    course = sparkline(values, label=label, color=color)
    return made if course is None else html.Div([made, course], className="np-figure-with-course")


def _step(trace: Trace, steps: pd.DataFrame) -> Any:
    durations = steps["dur_ns"]
    median_ns = float(durations.median())
    ranks = steps["rank"].nunique()
    note = f"{fmt.counted(len(steps), 'step')}{f' on {ranks} ranks' if ranks > 1 else ''}"
    if steps.attrs["found_by"] == "periodicity":
        note += ", found by what repeats"
    if len(steps) > 1:
        note += f", {fmt.duration(durations.min())} to {fmt.duration(durations.max())}"
    made = figure("Step, median", fmt.duration(median_ns), exact=fmt.exact(median_ns, "ns"), note=note)
    of_one = busiest_steps(once(analysis.breakdown, trace))
    return _with_course(made, of_one["total_ns"].tolist(), "The duration of each step")


def _captured(trace: Trace) -> Any:
    window = once(measured_window_ns, trace)
    whole_ns = None if window is None else window[1] - window[0]
    track = trace.slices.track[~trace.tracks.simulated.astype(bool)[trace.slices.track]]
    note = f"{fmt.counted(len(track), 'slice')} on {fmt.counted(len(np.unique(track)), 'track')}"
    return figure("Recorded", fmt.duration(whole_ns), exact=fmt.exact(whole_ns, "ns"), note=note)


def _busy(trace: Trace) -> Any:
    """How much of the time the device, or torch's operators on a host alone, worked; None where neither is known."""
    frame = once(analysis.breakdown, trace)
    parts = busiest(frame)
    on_device = bool((frame["device"] >= 0).any())
    title = "Device busy" if on_device else "In operators"
    if not parts.get("total_ns") or not has_parts(trace):
        return None
    mine = busiest_steps(frame)
    parts_of_work = [name for name in parts if name.endswith("_ns") and not name.startswith(("idle_", "total_"))]
    worked = mine[parts_of_work if on_device else ["compute_ns"]].sum(axis=1)
    ratio = float(worked.sum()) / parts["total_ns"]
    note = f"computing {fmt.ratio(parts['compute_ns'] / parts['total_ns'])}" if on_device else "no device in this trace"
    made = figure(title, fmt.ratio(ratio), exact=fmt.exact(int(worked.sum()), "ns"), note=note)
    course = (worked / mine["total_ns"]).fillna(-1.0).tolist()
    return _with_course(made, course, "How much of each step", part_color("compute_ns"))


def _collectives(trace: Trace, steps: pd.DataFrame) -> Any:
    """The time in collectives with nothing computed meanwhile; None where there is none."""
    mine = busiest_steps(once(analysis.breakdown, trace))
    exposed = mine[[name for name in _COLLECTIVE_PARTS if name in mine]].sum(axis=1)
    if not exposed.any():
        return None
    median_ns, share = float(exposed.median()), float(exposed.sum()) / float(mine["total_ns"].sum())
    per_step = " of a step, median" if has_marks(steps) else ""
    note = f"{fmt.ratio(share)} of the time{', waiting for ranks included' if mine['idle_peer_ns'].any() else ''}"
    made = figure(
        "Collectives, exposed", fmt.duration(median_ns), exact=fmt.exact(median_ns, "ns") + per_step, note=note
    )
    return _with_course(made, exposed.tolist(), "In each step", part_color("exposed_collective_ns"))


def _compiling(trace: Trace, steps: pd.DataFrame) -> Any:
    """The time in which something was compiled; None where nothing was."""
    charged = once(analysis.compile_time_by_step, trace)
    whole_ns = int(charged["dur_ns"].sum())
    if not whole_ns:
        return None
    paid = charged[charged["step"] >= 0]
    note = f"in {fmt.counted(int(charged['count'].sum()), 'compile')}"
    if has_marks(steps):
        note += f", {len(paid)} of {fmt.counted(len(steps), 'step')} paid"
    made = figure("Compiling", fmt.duration(whole_ns), exact=fmt.exact(whole_ns, "ns"), note=note)
    lengths = {(row["rank"], row["step"]): row["dur_ns"] for row in paid.to_dict("records")}
    of_one = busiest_steps(once(analysis.breakdown, trace))
    course = [lengths.get((rank, step), 0) for rank, step in zip(of_one["rank"], of_one["step"], strict=True)]
    return _with_course(made, course, "In each step", part_color("idle_compile_ns"))


def _memory_peak(trace: Trace) -> Any:
    memory = once(analysis.memory_timeline, trace)
    if memory.empty:
        return figure("Memory, peak", fmt.UNKNOWN, note="allocations were not recorded")
    peak = memory.iloc[int(memory["total_bytes"].to_numpy().argmax())]
    where = subject.on_device(peak["rank"], peak["device"])
    since = subject.since_the_start(memory.attrs["relative"], peak["rank"], peak["device"])
    made = figure(
        "Memory, peak", fmt.size(peak["total_bytes"]), exact=fmt.exact(peak["total_bytes"], "bytes"),
        note=f"allocated{where}{since}",
    )  # fmt: skip
    by_step = once(analysis.memory_by_step, trace)
    mine = by_step[by_step["device"] == peak["device"]]
    rank = peak["rank"] if peak["rank"] >= 0 else mine["rank"].min()  # a device of no rank has the steps of each
    mine = mine[mine["rank"] == rank]
    return _with_course(made, mine["peak_bytes"].tolist(), "The peak in each step", "var(--np-cat-memset)")


def _straggler(trace: Trace, steps: pd.DataFrame) -> Any:
    """The rank that the others wait for; None for a trace of one rank."""
    if len(set(trace.tracks.rank[trace.tracks.rank >= 0].tolist())) < 2:
        return None
    skew = once(analysis.collective_skew, trace)
    if not len(skew.collectives):
        return figure(_LAST_TO_ARRIVE, fmt.UNKNOWN, note="no collective has all its ranks in this trace")
    late = skew.straggler
    if late is None:
        return figure(_LAST_TO_ARRIVE, "none", note="no rank is waited for")
    wait_ns, each = float(late.wait_ns), ""
    if has_marks(steps):
        wait_ns, each = late.wait_ns / steps["step"].nunique(), f" a step ({_of_step(late.wait_ns, steps)}), on average"
    note = f"rank; the others wait {fmt.duration(wait_ns)}{each}; last in {late.times_last} of {late.collectives}"
    return figure(_LAST_TO_ARRIVE, str(late.rank), exact=f"{late.wait_ns:,} ns in all", note=note)


def _of_step(wait_ns: int, steps: pd.DataFrame) -> str:
    """A time in all steps of a rank as a share of them."""
    return fmt.ratio(wait_ns / max(float(steps.groupby("rank")["dur_ns"].sum().mean()), 1.0))
