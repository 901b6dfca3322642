"""Rows grouped by what they have in common."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from script import untimed

from neuron_profile.analysis.grouping import group, percentiles

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=30)


@untimed
@given(ROWS, st.sampled_from([1, 10**9]))
def test_groups_are_the_distinct_rows_in_order(rows: list[tuple[int, int]], spread: int) -> None:
    """However far apart the numbers lie: few possible groups are counted, many are hashed."""
    first = np.array([a for a, _ in rows], np.int64)
    second = np.array([b * spread for _, b in rows], np.int64)
    groups = group((first, second), (4, 5 * spread))
    distinct = sorted({(a, b * spread) for a, b in rows})
    assert list(zip(*(values.tolist() for values in groups.values), strict=True)) == distinct
    assert [distinct[number] for number in groups.of_row.tolist()] == [(a, b * spread) for a, b in rows]


@untimed
@given(ROWS, st.integers(0, 100), st.sampled_from([1, 2**59]))
def test_a_percentile_is_the_least_number_that_so_many_percent_do_not_exceed(
    rows: list[tuple[int, int]], percent: int, unit: int
) -> None:
    of_row = np.array([a - 1 for a, _ in rows], np.int64)  # -1 does not count
    numbers = np.array([(b - 1) * unit if b else -1 for _, b in rows], np.int64)  # neither does a negative number
    (found,) = percentiles(of_row, 3, numbers, [percent])
    for number, value in enumerate(found.tolist()):
        mine = sorted((b - 1) * unit for a, b in rows if a - 1 == number and b)
        assert value == next((n for i, n in enumerate(mine, 1) if 100 * i >= percent * len(mine)), -1)
