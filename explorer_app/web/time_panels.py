"""Curves over the time of the trace: panels one above the other on one time axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dash import html

from explorer_app import format as fmt
from explorer_app.web import time_axis
from explorer_app.web.chart import chart, plain, value_axis
from explorer_app.web.time_axis import TimeAxis
from explorer_app.web.view import View

_PANEL_PX: Final = 200
_SMALL_PANEL_PX: Final = 132  # where there are more than two
_PANEL_RATIO: Final = 0.56  # of the window's height, all panels together
_AROUND_PANELS_PX: Final = 60  # the legend above them, the axis below
_HEADING_PX: Final = 22  # of a panel, which stands on it
_GAP_PX: Final = 40  # between two panels
_SQUASHED: Final = 20  # a limit as many times above everything else is told instead of drawn


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
class Limit:
    """A value that the curves of a panel cannot exceed, drawn as a line; `text` is said beside it."""

    value: float
    text: str


@dataclass(frozen=True)
class Panel:
    """Curves that share a value axis from 0, whose ticks `show` writes.

    Those of a `stacked` panel have the same times and stand one on the other.
    """

    title: str
    show: Callable[[float], str]
    curves: Sequence[Curve]
    stacked: bool = False
    limits: Sequence[Limit] = field(default=())

    @property
    def largest(self) -> float:
        """The largest value of a curve; 0 without curves."""
        values = [curve.values for curve in self.curves]
        if self.stacked:
            return max(map(sum, zip(*values, strict=True)), default=0)
        return max((max(of_curve, default=0) for of_curve in values), default=0)

    @property
    def top(self) -> float:
        """The largest value drawn."""
        return max([self.largest, *(limit.value for limit in self.limits if self.draws(limit))])

    def draws(self, limit: Limit) -> bool:
        """Whether a limit is near enough to the curves to be drawn with them."""
        return limit.value <= _SQUASHED * self.largest


def time_panels(name: str, panels: Sequence[Panel], view: View) -> html.Div:
    """A chart of the panels on the trace's time axis; a range dragged in one is chosen everywhere.

    `name`: see `chart`.
    """
    axis = time_axis.of_trace(view)
    panel_px = _PANEL_PX if len(panels) <= 2 else _SMALL_PANEL_PX
    inner_px = panel_px * len(panels) + _GAP_PX * (len(panels) - 1)
    share, gap = panel_px / inner_px, _GAP_PX / inner_px
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "hovermode": "x",
        "hoverdistance": -1,
        "showlegend": True,
        "legend": {"x": 1, "xanchor": "right", "y": 1 + _HEADING_PX / inner_px},
        "annotations": [],
        **axis.layout(_axis("y", len(panels) - 1)),
    }
    for number, panel in enumerate(panels):
        top = 1 - number * (share + gap)
        letter = _axis("y", number)
        shown = value_axis(panel.top, panel.show)
        layout[letter.replace("y", "yaxis")] = {"domain": [max(top - share, 0.0), top], **shown}
        layout["annotations"].append(
            {"text": f"<b>{plain(panel.title)}</b>", "x": 0, "y": top, "xref": "paper", "yref": "paper",
             "showarrow": False, "xanchor": "left", "yanchor": "bottom", "font": {"size": 12}}
        )  # fmt: skip
        for curve in panel.curves:
            drawn = {**_drawn(curve, axis), "xaxis": "x", "yaxis": letter}
            if panel.stacked:  # areas without lines: that of an empty one would lie on the one below
                drawn |= {"stackgroup": letter, "fill": "tonexty", "fillcolor": f"{curve.color} 70%"}
                drawn["line"] = {**drawn["line"], "width": 0}
            data.append(drawn)
        for limit in panel.limits:
            layout["annotations"].append(_told(limit, letter, top, is_drawn=panel.draws(limit)))
            if panel.draws(limit):
                layout.setdefault("shapes", []).append(
                    {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": letter, "y0": limit.value,
                     "y1": limit.value, "line": {"color": "var(--np-warn)", "width": 1.5, "dash": "dash"}}
                )  # fmt: skip
    label = "Over time: " + " and ".join(panel.title.lower() for panel in panels)
    return chart(
        name, {"data": data, "layout": layout}, height_px=inner_px + _AROUND_PANELS_PX,
        window_ratio=min(_PANEL_RATIO, 0.34 * len(panels)), label=label,
    )  # fmt: skip


def _told(limit: Limit, letter: str, top: float, *, is_drawn: bool) -> dict[str, Any]:
    at = {"yref": letter, "y": limit.value} if is_drawn else {"yref": "paper", "y": top}
    text = limit.text if is_drawn else f"↑ {limit.text}"
    return {
        "text": plain(text), "x": 1, "xref": "paper", "xanchor": "right", "yanchor": "bottom" if is_drawn else "top",
        "showarrow": False, "font": {"size": 11, "color": "var(--np-warn)"}, **at,
    }  # fmt: skip


def _drawn(curve: Curve, axis: TimeAxis) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": plain(curve.name),
        "x": axis.at(curve.times_ns),
        "y": list(curve.values),
        "customdata": [
            plain(f"{text} from {fmt.duration(time_ns - axis.origin_ns)}")
            for text, time_ns in zip(curve.texts, curve.times_ns, strict=True)
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        "line": {"shape": "hv", "width": 1.5, "color": curve.color, "simplify": False},
        **({"fill": "tozeroy", "fillcolor": f"{curve.color} 20%"} if curve.in_legend else {"showlegend": False}),
    }  # fmt: skip


def _axis(letter: str, number: int) -> str:
    return letter if number == 0 else f"{letter}{number + 1}"
