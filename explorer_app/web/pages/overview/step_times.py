"""The card with the duration of each step."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.chart import chart, value_axis
from explorer_app.web.downsample import extremes
from explorer_app.web.message import empty
from explorer_app.web.numbers import once
from explorer_app.web.pages.overview.rank_steps import MOST_RANK_BARS, rank_bars, rank_strip_card, tooltip
from neuron_profile import analysis
from trace_format import Trace

_GAP: Final = 0.3  # of a step's place
_GROUP_GAP: Final = 0.1  # of a rank's place in it
_BROADEST: Final = 0.06  # of the chart, for one bar
_MOST_BARS: Final = 400  # a thousand take plotly the better part of a second
_BINS: Final = 400
_TICKED: Final = 20  # up to so many steps each has its number
_NO_MARKS: Final = (
    'No step is marked in this trace. Wrap each step in torch.profiler.record_function("step"), or give the profiler '
    "a schedule and call its step()."
)


def has_marks(steps: pd.DataFrame) -> bool:
    """Whether `analysis.steps` found steps, instead of taking the whole window for one."""
    return len(steps) > 0 and steps.attrs["found_by"] != "window"


def steps_card(trace: Trace) -> Any:
    """A bar for each step, for each of its ranks where there are several, and their median."""
    steps = once(analysis.steps, trace)
    if not has_marks(steps):
        return card("Step times", empty("No steps", _NO_MARKS), area="steps")
    median_ns = float(steps["dur_ns"].median())
    ranks = steps["rank"].nunique()
    if ranks > MOST_RANK_BARS or (ranks > 1 and len(steps) > _MOST_BARS):
        return rank_strip_card(steps, median_ns)
    first, last = int(steps["step"].min()), int(steps["step"].max())
    curves = rank_bars(steps) if ranks > 1 else [_curve(steps, slots=last - first + 1)]
    line = {
        "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": median_ns, "y1": median_ns,
        "line": {"color": "var(--np-text)", "width": 1, "dash": "dot"},
    }  # fmt: skip
    layout = {
        "bargap": _GAP,
        "bargroupgap": _GROUP_GAP if ranks > 1 else 0,
        "showlegend": False,
        "shapes": [line],
        "xaxis": {
            "title": {"text": "step"}, "tickformat": "d", "showgrid": False, "range": [first - 0.5, last + 0.5],
            # plotly would put ticks between whole steps while they are few
            **({"dtick": 1} if last - first < _TICKED else {}),
        },
        "yaxis": value_axis(float(steps["dur_ns"].max()), fmt.duration),
    }  # fmt: skip
    note = f"median {fmt.duration(median_ns)}, dotted"
    if ranks > 1:
        note = f"one bar for each of {ranks} ranks, the slowest of a step in colour; {note}"
    drawn = chart(
        "steps",
        {"data": curves, "layout": layout},
        height_px=240,
        window_ratio=0.24,
        label=f"Duration of each step; {note}",
    )
    return card("Step times", drawn, note=note, area="steps")


def _curve(steps: pd.DataFrame, *, slots: int) -> dict[str, Any]:
    """The steps as bars; as a line, of which every peak is kept, where there are too many for bars.

    `slots` is the number of steps that the chart has room for.
    """
    color = "var(--np-accent)"
    as_line = len(steps) > _MOST_BARS
    if as_line:
        steps = steps.iloc[extremes(steps["step"].to_numpy(), steps["dur_ns"].to_numpy(), bins=_BINS)]
    tooltips = [tooltip(step, dur) for step, dur in zip(steps["name"], steps["dur_ns"], strict=True)]
    curve: dict[str, Any] = {
        "x": steps["step"].tolist(),
        "y": steps["dur_ns"].tolist(),
        "customdata": tooltips,
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    if as_line:
        return curve | {"type": "scatter", "mode": "lines", "line": {"width": 1, "color": color}}
    # few bars are kept slim, for width means nothing
    slim = {"width": _BROADEST * slots} if _BROADEST * slots < 1 - _GAP else {}
    return curve | {"type": "bar", "marker": {"color": color, "opacity": 0.85}, **slim}
