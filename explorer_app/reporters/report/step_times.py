"""The section with the duration of each step."""

from __future__ import annotations

from typing import Final

import numpy as np

from explorer_app import format as fmt
from explorer_app.reporters.report.markup import Markup
from explorer_app.reporters.report.parts import nothing, section
from explorer_app.reporters.report.plot import Axis, Plot, from_zero
from neuron_profile.analysis import Summary

_MOST_BARS: Final = 400
_HEIGHT: Final = 200
_NO_STEPS: Final = (
    "No step is marked in this trace. Call the profiler's step() after each step, or wrap each in "
    'torch.profiler.record_function("step").'
)


def step_times(summary: Summary) -> Markup:
    """A bar for each step of the slowest of its ranks, with the median; of many steps the longest."""
    steps = summary.steps
    if not len(steps) or steps.attrs["found_by"] == "window":
        return section("Step times", nothing(_NO_STEPS))
    median_ns, ranks = float(steps["dur_ns"].median()), int(steps["rank"].nunique())
    slowest = steps.sort_values("dur_ns", kind="stable").drop_duplicates("step", keep="last")
    shown = slowest.nlargest(_MOST_BARS, "dur_ns").sort_values("step")
    place = np.arange(len(shown))
    every = max(1, len(shown) // 20)
    ticks = tuple((float(i), str(step)) for i, step in enumerate(shown["step"].tolist()) if i % every == 0)
    x = Axis(-0.5, len(shown) - 0.5, ticks, "step")
    y = from_zero(float(shown["dur_ns"].max()), fmt.duration)
    plot = Plot(x, y, _HEIGHT, "Duration of each step")
    titles = [
        f"step {step}{f' on rank {rank}, its slowest' if ranks > 1 else ''}: {fmt.duration(ns)}"
        for step, rank, ns in zip(shown["step"], shown["rank"], shown["dur_ns"], strict=True)
    ]
    plot.bars(place, shown["dur_ns"].to_numpy(), min(0.7, 0.06 * len(shown)), "var(--np-accent)", titles)
    ends = np.array([-0.5, len(shown) - 0.5])
    plot.line(ends, np.full(2, median_ns), "var(--np-text)", dashed=True, title=f"median: {fmt.duration(median_ns)}")
    note = f"{fmt.counted(len(slowest), 'step')}{f' on {ranks} ranks, the slowest of each' if ranks > 1 else ''}"
    note += f", median {fmt.duration(median_ns)} (dashed), "
    note += f"from {fmt.duration(steps['dur_ns'].min())} to {fmt.duration(steps['dur_ns'].max())}"
    if len(slowest) > len(shown):
        note += f"; the {len(shown)} longest are drawn"
    return section("Step times", plot.svg(), note=note)
