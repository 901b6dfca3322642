"""Whether a series rises, and how fast, told from ranks and medians, so that single values do not decide it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

_MOST_POINTS = 2000  # of longer series every so manyth: two million pairs tell the median
_EXACT_UP_TO = 10  # values; beyond them the statistic is close to normal (Kendall, Rank Correlation Methods)
_Z_95 = 1.959964  # of the normal distribution


@dataclass(frozen=True, slots=True)
class Trend:
    """The median slope between all pairs of points (Theil-Sen), its 95 % interval, and the chance of such a rise.

    `p_value` is that of a rise at least as steady in a series without a trend (Mann-Kendall, one side). NaN: too few
    points, two for the slope and for the chance, more for the interval.
    """

    slope: float
    low: float
    high: float
    p_value: float


def trend(x: Array, y: Array) -> Trend:
    """The trend of the points (x, y), `(n,)` numbers each, x ascending. Pairs of equal x do not count."""
    every = -(-len(x) // _MOST_POINTS) or 1
    x, y = x[::every].astype(np.float64), y[::every].astype(np.float64)
    early, late = np.triu_indices(len(x), 1)
    apart = x[late] > x[early]
    early, late = early[apart], late[apart]
    if len(early) == 0:
        return Trend(math.nan, math.nan, math.nan, math.nan)
    slopes = np.sort((y[late] - y[early]) / (x[late] - x[early]))
    deviation = math.sqrt(_variance(y))
    reach = _Z_95 * deviation
    low, high = math.floor((len(slopes) - reach) / 2), math.ceil((len(slopes) + reach) / 2)
    inside = low >= 0 and high < len(slopes)
    rise = int(np.sign(y[late] - y[early]).sum())
    return Trend(
        float(np.median(slopes)),
        float(slopes[low]) if inside else math.nan,
        float(slopes[high]) if inside else math.nan,
        _chance(rise, y, deviation),
    )


def _variance(y: Array) -> float:
    """That of the sum of the signs of all pairs, with ties (Kendall)."""
    n = len(y)
    ties = np.unique(y, return_counts=True)[1].astype(np.float64)
    return float(n * (n - 1) * (2 * n + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()) / 18


def _chance(rise: int, y: Array, deviation: float) -> float:
    n = len(y)
    if deviation == 0:
        return 1.0  # all values are equal
    if n > _EXACT_UP_TO or len(np.unique(y)) < n:
        return 0.5 * math.erfc((rise - 1) / deviation / math.sqrt(2))  # -1: the statistic moves in steps of two
    # of all orders of n values, those with at most as many pairs out of order
    orders = np.ones(1)
    for size in range(2, n + 1):
        orders = np.convolve(orders, np.ones(size))
    out_of_order = (n * (n - 1) // 2 - rise) // 2
    return float(orders[: out_of_order + 1].sum() / orders.sum())
