"""What a reader is looking at: one of the open traces, whole or a range of it. The address says it.

The address has `trace` (the key of an open trace; none for the first) and `from` and `to` (nanoseconds on the trace's
clock; none for the whole). The browser keeps them in the store `np-view`, which every callback is given (`VIEW`); so
two tabs with two addresses do not disturb each other.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from dash import State

from explorer_app.web.library import Library, Opened
from neuron_profile.analysis import cut
from trace_format import Trace

VIEW: Final = State("np-view", "data")
_MOST_CUTS = 4
_MOST_DIGITS = 19


@dataclass(frozen=True, eq=False)
class View:
    """What is being looked at.

    - `trace`: what of the trace lies in the range; the whole trace where none is chosen.
    - `range_ns`: the chosen range [start, end) on the trace's clock, None for none.
    """

    opened: Opened
    trace: Trace
    range_ns: tuple[int, int] | None = None
    slice_rows: np.ndarray | None = None
    is_first: bool = True

    @property
    def whole(self) -> Trace:
        """The whole trace."""
        return self.opened.trace

    @property
    def window_ns(self) -> tuple[int, int] | None:
        """The chosen range, else the time of the whole trace; None for a trace without time."""
        return self.range_ns or self.whole.time_range_ns

    def slice_id(self, row: int) -> int:
        """The row in the whole trace of a slice of `trace`; -1 stays."""
        return row if row < 0 or self.slice_rows is None else int(self.slice_rows[row])

    def query(self) -> dict[str, str]:
        """What an address says to show this."""
        asked = {} if self.is_first else {"trace": self.opened.key}
        if self.range_ns is not None:
            asked |= {"from": str(self.range_ns[0]), "to": str(self.range_ns[1])}
        return asked


class Views:
    """What the addresses mean; remembers the ranges that were cut last."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._cuts: OrderedDict[tuple[int, int, int], View] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, asked: Any) -> View:
        """The view that the browser's `np-view` names. A range that cannot be meant is none.

        Raises NotOpenError for a trace that is not open.
        """
        asked = asked if isinstance(asked, Mapping) else {}
        key = asked.get("trace")
        opened = self.library.get(key if isinstance(key, str) else "")
        is_first = opened is self.library.first
        start, end = _moment(asked.get("from")), _moment(asked.get("to"))
        whole = opened.trace.time_range_ns
        if start is None or end is None or whole is None:
            return View(opened, opened.trace, is_first=is_first)
        start, end = max(start, whole[0]), min(end, whole[1])
        if start >= end or (start, end) == whole:
            return View(opened, opened.trace, is_first=is_first)
        return self._cut(opened, start, end, is_first=is_first)

    def _cut(self, opened: Opened, start_ns: int, end_ns: int, *, is_first: bool) -> View:
        key = (id(opened), start_ns, end_ns)
        with self._lock:
            if key not in self._cuts:
                found = cut(opened.trace, start_ns, end_ns)
                self._cuts[key] = View(opened, found.trace, (start_ns, end_ns), found.slice_rows, is_first)
                if len(self._cuts) > _MOST_CUTS:
                    self._cuts.popitem(last=False)
            self._cuts.move_to_end(key)
            return self._cuts[key]


def whole_view(trace: Trace, title: str = "") -> View:
    """The view of a whole trace that is open alone."""
    return Views(Library.holding(trace, title=title)).of(None)


def _moment(text: Any) -> int | None:
    if not isinstance(text, str) or len(text) > _MOST_DIGITS + 1:
        return None
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and digits.isascii() else None
