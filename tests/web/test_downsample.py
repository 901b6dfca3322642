"""Fewer points, the same extremes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from explorer_app.web.downsample import extremes


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(-50, 50)), max_size=400), st.integers(1, 20))
def test_each_bin_keeps_its_first_last_least_and_greatest(points: list[tuple[int, int]], bins: int) -> None:
    points.sort(key=lambda point: point[0])
    times = np.array([time for time, _ in points], np.int64)
    values = np.array([value for _, value in points], np.int64)
    kept = extremes(times, values, bins=bins)
    assert kept.tolist() == sorted(set(kept.tolist()))
    assert len(kept) <= 4 * bins
    if len(points) <= 4 * bins:
        assert kept.tolist() == list(range(len(points)))
        return
    span = max(int(times[-1] - times[0]), 1)
    of_bin: dict[int, list[int]] = {}
    for i, time in enumerate(times.tolist()):
        of_bin.setdefault(min(int((time - int(times[0])) / span * bins), bins - 1), []).append(i)
    for rows in of_bin.values():
        left = [i for i in rows if i in kept]
        assert rows[0] in left
        assert rows[-1] in left
        assert min(values[left]) == min(values[rows])
        assert max(values[left]) == max(values[rows])


def test_a_peak_of_one_point_among_a_million_survives() -> None:
    times = np.arange(1_000_000)
    values = np.zeros(1_000_000)
    values[123_457] = 7
    kept = extremes(times, values, bins=500)
    assert values[kept].max() == 7
    assert len(kept) <= 2000
