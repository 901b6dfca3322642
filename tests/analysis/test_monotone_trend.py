"""Whether a series rises, against what can be counted by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_profile.analysis.memory.monotone_trend import trend


def of(*values: float) -> tuple[float, float, float, float]:
    found = trend(np.arange(len(values)), np.array(values))
    return found.slope, found.low, found.high, found.p_value


def test_one_value_does_not_decide_the_slope() -> None:
    # of ten pairs six have slope 1, and then 25, 33, 49.5, 97
    assert of(0, 1, 2, 3, 100)[0] == 1.0


def test_of_all_orders_of_four_values_one_rises_throughout() -> None:
    assert of(1, 2, 3, 4)[3] == pytest.approx(1 / 24)
    # three more have a single pair out of order
    assert of(1, 2, 4, 3)[3] == pytest.approx(4 / 24)
    assert of(4, 3, 2, 1)[3] == 1.0


def test_equal_values_do_not_rise() -> None:
    slope, _, _, p_value = of(7, 7, 7, 7, 7)
    assert (slope, p_value) == (0.0, 1.0)


def test_the_interval_is_of_the_slopes_in_their_order() -> None:
    # six points: 15 slopes; the signs of the pairs deviate by sqrt(6 x 5 x 17 / 18) = 5.32, so the interval reaches
    # from the third of the slopes, floor((15 - 10.43) / 2) = 2 counted from 0, to the one at ceil(12.7) = 13
    values = (0, 10, 21, 33, 46, 60)
    slopes = sorted((b - a) / (j - i) for (i, a), (j, b) in itertools.combinations(enumerate(values), 2))
    slope, low, high, _ = of(*values)
    assert (slope, low, high) == (slopes[7], slopes[2], slopes[13])


def test_too_few_points_tell_nothing() -> None:
    for values in ((), (1,)):
        assert all(math.isnan(number) for number in of(*values))
    slope, low, high, p_value = of(1, 3)
    assert (slope, p_value) == (2.0, 0.5)
    assert math.isnan(low)
    assert math.isnan(high)


def test_steps_that_are_missing_count_as_time() -> None:
    assert trend(np.array([2, 4, 8]), np.array([0, 20, 60])).slope == 10.0


@given(st.lists(st.integers(-(10**12), 10**12), max_size=30))
def test_the_slope_lies_in_its_interval_and_a_chance_between_0_and_1(values: list[int]) -> None:
    slope, low, high, p_value = of(*values)
    if not math.isnan(low):
        assert low <= slope <= high
    assert math.isnan(p_value) or 0 <= p_value <= 1
