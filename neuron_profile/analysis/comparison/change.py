"""How far two sets of samples are apart, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray

# Fewer on a side say nothing about their spread.
LEAST_SAMPLES = 5
_RESAMPLES = 4000
_LEVEL = 0.95
_SEED = 20240501  # the same traces always give the same interval


@dataclass(frozen=True, slots=True)
class Change:
    """The medians of two sets of samples and their difference.

    - `base`, `new`: medians, in the samples' unit; NaN for a side without samples.
    - `low`, `high`: the 95 % interval of `new - base` by bootstrap of the medians; both `new - base` where a side has
      fewer than `LEAST_SAMPLES` (`is_point`).
    - `base_samples`, `new_samples`: how many there were.
    """

    base: float
    new: float
    low: float
    high: float
    base_samples: int
    new_samples: int

    @property
    def difference(self) -> float:
        return self.new - self.base

    @property
    def ratio(self) -> float:
        """The difference as a share of the base; 0 where there is none, infinite where the base is 0."""
        return self.relative(self.difference)

    @property
    def is_point(self) -> bool:
        """Whether too few samples were there to tell a change from noise."""
        return min(self.base_samples, self.new_samples) < LEAST_SAMPLES

    @property
    def is_real(self) -> bool:
        """Whether the whole interval lies on one side of no change."""
        return self.low > 0 or self.high < 0

    def relative(self, difference: float) -> float:
        """A difference as a share of the base."""
        if difference == 0:
            return 0.0
        return difference / self.base if self.base else float(np.copysign(np.inf, difference))


def change(base: Array, new: Array) -> Change:
    """The change from the samples `base` `(n,)` to `new` `(m,)`. Deterministic: the resampling is seeded."""
    middle = [float(np.median(side)) if len(side) else float("nan") for side in (base, new)]
    low = high = middle[1] - middle[0]
    if min(len(base), len(new)) >= LEAST_SAMPLES:
        random = np.random.default_rng(_SEED)
        medians = [_medians(np.asarray(side, np.float64), random) for side in (base, new)]
        tail = (1 - _LEVEL) / 2
        low, high = (float(value) for value in np.quantile(medians[1] - medians[0], [tail, 1 - tail]))
    return Change(middle[0], middle[1], low, high, len(base), len(new))


def _medians(samples: Array, random: np.random.Generator) -> Array:
    """The medians of as many samples drawn with replacement, once for each resample.

    The k-th smallest of n draws is the sample in the place of the k-th smallest of n uniform numbers, which has the
    distribution Beta(k, n + 1 - k); the next one lies above that as the least of n - k uniform numbers would. So one or
    two numbers are drawn for each resample, not n (H. A. David and H. N. Nagaraja, Order Statistics, 2.5).
    """
    ordered, n = np.sort(samples), len(samples)
    middle = (n + 1) // 2
    place = random.beta(middle, n + 1 - middle, _RESAMPLES)
    median = _at(ordered, place)
    if n % 2:
        return median
    return (median + _at(ordered, place + (1 - place) * random.beta(1, n - middle, _RESAMPLES))) / 2


def _at(ordered: Array, place: Array) -> Array:
    """The samples that lie at these shares (0..1) of all."""
    return ordered[np.minimum((place * len(ordered)).astype(np.int64), len(ordered) - 1)]
