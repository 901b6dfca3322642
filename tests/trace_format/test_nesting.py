"""Depth, parent and self time against the definition, slice by slice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_format import nesting
from trace_format.free_lines import FreeLines
from trace_format.nesting import nest
from trace_format.spill import Spill, lies_in_a_file

Slice = tuple[int, int, int]  # track, start, duration


def ordered(slices: list[Slice]) -> tuple[list[Slice], list[int]]:
    """The slices by track, start, longer first, and where each really ends."""
    last = {t: max(s + max(d, 0) for u, s, d in slices if u == t) + 1 for t, _, _ in slices}
    slices = sorted(slices, key=lambda x: (x[0], x[1], -(last[x[0]] - x[1] if x[2] < 0 else x[2])))
    return slices, [last[t] if d < 0 else s + d for t, s, d in slices]


def naive(slices: list[Slice], ends: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Lines, parents and self times from the definition: every pair of slices looked at."""
    depth, parent = [0] * len(slices), [-1] * len(slices)
    for i, (track, start, _) in enumerate(slices):
        still_open = [j for j in range(i) if slices[j][0] == track and slices[j][1] < ends[j] and ends[j] > start]
        around = [j for j in still_open if ends[j] >= ends[i]]
        parent[i] = around[-1] if around else -1
        depth[i] = depth[around[-1]] + 1 if around else 0
        while any(depth[j] == depth[i] for j in still_open):
            depth[i] += 1
    own = []
    for i, (_, _, duration) in enumerate(slices):
        inside = {t for j in range(len(slices)) if parent[j] == i for t in range(slices[j][1], ends[j])}
        own.append(-1 if duration < 0 else duration - len(inside))
    return depth, parent, own


def columns(slices: list[Slice]) -> list[np.ndarray]:
    return [np.array([s[i] for s in slices], np.int64) for i in range(3)]


SLICES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 14), st.integers(-1, 9)), min_size=1, max_size=14)


@given(SLICES, st.sampled_from([0, 4 * 10**18]))
def test_nesting_is_what_looking_at_every_pair_gives(slices: list[Slice], apart: int) -> None:
    slices, ends = ordered(slices)
    track, start, duration = columns(slices)
    found = nest(track, start + np.where(track == 2, apart, 0), duration)
    depth, parent, own = naive(slices, ends)
    assert found.depth.tolist() == depth
    assert found.parent.tolist() == parent
    assert found.self_ns.tolist() == own


@given(SLICES, st.integers(1, 6), st.sampled_from([1, 2, 3, 256]))
def test_slices_in_a_file_nest_piece_by_piece_to_the_same(slices: list[Slice], rows: int, most_levels: int) -> None:
    slices, ends = ordered(slices)
    file = Spill()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nesting, "_ROWS_AT_A_TIME", rows)
        patch.setattr(nesting, "_MOST_LEVELS", most_levels)
        found = nest(*(file.column([column], column.dtype) for column in columns(slices)))
    depth, parent, own = naive(slices, ends)
    assert found.depth.tolist() == depth
    assert found.parent.tolist() == parent
    assert found.self_ns.tolist() == own
    assert lies_in_a_file(found.parent)


@given(SLICES, st.randoms())
def test_rows_of_different_tracks_may_be_mixed(slices: list[Slice], random: object) -> None:
    slices, _ = ordered(slices)
    mixed = sorted(range(len(slices)), key=lambda i: (slices[i][1], i))  # each track still in its order
    whole, part = nest(*columns(slices)), nest(*columns([slices[i] for i in mixed]))
    assert part.depth.tolist() == whole.depth[mixed].tolist()
    assert part.self_ns.tolist() == whole.self_ns[mixed].tolist()
    place = {row: at for at, row in enumerate(mixed)}
    assert part.parent.tolist() == [place[p] if p >= 0 else -1 for p in whole.parent[mixed].tolist()]


@given(SLICES)
def test_no_two_slices_that_share_a_moment_share_a_line(slices: list[Slice]) -> None:
    slices, ends = ordered(slices)
    depth = nest(*columns(slices)).depth
    for i in range(len(slices)):
        for j in range(i):
            share = slices[i][0] == slices[j][0] and max(slices[i][1], slices[j][1]) < min(ends[i], ends[j])
            assert not (share and depth[i] == depth[j])


def test_a_hand_made_track() -> None:
    #   0 |A---------------------|      100
    #  10   |B-------|                   40
    #  20      |C---|                    10
    #  60                |D--------------------|  70: overlaps A in part
    #  70                    |E-|         5: inside both, so D is its parent
    start, duration = np.array([0, 10, 20, 60, 70]), np.array([100, 40, 10, 70, 5])
    found = nest(np.zeros(5, np.int64), start, duration)
    assert found.depth.tolist() == [0, 1, 2, 1, 2]
    assert found.parent.tolist() == [-1, 0, 1, -1, 3]
    assert found.self_ns.tolist() == [60, 30, 10, 65, 5]


def test_children_that_overlap_each_other_are_covered_once() -> None:
    # A [0, 100) holds B [10, 40) and C [30, 60): together they cover 50 of it
    found = nest(np.zeros(3, np.int64), np.array([0, 10, 30]), np.array([100, 30, 30]))
    assert found.parent.tolist() == [-1, 0, 0]
    assert found.depth.tolist() == [0, 1, 2]
    assert found.self_ns.tolist() == [50, 30, 30]


def test_a_thousand_empty_slices_at_one_moment_share_a_line() -> None:
    found = nest(np.zeros(1001, np.int64), np.zeros(1001, np.int64), np.array([5] + [0] * 1000))
    assert set(found.depth[1:].tolist()) == {1}
    assert found.self_ns[0] == 5


def test_a_hundred_thousand_slices_that_are_all_open_at_once_have_a_line_each() -> None:
    # slice i is [i, n + i): none contains another, and at moment n - 1 all are open
    n = 100_000
    found = nest(np.zeros(n, np.int64), np.arange(n), np.full(n, n))
    assert found.depth.tolist() == list(range(n))
    assert set(found.parent.tolist()) == {-1}
    assert set(found.self_ns.tolist()) == {n}


def test_each_of_a_thousand_slices_may_lie_in_the_one_before() -> None:
    # slice i is [i, 2n - i), and the next one takes all of it but its first and its last nanosecond
    n = 1000
    found = nest(np.zeros(n, np.int64), np.arange(n), 2 * n - 2 * np.arange(n))
    assert found.depth.tolist() == list(range(n))
    assert found.parent.tolist() == list(range(-1, n - 1))
    assert found.self_ns.tolist() == [2] * n


@given(st.lists(st.tuples(st.integers(0, 1600), st.booleans()), max_size=60), st.integers(0, 1600))
def test_the_lowest_free_line_is_found_whatever_is_taken(steps: list[tuple[int, bool]], whole: int) -> None:
    free, taken = FreeLines(), set(range(whole))
    for line in range(whole):
        free.take(line)
    for line, gives in steps:
        if gives and line in taken:
            free.give(line)
            taken.remove(line)
        expected = next(i for i in range(line, 4000) if i not in taken)
        assert free.lowest(line) == expected
        if not gives:
            free.take(expected)
            taken.add(expected)


def test_nothing_nests_in_nothing() -> None:
    found = nest(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert (len(found.depth), len(found.parent), len(found.self_ns)) == (0, 0, 0)
