"""When compiler passes began and ended, from lines that tell the time in whole seconds but durations exactly."""

from __future__ import annotations

from dataclasses import dataclass, field

_RESOLUTION_NS = 10**9
_MOST_OPEN = 256  # passes inside one another; real logs have a handful


@dataclass(slots=True)
class _Open:
    """A pass that began; what ends before its own end lies inside it."""

    name: str
    ts_ns: int
    inside: int  # so many passes had ended before


@dataclass(slots=True)
class PassLane:
    """The passes that one thread of the compiler ran, one after another and inside one another.

    A line of the log is written when a pass ends, its time cut to the second. A duration is exact, so a pass is placed
    as early as that time allows, but not before the one before it ended; one that has others inside begins no later
    than they do. What lies inside is told by the line that a pass began with, or where the log has none, by durations.
    """

    _open: list[_Open] = field(default_factory=list)
    _ended: list[tuple[int, int]] = field(default_factory=list)  # begin and end; those inside others taken out

    def begin(self, name: str, ts_ns: int) -> int:
        """Note that a pass began; how many of those that began before are given up, since their ends never came."""
        self._open.append(_Open(name, ts_ns, len(self._ended)))
        abandoned = max(len(self._open) - _MOST_OPEN, 0)
        del self._open[:abandoned]
        return abandoned

    def end(self, name: str, ts_ns: int, dur_ns: int | None) -> tuple[int, int, int] | None:
        """Begin and duration of the pass that ended at `ts_ns`, and how many passes inside it did not end.

        Where its line does not tell the duration, it is from the line of the begin to that of the end; None where
        there is none of the begin either.
        """
        at = next((i for i in reversed(range(len(self._open))) if self._open[i].name == name), None)
        if at is not None:
            opened, abandoned = self._open[at], len(self._open) - at - 1
            del self._open[at:]
            inside, earliest_ns = opened.inside, opened.ts_ns
            if dur_ns is not None:
                earliest_ns = max(earliest_ns, ts_ns - dur_ns)
        elif dur_ns is not None:
            inside, abandoned, earliest_ns = self._around(ts_ns, dur_ns), 0, ts_ns - dur_ns
        else:
            return None
        children = self._ended[inside:]
        start_ns = max(earliest_ns, self._ended[inside - 1][1]) if inside else earliest_ns
        if dur_ns is None:
            start_ns = min(start_ns, children[0][0]) if children else start_ns
            dur_ns = max(ts_ns, children[-1][1] if children else start_ns) - start_ns
        elif children:
            start_ns = min(max(start_ns, children[-1][1] - dur_ns), children[0][0])
        del self._ended[inside:]
        self._ended.append((start_ns, start_ns + dur_ns))
        return start_ns, dur_ns, abandoned

    def unfinished(self) -> list[tuple[str, int]]:
        """Name and begin of each pass that did not end, the outermost first; they are forgotten."""
        out = []
        for opened in self._open:
            before_ns = self._ended[opened.inside - 1][1] if opened.inside else opened.ts_ns
            out.append((opened.name, max(opened.ts_ns, before_ns)))
        self._open.clear()
        return out

    def _around(self, ts_ns: int, dur_ns: int) -> int:
        """How many passes ended before one that began without a line began: those after it certainly lie inside."""
        inside = len(self._ended)
        lowest = self._open[-1].inside if self._open else 0
        while inside > lowest and self._ended[inside - 1][0] >= ts_ns + _RESOLUTION_NS - dur_ns:
            inside -= 1
        return inside
