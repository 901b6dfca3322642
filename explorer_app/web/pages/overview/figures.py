"""The row of single numbers at the top of the Overview."""

from __future__ import annotations

from typing import Any

from explorer_app import format as fmt
from explorer_app.web import subject
from explorer_app.web.card import figure
from explorer_app.web.numbers import once
from explorer_app.web.pages.overview.categories import work_of_side
from explorer_app.web.pages.overview.step_times import has_marks
from neuron_profile import analysis
from neuron_profile.analysis.measured import measured_window_ns
from trace_format import Trace


def figures(trace: Trace) -> list[Any]:
    """Step time, length of what was measured, work of each side, memory peak; "–" and the reason where unknown."""
    window = once(measured_window_ns, trace)
    whole_ns = None if window is None else window[1] - window[0]
    simulated = trace.tracks.simulated
    measured = len(trace.slices) - int(simulated[trace.slices.track].sum())
    events = f"{fmt.counted(measured, 'slice')} on {fmt.counted(len(simulated) - int(simulated.sum()), 'track')}"
    return [
        _step(trace),
        figure("Captured", fmt.duration(whole_ns), exact=fmt.exact(whole_ns, "ns"), note=events),
        _side(trace, "device"),
        _side(trace, "host"),
        _memory_peak(trace),
    ]


def _step(trace: Trace) -> Any:
    steps = once(analysis.steps, trace)
    if not has_marks(steps):
        return figure("Step, median", fmt.UNKNOWN, note="no step is marked in this trace")
    durations = steps["dur_ns"]
    median_ns = float(durations.median())
    ranks = steps["rank"].nunique()
    on_ranks = f" on {ranks} ranks" if ranks > 1 else ""
    note = f"{fmt.counted(len(steps), 'step')}{on_ranks}"
    if len(steps) > 1:
        note += f", {fmt.duration(durations.min())} to {fmt.duration(durations.max())}"
    return figure("Step, median", fmt.duration(median_ns), exact=fmt.exact(median_ns, "ns"), note=note)


def _side(trace: Trace, side: str) -> Any:
    label = f"Work on the {side}"
    by_category = once(analysis.time_by_category, trace)
    rows = by_category[by_category["side"] == side]
    if rows.empty:
        return figure(label, fmt.UNKNOWN, note=f"no events of a {side} in this trace")
    slices = fmt.counted(int(rows["count"].sum()), "slice")
    known = [row["self_ns"] for row in work_of_side(trace, side) if row["self_ns"] is not None]
    if not known:
        return figure(label, fmt.UNKNOWN, note=f"{slices}, none of which finished")
    self_ns = sum(known)
    note = f"self time of {slices}"
    return figure(label, fmt.duration(self_ns), exact=fmt.exact(self_ns, "ns"), note=note)


def _memory_peak(trace: Trace) -> Any:
    memory = once(analysis.memory_timeline, trace)
    if memory.empty:
        return figure("Memory, peak", fmt.UNKNOWN, note="allocations were not recorded")
    peak = memory.iloc[int(memory["total_bytes"].to_numpy().argmax())]
    where = subject.on_device(peak["rank"], peak["device"])
    above = subject.above_the_least(memory.attrs["relative"], peak["rank"], peak["device"])
    return figure(
        "Memory, peak",
        fmt.size(peak["total_bytes"]),
        exact=fmt.exact(peak["total_bytes"], "bytes"),
        note=f"allocated{where}{above and f',{above}'}",
    )
