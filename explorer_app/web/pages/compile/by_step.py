"""The card that shows which steps paid for compiles."""

from __future__ import annotations

from typing import Any, Final

from explorer_app import format as fmt
from explorer_app.web.card import card
from explorer_app.web.chart import chart, value_axis
from explorer_app.web.message import empty
from explorer_app.web.numbers import once
from explorer_app.web.theme import category_color
from explorer_app.web.view import View
from neuron_profile import analysis

_NO_STEPS: Final = (
    "No step is marked in this trace, so nothing says who paid. Call the profiler's step() after each step."
)
_MOST_BARS: Final = 400
_TITLE: Final = "Time each step paid"


def steps_card(view: View) -> Any:
    """A bar for each step, and in front of it how much of it something was compiled; of many the slowest."""
    steps = once(analysis.steps, view.trace)
    if steps.empty or steps.attrs["found_by"] == "window":
        return card(_TITLE, empty("No steps", _NO_STEPS))
    charged = once(analysis.compile_time_by_step, view.trace)
    paid = {(row["rank"], row["step"]): row for row in charged.to_dict("records")}
    shown = steps.nlargest(_MOST_BARS, "dur_ns").sort_values(["rank", "step"]) if len(steps) > _MOST_BARS else steps
    several = steps["rank"].nunique() > 1
    names = [f"rank {r}, {s}" if several else str(s) for r, s in zip(shown["rank"], shown["step"], strict=True)]
    compile_ns = [int(paid.get((r, s), {}).get("dur_ns", 0)) for r, s in zip(shown["rank"], shown["step"], strict=True)]
    texts = [
        f"{name}: {fmt.duration(c)} of {fmt.duration(int(d))} compiling"
        for name, c, d in zip(names, compile_ns, shown["dur_ns"], strict=True)
    ]
    curves = [
        {
            "type": "bar", "name": name, "x": names, "y": values, "customdata": texts,
            "hovertemplate": "step %{customdata}<extra></extra>", "marker": {"color": color},
        }
        for name, values, color in (
            ("the step", shown["dur_ns"].tolist(), f"{category_color('other')} 50%"),
            ("compiling in it", compile_ns, category_color("compile")),
        )
    ]  # fmt: skip
    figure = {
        "data": curves,
        "layout": {
            "barmode": "overlay", "bargap": 0.2, "showlegend": True,
            "xaxis": {"type": "category", "title": {"text": "step"}, "showgrid": False, "nticks": 20},
            "yaxis": value_axis(float(shown["dur_ns"].max()), fmt.duration),
        },
    }  # fmt: skip
    note = f"the {_MOST_BARS} longest of {fmt.counted(len(steps), 'step')}" if len(steps) > _MOST_BARS else ""
    label = "How long each step took, and how much of it something was compiled"
    return card(_TITLE, chart("compile-steps", figure, height_px=220, window_ratio=0.2, label=label), note=note)
