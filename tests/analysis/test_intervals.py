"""Unions of intervals against a naive oracle that marks every moment."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neuron_profile.analysis.intervals import covered_before, merged, without

Array = np.ndarray
LATEST = 60

INTERVALS = st.lists(st.tuples(st.integers(0, 40), st.integers(-2, 20)), max_size=8).map(
    lambda pairs: np.array([(start, start + length) for start, length in pairs], np.int64).reshape(-1, 2)
)


def moments(intervals: Array) -> Array:
    """Whether each moment is in one of the intervals."""
    inside = np.zeros(LATEST, bool)
    for start, end in intervals.tolist():
        inside[start : max(end, start)] = True
    return inside


@given(INTERVALS)
def test_a_union_is_disjoint_in_order_and_covers_the_same_moments(given_: Array) -> None:
    start, end = merged(given_[:, 0], given_[:, 1])
    assert (start < end).all()
    assert (end[:-1] < start[1:]).all()
    assert np.array_equal(moments(np.stack([start, end], axis=1)), moments(given_))


@given(INTERVALS)
def test_what_is_covered_before_a_moment_is_counted_exactly(given_: Array) -> None:
    inside = moments(given_)
    at = np.arange(LATEST)
    assert np.array_equal(covered_before(at, *merged(given_[:, 0], given_[:, 1])), np.cumsum(inside) - inside)


@given(INTERVALS, INTERVALS)
def test_what_is_left_without_other_intervals(some: Array, others: Array) -> None:
    start, end = without(*merged(some[:, 0], some[:, 1]), *merged(others[:, 0], others[:, 1]))
    assert np.array_equal(moments(np.stack([start, end], axis=1)), moments(some) & ~moments(others))
