"""The part of a trace that is being looked at, and how finely."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Window:
    """The half-open time range [start_ns, end_ns), drawn `width_px` pixels wide. Neither may be empty."""

    start_ns: int
    end_ns: int
    width_px: int

    @property
    def span_ns(self) -> int:
        return self.end_ns - self.start_ns

    @property
    def shift(self) -> int:
        """The power of two, in nanoseconds, that is nearest to a pixel (its exponent, at least 0).

        Slices are merged on a grid of this pitch that is fixed to the clock, not to the window: a block
        looks the same while the window moves, and every power of two can be prepared beforehand.
        """
        return max(0, round(math.log2(self.span_ns / self.width_px)))

    @property
    def edges_ns(self) -> np.ndarray:
        """The borders of the pixels, `(width_px + 1,)` int64."""
        return self.start_ns + np.rint(np.linspace(0, self.span_ns, self.width_px + 1)).astype(np.int64)
