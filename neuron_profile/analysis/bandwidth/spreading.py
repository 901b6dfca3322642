"""Amounts spread evenly over the time they took, as sums over bins."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def spread(edges: Array, start: Array, duration: Array, amounts: Array) -> Array:
    """How much of the amounts falls into each bin, `(bins,) float64`, so that the bins sum to them.

    `edges` `(bins + 1,) int64` ascend and lie around all of [start, start + duration); what takes no time lies whole
    in the bin of its start.
    """
    bins, width = len(edges) - 1, np.diff(edges).astype(np.float64)
    end = start + duration
    first = np.searchsorted(edges, start, "right") - 1
    last = np.where(duration > 0, np.searchsorted(edges, end, "left") - 1, first)
    rate = amounts / np.maximum(duration, 1)
    within = first == last
    out = _sums(first[within], amounts[within], bins)
    first, last, start, end, rate = (values[~within] for values in (first, last, start, end, rate))
    out += _sums(first, rate * (edges[first + 1] - start), bins)
    out += _sums(last, rate * (end - edges[last]), bins)
    # bins that one covers whole: its rate comes at the first of them and goes after the last
    change = _sums(first + 1, rate, bins) - _sums(last, rate, bins)
    covering = np.cumsum(np.bincount(first + 1, minlength=bins) - np.bincount(last, minlength=bins))
    # where nothing covers a bin the sum of the rates is zero, whatever rounding says
    return out + np.where(covering > 0, np.maximum(np.cumsum(change), 0.0), 0.0) * width


def _sums(at: Array, numbers: Array, bins: int) -> Array:
    """The sum of the numbers at each bin, `(bins,) float64`; numpy alone gives integers where there are none."""
    return np.bincount(at, weights=numbers, minlength=bins).astype(np.float64)
