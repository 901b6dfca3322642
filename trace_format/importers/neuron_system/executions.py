"""Executions of a logical core that is made of several physical ones: one event for each becomes one for all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class CoreRun:
    """One execution as a physical core saw it. `end_ns` None: not finished."""

    process: int
    nc: int
    core: int
    exec_id: int
    start_ns: int
    end_ns: int | None


@dataclass(slots=True)
class LogicalRun:
    """An execution on a logical core: from the first start to the last end of its cores."""

    parts: list[CoreRun] = field(default_factory=list)

    @property
    def start_ns(self) -> int:
        return min(part.start_ns for part in self.parts)

    @property
    def end_ns(self) -> int | None:
        """None where a core did not finish."""
        ends = [part.end_ns for part in self.parts if part.end_ns is not None]
        return max(ends) if len(ends) == len(self.parts) else None


def merged(runs: Iterable[CoreRun]) -> list[LogicalRun]:
    """The runs that several physical cores made together; those that one made alone are not among them.

    Together are those of one logical core and exec_id on different cores, as long as no core comes a second time: the
    runtime numbers executions anew after a while.
    """
    found: list[LogicalRun] = []
    latest: dict[tuple[int, int, int], LogicalRun] = {}
    for run in sorted(runs, key=lambda run: run.start_ns):
        if run.core < 0 or run.exec_id < 0:
            continue
        key = (run.process, run.nc, run.exec_id)
        known = latest.get(key)
        if known is None or any(part.core == run.core for part in known.parts):
            known = latest[key] = LogicalRun()
            found.append(known)
        known.parts.append(run)
    return [run for run in found if len(run.parts) > 1]
