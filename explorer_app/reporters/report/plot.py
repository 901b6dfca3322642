"""Small charts as SVG: an area with axes, and what is drawn on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from explorer_app import format as fmt
from explorer_app.reporters.report.markup import Markup, element

Array = np.ndarray
Shown = Callable[[float], str]

WIDTH: Final = 1000
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 24, 10, 34
_STEPS: Final = (1, 2, 2.5, 5, 10)
_LEAST_DECADES: Final = 1e-30


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values, and where its ticks are: (value, text)."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    title: str = ""
    is_log: bool = False

    def place(self, values: Array) -> Array:
        """Where values are between 0, the low end, and 1."""
        low, high = self.low, self.high
        if self.is_log:
            values, low, high = np.log10(np.maximum(values, _LEAST_DECADES)), math.log10(low), math.log10(high)
        return (np.asarray(values, float) - low) / (high - low)


def from_zero(highest: float, shown: Shown, *, ticks: int = 4) -> Axis:
    """An axis from 0 to a round number at or above `highest`."""
    highest = highest if math.isfinite(highest) and highest > 0 else 1.0
    step = _round_up(highest / ticks)
    count = math.ceil(highest / step - 1e-9)
    return Axis(0, step * count, tuple((step * i, shown(step * i)) for i in range(count + 1)))


def over_time(start_ns: int, end_ns: int, zero_ns: int) -> Axis:
    """An axis of a time range, with the time since `zero_ns` at its ticks."""
    span = max(end_ns - start_ns, 1)
    step = max(_round_up(span / 8), 1)
    first = math.ceil((start_ns - zero_ns) / step)
    last = math.floor((end_ns - zero_ns) / step)
    ticks = tuple((i * step + zero_ns - start_ns, fmt.duration(i * step)) for i in range(first, last + 1))
    return Axis(0, span, ticks, "since the start of the trace")


def logarithmic(low: float, high: float, shown: Shown, title: str) -> Axis:
    """An axis of whole decades around [low, high], both above 0."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    last = max(last, first + 1)
    every = max(1, (last - first) // 7)
    ticks = tuple((10.0**i, shown(10.0**i)) for i in range(first, last + 1, every))
    return Axis(10.0**first, 10.0**last, ticks, title, is_log=True)


def _round_up(step: float) -> float:
    """The smallest of 1, 2, 2.5, 5 and 10 times a power of ten that is at least `step`."""
    power = 10.0 ** math.floor(math.log10(step))
    return power * next(factor for factor in _STEPS if factor * power >= step * (1 - 1e-9))


class Plot:
    """A chart being drawn, `height` units high; what is added later lies above."""

    def __init__(self, x: Axis, y: Axis, height: int, label: str) -> None:
        self.x, self.y, self.height, self.label = x, y, height, label
        self._drawn: list[Markup] = []

    def across(self, values: Array) -> Array:
        """Horizontal places."""
        return _LEFT + self.x.place(values) * (WIDTH - _LEFT - _RIGHT)

    def up(self, values: Array) -> Array:
        """Vertical places."""
        return self.height - _BOTTOM - self.y.place(values) * (self.height - _BOTTOM - _TOP)

    def add(self, *drawn: Markup) -> None:
        self._drawn += drawn

    def line(self, x: Array, y: Array, color: str, *, dashed: bool = False, title: str = "") -> None:
        """A line through points."""
        points = _path(self.across(x), self.up(y))
        dash = "5 4" if dashed else None
        self.add(
            element(
                "g", element("title", title) if title else Markup(),
                element("path", d=points, style=f"fill:none;stroke:{color};stroke-width:1.5", stroke_dasharray=dash),
            )
        )  # fmt: skip

    def steps(self, edges: Array, y: Array, color: str, *, title: str = "") -> None:
        """A line that keeps each value of `y` (n,) between two of the `edges` (n + 1,), with the area under it."""
        x = np.repeat(edges, 2)[1:-1]
        heights = np.repeat(y, 2)
        across, up = self.across(x), self.up(heights)
        floor = float(self.up(np.array([self.y.low]))[0])
        if not len(across):
            return
        area = f"{_path(across, up)}V{floor:.1f}H{across[0]:.1f}z"
        self.add(element("path", d=area, style=f"fill:{color};opacity:.18"))
        self.line(x, heights, color, title=title)

    def bars(self, x: Array, y: Array, width: float, color: str, titles: Sequence[str]) -> None:
        """A bar around each `x`, `width` wide on its axis."""
        left, right, top = self.across(x - width / 2), self.across(x + width / 2), self.up(y)
        floor = float(self.up(np.array([self.y.low]))[0])
        for begin, end, high, title in zip(left, right, top, titles, strict=True):
            self.add(
                element(
                    "g", element("title", title),
                    element("rect", x=f"{begin:.1f}", y=f"{high:.1f}", width=f"{max(end - begin, 0.5):.1f}",
                            height=f"{max(floor - high, 0.5):.1f}", style=f"fill:{color}"),
                )
            )  # fmt: skip

    def dots(self, x: Array, y: Array, radius: Array, color: str, titles: Sequence[str]) -> None:
        """A circle at each point."""
        for across, up, r, title in zip(self.across(x), self.up(y), radius, titles, strict=True):
            circle = element("circle", cx=f"{across:.1f}", cy=f"{up:.1f}", r=f"{r:.1f}", style=f"fill:{color}")
            self.add(element("g", element("title", title), circle, _class="dot"))

    def svg(self) -> Markup:
        """The whole chart."""
        bottom, right = self.height - _BOTTOM, WIDTH - _RIGHT
        grid: list[Markup] = []
        for place, (_, text) in zip(self.up(_values(self.y)), self.y.ticks, strict=True):
            grid.append(element("path", d=f"M{_LEFT} {place:.1f}H{right}", _class="grid"))
            grid.append(element("text", text, x=_LEFT - 8, y=f"{place + 4:.1f}", text_anchor="end"))
        for place, (_, text) in zip(self.across(_values(self.x)), self.x.ticks, strict=True):
            grid.append(element("path", d=f"M{place:.1f} {bottom}v4", _class="grid"))
            grid.append(element("text", text, x=f"{place:.1f}", y=bottom + 16, text_anchor="middle"))
        grid.append(element("path", d=f"M{_LEFT} {bottom}H{right}", _class="axis"))
        titles = [
            element("text", self.x.title, x=right, y=self.height - 4, text_anchor="end"),
            element("text", self.y.title, x=_LEFT + 4, y=_TOP + 2),
        ]
        return element(
            "svg", *grid, *self._drawn, *titles, viewBox=f"0 0 {WIDTH} {self.height}", role="img",
            aria_label=self.label, _class="plot",
        )  # fmt: skip


def _values(axis: Axis) -> Array:
    return np.array([value for value, _ in axis.ticks], float)


def _path(x: Array, y: Array) -> str:
    points = [f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    return f"M{'L'.join(points)}" if points else ""
