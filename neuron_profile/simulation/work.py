"""What an operator is on a NeuronCore: stages of engine work between transfers from and to HBM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TENSOR, VECTOR, SCALAR, GPSIMD = "Tensor", "Vector", "Scalar", "GpSimd"
# how many distinct operators a process keeps the costs of: those of one window come again in the next
REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class Transfer:
    """A tensor on its way between HBM and SBUF: `rows` packets of `row_bytes`.

    - `element_bytes`: size of the pieces it breaks into; 0: whole rows.
    - `gathered`: rows at places that an index gives, by a queue that GpSimd fills.
    """

    rows: int
    row_bytes: int
    element_bytes: int = 0
    gathered: bool = False

    @property
    def nbytes(self) -> int:
        return self.rows * self.row_bytes


@dataclass(frozen=True, slots=True)
class Stage:
    """Engine times in ns between two barriers, as if each engine worked alone and at full speed."""

    busy_ns: Mapping[str, float] = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """An operator lowered onto a NeuronCore.

    - `tiles`: into how many pieces the stages are cut; what one engine does to a piece overlaps with others.
    - `rows`: what two cores can share.
    - `efficiency_ratio`: how much of the compute time the best code reaches.
    - `pointwise`: under a compiler it melts into its neighbours; `takes_epilogue`: such neighbours melt into it.
    - `generic`: by the rule for operators without one.
    - `functions`: what the Scalar engine computes, one after the other; each has a table that has to be there.
    """

    rule: str
    stages: tuple[Stage, ...] = ()
    loads: tuple[Transfer, ...] = ()
    stores: tuple[Transfer, ...] = ()
    tiles: int = 1
    rows: int = 1
    efficiency_ratio: float = 1.0
    pointwise: bool = False
    takes_epilogue: bool = False
    generic: bool = False
    functions: tuple[str, ...] = ()

    @property
    def read_bytes(self) -> int:
        return sum(transfer.nbytes for transfer in self.loads)

    @property
    def written_bytes(self) -> int:
        return sum(transfer.nbytes for transfer in self.stores)


def stage(**busy_ns: float) -> Stage:
    """A stage from engine times by the engines' names, without those that have nothing to do."""
    return Stage({engine: ns for engine, ns in busy_ns.items() if ns > 0})
