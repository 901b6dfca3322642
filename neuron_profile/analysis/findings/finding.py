"""What a rule found: a cause of lost time, how sure it is, and what to try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that slows the steps of a trace, or will end them.

    - `rule`: the stable id of the rule that found it; `docs/definitions.md` has them all.
    - `title`: one line with the number in it. `evidence`: short lines with numbers and what they are shares of.
    - `recoverable_ns`: how much shorter the median step would be, by the rule's estimate; of a trace without steps,
      the window. -1 where what is lost is not time.
    - `share_ratio`: that as a share of the median step, of a simulated finding of the time in NEFFs; NaN: unknown.
    - `steps_seen` of `steps`: in how many of the steps it was.
    - `slices`: rows of `trace.slices` that show it best, a few. `start_ns`, `end_ns`: the step that shows it best.
    - `advice`: what to try. `estimated_by`: how `recoverable_ns` follows from what was recorded.
    - `is_simulated`: it is about the simulated device, which never was.
    - `rank`, `device`: where it was; -1 where it is everywhere, or the trace knows none.
    - `of_rank`: the rank whose numbers these are, the typical one of several; -1 where the trace knows none.
    """

    rule: str
    title: str
    evidence: tuple[str, ...]
    recoverable_ns: int
    share_ratio: float
    steps_seen: int
    steps: int
    slices: tuple[int, ...]
    start_ns: int
    end_ns: int
    advice: str
    estimated_by: str
    is_simulated: bool = False
    rank: int = -1
    device: int = -1
    of_rank: int = -1

    def to_dict(self) -> dict[str, Any]:
        """The finding as JSON takes it; unknown is None."""
        return {
            "rule": self.rule,
            "title": self.title,
            "evidence": list(self.evidence),
            "recoverable_ns": self.recoverable_ns if self.recoverable_ns >= 0 else None,
            "share_ratio": self.share_ratio if self.share_ratio == self.share_ratio else None,
            "steps_seen": self.steps_seen,
            "steps": self.steps,
            "slices": list(self.slices),
            "start_ns": self.start_ns,
            "end_ns": self.end_ns,
            "advice": self.advice,
            "estimated_by": self.estimated_by,
            "is_simulated": self.is_simulated,
            "rank": self.rank if self.rank >= 0 else None,
            "device": self.device if self.device >= 0 else None,
            "of_rank": self.of_rank if self.of_rank >= 0 else None,
        }
