"""Fewer points for a curve, without losing its extremes."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def extremes(times: Array, values: Array, *, bins: int) -> Array:
    """Indices `(m,)`, ascending, of points that draw the same curve at `bins` bins of equal time.

    Of each bin that holds points: its first, its smallest, its largest and its last, so m <= 4 * bins. `times` `(n,)`
    ascend. Where there are no more than that many points, all of them; empty input gives none.
    """
    if len(times) <= 4 * bins:
        return np.arange(len(times))
    span = max(int(times[-1] - times[0]), 1)
    bin_of = np.minimum((times - times[0]).astype(np.float64) / span * bins, bins - 1).astype(np.int64)
    first = np.flatnonzero(np.r_[True, bin_of[1:] != bin_of[:-1]])
    last = np.r_[first[1:], len(times)] - 1
    by_value = np.lexsort((values, bin_of))
    # rows of one bin stay together in `by_value`, so its smallest and largest stand where the bin starts and ends
    return np.unique(np.concatenate([first, by_value[first], by_value[last], last]))
