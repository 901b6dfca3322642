"""A rule: what it looks at, when it speaks, and what it advises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neuron_profile.analysis.findings.cost import Cost
from neuron_profile.analysis.findings.finding import Finding

if TYPE_CHECKING:
    from neuron_profile.analysis.findings.context import Context


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a rule's function returns: the number, and what shows it. See `Finding` for the fields.

    `advice`: in place of the rule's own, where what was found decides what to try.
    """

    title: str
    cost: Cost
    lines: tuple[str, ...]
    slices: tuple[int, ...] = ()
    is_time: bool = True
    rank: int = -1
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A line of the table of rules.

    - `id`: stable. `looks_at`, `speaks_when`, `why`: for the reader of the table; the function holds to them.
    - `find`: what it found, None for nothing.
    - `estimate`: how the time to be recovered follows from what was recorded.
    - `said_by`: rules that name the same lost time more exactly. Where one of them found half as much or more, this
      rule is silent.
    """

    id: str
    looks_at: str
    speaks_when: str
    why: str
    find: Callable[[Context], Evidence | None]
    estimate: str
    advice: str
    said_by: tuple[str, ...] = ()
    is_simulated: bool = False

    def finding(self, found: Evidence) -> Finding:
        cost = found.cost
        return Finding(
            self.id, found.title, found.lines, cost.per_step_ns if found.is_time else -1,
            cost.share_ratio if found.is_time else float("nan"), cost.seen, cost.steps, found.slices,
            cost.start_ns, cost.end_ns, found.advice or self.advice, self.estimate, self.is_simulated,
            found.rank, cost.device, cost.rank,
        )  # fmt: skip
