"""What operators are lowered for, and the pieces that many rules are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.core import CoreModel
from neuron_profile.simulation.instructions import PARTITIONS, SBUF_TILE, Instructions, tiled
from neuron_profile.simulation.work import Transfer, Work


@dataclass(frozen=True, slots=True)
class Target:
    """A core, and whether a compiler sees the whole graph (`compiled`) or one operator at a time."""

    core: CoreModel
    compiled: bool = False

    @property
    def unit(self) -> Instructions:
        return Instructions(self.core)


Lower = Callable[[Call, Target], Work | None]
"""The work of a call; None where its recorded arguments do not tell."""


@dataclass(frozen=True, slots=True)
class Flat:
    """A tensor whose shape does not matter, spread over all partitions: `width` elements of each in `tiles` tiles."""

    numel: int

    @property
    def width(self) -> int:
        return math.ceil(self.numel / PARTITIONS)

    @property
    def tiles(self) -> int:
        return max(math.ceil(self.width / SBUF_TILE), 1)

    def times(self, interval: Callable[[int], float]) -> float:
        """ns of one instruction on each tile."""
        return tiled(self.width, SBUF_TILE, interval)

    def transfer(self, itemsize: int) -> Transfer:
        rows = min(PARTITIONS * self.tiles, max(self.numel, 1))
        return Transfer(rows, math.ceil(self.numel / rows) * itemsize)


@dataclass(frozen=True, slots=True)
class Rows:
    """A tensor as rows over partitions: `rows` of `width` elements."""

    rows: int
    width: int

    @property
    def row_tiles(self) -> int:
        return max(math.ceil(self.rows / PARTITIONS), 1)

    @property
    def tiles(self) -> int:
        return self.row_tiles * max(math.ceil(self.width / SBUF_TILE), 1)

    def times(self, interval: Callable[[int], float]) -> float:
        """ns of one instruction on each tile."""
        return self.row_tiles * tiled(self.width, SBUF_TILE, interval)

    def transfer(self, itemsize: int) -> Transfer:
        return Transfer(self.rows, self.width * itemsize)


def flat_transfers(tensors: Sequence[Tensor]) -> tuple[Transfer, ...]:
    """Whole tensors in the densest shape; those without elements are left out."""
    return tuple(Flat(t.numel).transfer(t.itemsize) for t in tensors if t.numel)


def flat_bytes(nbytes: int) -> tuple[Transfer, ...]:
    """So many bytes in the densest shape, none for 0."""
    return (Flat(math.ceil(nbytes / 4)).transfer(4),) if nbytes else ()


def last_axis(tensor: Tensor, axis: int = -1) -> Rows:
    """The tensor as rows along `axis`, which an instruction reads from end to end."""
    if not tensor.shape:
        return Rows(1, 1)
    width = max(tensor.shape[axis], 1) if -len(tensor.shape) <= axis < len(tensor.shape) else tensor.shape[-1]
    return Rows(max(tensor.numel // max(width, 1), 1), width)


def row_major(tensor: Tensor) -> bool:
    """Whether the last axis is the one that lies together in memory; True where strides are not known."""
    strides = tensor.strides
    if strides is None or len(strides) != len(tensor.shape) or len(strides) < 2:
        return True
    return strides[-1] <= strides[-2] or tensor.shape[-1] == 1 or strides[-1] == 1
