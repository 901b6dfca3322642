"""What an import kept, left out and repaired, by cause."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class ImportReport:
    """Counts of source events. `kept` plus the sum of `left_out` is `source_events`, always.

    A B/E pair counts as two. `left_out` and `repaired` map a cause, in plain words, to a count;
    a repaired event is among the kept.
    """

    source_events: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    repaired: Counter[str] = field(default_factory=Counter)

    @property
    def kept(self) -> int:
        return self.source_events - sum(self.left_out.values())

    @property
    def clean(self) -> bool:
        """Whether nothing was left out and nothing had to be repaired."""
        return not +self.left_out and not +self.repaired

    def lose(self, cause: str, events: int) -> None:
        """Count events as left out that a report made earlier still counts as kept."""
        if events:
            self.left_out[cause] += events
        self.source_events = max(self.source_events, sum(self.left_out.values()))

    def copy(self) -> ImportReport:
        """A report of its own that says the same."""
        return ImportReport(self.source_events, self.left_out.copy(), self.repaired.copy())

    def to_dict(self) -> dict[str, Any]:
        """`{"source_events", "kept", "left_out": {cause: n}, "repaired": {cause: n}}`, most frequent cause first."""
        return {
            "source_events": self.source_events,
            "kept": self.kept,
            "left_out": dict((+self.left_out).most_common()),
            "repaired": dict((+self.repaired).most_common()),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ImportReport:
        """The report that `to_dict` wrote. Raises ValueError where the numbers do not add up."""
        report = cls(int(data["source_events"]), Counter(data.get("left_out", {})), Counter(data.get("repaired", {})))
        if report.kept != int(data["kept"]):
            raise ValueError("kept and left_out do not add up to source_events")
        return report
