"""How long one instruction keeps its engine busy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from neuron_profile.hardware.core import CoreModel

PARTITIONS = 128
PSUM_BANK = 512  # fp32 numbers of a partition that one matmul may write (AWS Neuron docs, the NKI architecture guides)
SBUF_TILE = 2048  # elements of a partition that one instruction takes; what the kernels seen have
_LEAST_CYCLES = 64  # NKI stubs, the documented formulas
_BN_STATS = 512


@dataclass(frozen=True, slots=True)
class Instructions:
    """Intervals in ns of instructions over `n` elements of each partition; `itemsize` in bytes.

    Where the model has fits to profiles these are used, else the formulas that AWS documented.
    """

    core: CoreModel

    def matmul(self, n: int, itemsize: int) -> float:
        """One 128 x 128 weight tile against `n` moving columns."""
        return max(self.core.least_matmul_cycles, n) * self._matmul_cycles(itemsize) / self.core.tensor_ghz

    def transpose(self, itemsize: int) -> float:
        """A 128 x 128 transpose on the Tensor engine; it ends in PSUM."""
        cycles = self.core.fp32_transpose_cycles if itemsize >= 4 else 1
        return max(PARTITIONS * cycles / self.core.tensor_ghz, self.core.transpose_floor_ns * self.core.fitted)

    def scalar_copy(self, n: int) -> float:
        return self._scalar(n, self.core.scalar_copy_cycles)

    def activation(self, n: int, *, from_psum: bool = False) -> float:
        """A function of each element on the Scalar engine; a running sum costs nothing more."""
        fixed = self.core.activation_psum_cycles if from_psum else self.core.activation_sbuf_cycles
        return (n + fixed) / self.core.scalar_ghz

    def copy(self, n: int, itemsize: int = 4) -> float:
        """tensor_copy on the Vector engine; twice as fast for 2-byte elements with one side in PSUM."""
        return self._vector(n if itemsize >= 4 else n / 2, self.core.vector_copy_cycles, n)

    def tensor_tensor(self, n: int, itemsize: int) -> float:
        # NC-v2 takes two cycles for an element of fp32, all later ones one
        slope = (1.0 if self.core.fitted else 2.0) / (1 if itemsize >= 4 else 2)
        return self._vector(n * slope, self.core.tensor_tensor_cycles, n * slope)

    def tensor_scalar(self, n: int, itemsize: int, *, from_psum: bool = False) -> float:
        slope = 1.0 if from_psum else 0.5 if itemsize >= 4 else 0.25
        return self._vector(n * slope, self.core.tensor_scalar_cycles, n)

    def reduce(self, n: int, itemsize: int = 4) -> float:
        return self._vector(n if itemsize >= 4 else n / 2, self.core.vector_reduce_cycles, n)

    def reciprocal(self, n: int) -> float:
        return self._vector(8 * n, self.core.reciprocal_cycles, 8 * n)

    def select(self, n: int) -> float:
        """select, copy_predicated and scans: two cycles per element."""
        return self._vector(2 * n, self.core.tensor_tensor_cycles, 2 * n)

    def statistics(self, n: int) -> float:
        """bn_stats in pieces of 512 and bn_aggr over them."""
        pieces = math.ceil(n / _BN_STATS)
        return tiled(n, _BN_STATS, self.reduce) + self._vector(13 * pieces / 3, self.core.vector_reduce_cycles, pieces)

    def gpsimd(self, n: float) -> float:
        """iota, affine_select and what else GpSimd does element by element."""
        return (n + self.core.gpsimd_cycles) / self.core.gpsimd_ghz

    def _matmul_cycles(self, itemsize: int) -> float:
        return self.core.fp32_cycles if itemsize >= 4 else self.core.fp8_cycles if itemsize == 1 else 1

    def _scalar(self, n: int, fixed: int) -> float:
        return (n + fixed if self.core.fitted else max(_LEAST_CYCLES, n)) / self.core.scalar_ghz

    def _vector(self, cycles: float, fixed: int, documented: float) -> float:
        return (cycles + fixed if self.core.fitted else max(_LEAST_CYCLES, documented)) / self.core.vector_ghz


def tiled(n: int, width: int, interval: Callable[[int], float]) -> float:
    """ns of as many instructions of at most `width` elements as `n` elements need; 0 for none."""
    whole, rest = divmod(n, width)
    return whole * interval(width) + (interval(rest) if rest else 0.0)
