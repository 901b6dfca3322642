"""How many bytes and floating-point operations an operator needs, as a rule over its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from neuron_profile.hardware.call import Call


class Traffic(NamedTuple):
    """Bytes an operator moves when each byte is moved once (nothing is re-read, nothing stays in a cache)."""

    read_bytes: int
    written_bytes: int


@dataclass(frozen=True, slots=True)
class Rule:
    """The formulas of one kind of operator.

    - `traffic`: bytes read and written; None where the recorded arguments do not tell.
    - `flops`: floating-point operations; None where the arguments do not tell. A rule without: none are counted.
    - `source`: where the formulas come from.
    - `recomputed`: how many of the operations repeat what another operator had worked out; none where there is no rule.
    - `calls_others`: the operator is made of others, which count instead of it where they were recorded.
    """

    name: str
    traffic: Callable[[Call], Traffic | None]
    flops: Callable[[Call], float | None] | None
    source: str
    calls_others: bool = False
    recomputed: Callable[[Call], float | None] | None = None
