"""Counters worked out from intervals, against sums over every picosecond."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_format.importers.neuron_device import activity
from trace_format.importers.neuron_device.activity import Coverage, Steps, equal_parts

LENGTH = 40
intervals = st.lists(st.tuples(st.integers(-5, 45), st.integers(0, 12), st.integers(0, 9)), max_size=12)


def columns(rows: list[tuple[int, int, int]]) -> list[np.ndarray]:
    return [np.array([row[column] for row in rows], np.int64) for column in range(3)]


def level_by_picosecond(rows: list[tuple[int, int, int]]) -> np.ndarray:
    """What is moved in each picosecond of [0, LENGTH), an amount spread evenly over its time."""
    level = np.zeros(LENGTH)
    for start, duration, amount in rows:
        for moment in range(max(start, 0), min(start + duration, LENGTH)):
            level[moment] += amount / duration
    return level


def test_equal_parts_are_never_shorter_than_a_picosecond() -> None:
    assert equal_parts(10, 14, 1024).tolist() == [10, 11, 12, 13, 14]
    assert equal_parts(0, 10, 4).tolist() == [0, 2, 5, 7, 10]
    assert equal_parts(7, 7, 4).tolist() == [7, 8]


@given(st.lists(intervals, max_size=3), st.sampled_from([1, 4, 40]))
def test_coverage_counts_each_moment_once(chunks: list[list[tuple[int, int, int]]], parts: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(activity, "ACTIVITY_PARTS", parts)
        covered = Coverage(0, LENGTH)
        for rows in chunks:
            start, duration, _ = columns(rows)
            covered.add(start, duration)
        busy = np.array([
            any(start <= moment < start + duration for rows in chunks for start, duration, _ in rows)
            for moment in range(LENGTH)
        ])  # fmt: skip
        assert covered.ratio().tolist() == busy.reshape(parts, -1).mean(axis=1).tolist()


@given(st.lists(intervals, max_size=3))
def test_steps_have_the_sum_of_what_is_under_way(chunks: list[list[tuple[int, int, int]]]) -> None:
    steps = Steps(0, LENGTH)
    for rows in chunks:
        start, duration, amount = columns(rows)
        steps.add(start, duration, amount)
    at, value = steps.points()
    place = np.searchsorted(at, np.arange(LENGTH), "right") - 1
    found = np.where(place >= 0, np.append(value, 0.0)[place], 0.0)
    assert found == pytest.approx(level_by_picosecond([row for rows in chunks for row in rows]))
    assert (np.diff(at) > 0).all()
    assert len(value) == 0 or value[-1] == 0


@given(st.lists(intervals, min_size=1, max_size=3), st.sampled_from([1, 4, 40]))
def test_more_points_than_the_limit_become_means_of_equal_parts(
    chunks: list[list[tuple[int, int, int]]], parts: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(activity, "COARSE_PARTS", parts)
        patch.setattr(activity, "MOST_POINTS", 1)
        steps = Steps(0, LENGTH)
        for rows in chunks:
            start, duration, amount = columns(rows)
            steps.add(start, duration, amount)
        at, value = steps.points()
        expected = level_by_picosecond([row for rows in chunks for row in rows])
        if len(at):
            assert at.tolist() == np.arange(0, LENGTH, LENGTH // parts).tolist()
            assert value == pytest.approx(expected.reshape(parts, -1).mean(axis=1), abs=1e-9)
        else:
            assert not expected.any()
