"""Curves over the time of the trace: panels one above the other on one time axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dash import html

from explorer_app import format as fmt
from explorer_app.web import subject
from explorer_app.web.chart import chart, plain, value_axis
from trace_format import Trace

_PANEL_PX: Final = 220
_PANEL_RATIO: Final = 0.3  # of the window's height, where that is more
_AROUND_PANELS_PX: Final = 60  # the legend above them, the axis below
_GAP: Final = 0.14  # between two panels, as a share of the drawing


@dataclass(frozen=True)
class Curve:
    """Values that hold from their time to the next one's; the last only marks the end.

    `texts` are the tooltips, one for each value; `color` names one of the theme; a curve that is not `in_legend` is
    one of many alike, and named by its tooltips.
    """

    name: str
    times_ns: Sequence[int]
    values: Sequence[float]
    texts: Sequence[str]
    color: str
    in_legend: bool = True


@dataclass(frozen=True)
class Panel:
    """Curves that share a value axis from 0, whose ticks `show` writes.

    Those of a `stacked` panel have the same times and stand one on the other.
    """

    title: str
    show: Callable[[float], str]
    curves: Sequence[Curve]
    stacked: bool = False

    @property
    def largest(self) -> float:
        """The largest value drawn; 0 without curves."""
        values = [curve.values for curve in self.curves]
        if self.stacked:
            return max(map(sum, zip(*values, strict=True)), default=0)
        return max((max(of_curve, default=0) for of_curve in values), default=0)


def time_panels(name: str, panels: Sequence[Panel], trace: Trace) -> html.Div:
    """A chart of the panels over the whole time of the trace; zooming in one zooms all. `name`: see `chart`."""
    start_ns = trace.time_range_ns[0] if trace.time_range_ns else 0
    whole_ns = subject.duration_ns(trace)
    factor, unit = fmt.time_unit(whole_ns)
    share = (1 - _GAP * (len(panels) - 1)) / len(panels)
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "hovermode": "x",
        "hoverdistance": -1,
        "showlegend": True,
        "legend": {"x": 1, "xanchor": "right", "y": 1.03},
        "xaxis": {
            "title": {"text": f"time since the start ({unit})"},
            "range": [0, whole_ns / factor], "minallowed": 0, "maxallowed": whole_ns / factor,
            "anchor": _axis("y", len(panels) - 1),
        },
        "annotations": [],
    }  # fmt: skip
    for number, panel in enumerate(panels):
        top = 1 - number * (share + _GAP)
        axis = _axis("y", number)
        shown = value_axis(panel.largest, panel.show)
        layout[axis.replace("y", "yaxis")] = {"domain": [max(top - share, 0.0), top], **shown}
        layout["annotations"].append(
            {"text": f"<b>{panel.title}</b>", "x": 0, "y": top, "xref": "paper", "yref": "paper", "showarrow": False,
             "xanchor": "left", "yanchor": "bottom", "font": {"size": 12}}
        )  # fmt: skip
        for curve in panel.curves:
            drawn = {**_drawn(curve, start_ns, factor), "xaxis": "x", "yaxis": axis}
            if panel.stacked:  # areas without lines: that of an empty one would lie on the one below
                drawn |= {"stackgroup": axis, "fill": "tonexty", "fillcolor": f"{curve.color} 70%"}
                drawn["line"] = {**drawn["line"], "width": 0}
            data.append(drawn)
    label = "Over time: " + " and ".join(panel.title.lower() for panel in panels)
    height_px = _PANEL_PX * len(panels) + _AROUND_PANELS_PX
    figure = {"data": data, "layout": layout}
    return chart(name, figure, height_px=height_px, window_ratio=_PANEL_RATIO * len(panels), label=label)


def _drawn(curve: Curve, start_ns: int, factor: int) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": plain(curve.name),
        "x": [(time_ns - start_ns) / factor for time_ns in curve.times_ns],
        "y": list(curve.values),
        "customdata": [
            plain(f"{text} from {fmt.duration(time_ns - start_ns)}")
            for text, time_ns in zip(curve.texts, curve.times_ns, strict=True)
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        "line": {"shape": "hv", "width": 1.5, "color": curve.color, "simplify": False},
        **({"fill": "tozeroy", "fillcolor": f"{curve.color} 20%"} if curve.in_legend else {"showlegend": False}),
    }  # fmt: skip


def _axis(letter: str, number: int) -> str:
    return letter if number == 0 else f"{letter}{number + 1}"
