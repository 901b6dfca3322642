"""The time axis of a chart that follows the range: dragging in the chart chooses it, a chosen one is what it shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from explorer_app import format as fmt
from explorer_app.web.view import View

# What the mouse does in every such chart, for the key help.
RANGE_KEYS: Final = (
    ("Drag in a chart over time", "choose the range, on every page"),
    ("Double click in it", "look at the whole trace again"),
)


@dataclass(frozen=True)
class TimeAxis:
    """An axis from `origin_ns`, a moment on the trace's clock, to `length_ns` after it; `title` says what its 0 is.

    `before_ns` is how long after the start of the trace its 0 is; `shown_ns` is the part that it shows, since its 0.
    """

    origin_ns: int
    length_ns: float
    before_ns: int
    shown_ns: tuple[float, float]
    title: str

    @property
    def unit_ns(self) -> int:
        """How many nanoseconds its unit has."""
        return fmt.time_unit(self.length_ns)[0]

    def at(self, times_ns: Iterable[int]) -> list[float]:
        """Where on the axis these moments of the trace's clock are."""
        return [(time_ns - self.origin_ns) / self.unit_ns for time_ns in times_ns]

    def layout(self, anchor: str) -> dict[str, Any]:
        """The part of a figure's layout that makes this its axis, below the value axis `anchor`.

        `meta` tells the browser how to read a range dragged on it (assets/np_time_charts.js).
        """
        unit_ns, unit = fmt.time_unit(self.length_ns)
        shown = [moment / unit_ns for moment in self.shown_ns]
        return {
            "xaxis": {
                "title": {"text": f"{self.title} ({unit})"}, "range": shown, "anchor": anchor,
                "minallowed": 0, "maxallowed": self.length_ns / unit_ns,
            },
            "meta": {"np_before_ns": self.before_ns, "np_unit_ns": unit_ns, "np_shown": shown},
        }  # fmt: skip


def of_trace(view: View) -> TimeAxis:
    """The axis of the whole trace, showing the chosen range."""
    start_ns, end_ns = view.whole.time_range_ns or (0, 1)
    first, last = view.window_ns or (0, 1)
    shown = (first - start_ns, max(last - start_ns, first - start_ns + 1))
    return TimeAxis(start_ns, max(end_ns - start_ns, 1), 0, shown, "time since the start")


def of_part(view: View, start_ns: int, length_ns: float, title: str) -> TimeAxis:
    """The axis of a part of the trace, showing what of it lies in the chosen range; all of it where nothing does."""
    trace_start_ns = view.whole.time_range_ns[0] if view.whole.time_range_ns else 0
    first, last = view.range_ns or (start_ns, start_ns)
    shown: tuple[float, float] = max(first - start_ns, 0), min(last - start_ns, length_ns)
    if shown[0] >= shown[1]:
        shown = 0, length_ns
    return TimeAxis(start_ns, length_ns, start_ns - trace_start_ns, shown, title)
