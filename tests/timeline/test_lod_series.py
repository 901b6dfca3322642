"""Counters, instants and the overview, against plain Python and numbers worked out by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lod_oracle import traces

from explorer_app.lod import CounterEnvelopes, Lanes, Moments, Window, busy_ratio
from trace_format import Trace, TraceBuilder


def counter(samples: list[tuple[int, float]]) -> CounterEnvelopes:
    builder = TraceBuilder()
    track = builder.track("HBM", kind="counter", unit="bytes")
    for ts, value in samples:
        builder["counters"].append(1, track=track, ts_ns=ts, value=value)
    return CounterEnvelopes(builder.finish().counters, 1)


def test_a_counter_holds_its_value_until_the_next_one() -> None:
    # pixels of 10 ns: nothing; 5 from 15 on; 5 carried; 5 then 9 then 2; 2 carried
    low, high = counter([(15, 5.0), (31, 9.0), (35, 2.0)]).in_window(Window(0, 50, 5), 0)
    assert np.isnan(low[0])
    assert np.isnan(high[0])
    assert low[1:].tolist() == [5, 5, 2, 2]
    assert high[1:].tolist() == [5, 5, 9, 2]


def test_a_value_set_as_the_pixel_begins_replaces_the_one_before() -> None:
    low, high = counter([(0, 1.0), (10, 7.0)]).in_window(Window(0, 20, 2), 0)
    assert low.tolist() == [1, 7]
    assert high.tolist() == [1, 7]


def test_a_counter_that_is_not_a_number_leaves_a_gap() -> None:
    low, _ = counter([(0, 3.0), (10, math.nan)]).in_window(Window(0, 30, 3), 0)
    assert low[0] == 3
    assert np.isnan(low[1:]).all()


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(-5, 5)), max_size=30, unique_by=lambda sample: sample[0]),
    st.integers(1, 40),
)
def test_the_envelope_holds_every_value_of_its_pixel(samples: list[tuple[int, int]], width_px: int) -> None:
    samples = sorted(samples)
    window = Window(0, 300, width_px)
    low, high = counter([(ts, float(value)) for ts, value in samples]).in_window(window, 0)
    edges = window.edges_ns.tolist()
    for pixel, (start, end) in enumerate(itertools.pairwise(edges)):
        inside = [value for ts, value in samples if start <= ts < end]
        before = [value for ts, value in samples if ts < start]
        if before and not any(ts == start for ts, _ in samples):
            inside.append(before[-1])
        if inside:
            assert (low[pixel], high[pixel]) == (min(inside), max(inside))
        else:
            assert np.isnan(low[pixel])


def test_extremes_ignore_what_is_not_a_number() -> None:
    assert counter([(0, 3.0), (1, math.nan), (2, -4.0)]).extremes(0) == (-4.0, 3.0)
    assert counter([]).extremes(0) is None


def test_instants_of_one_cell_become_one_tick() -> None:
    builder = TraceBuilder()
    track, other = builder.track("a"), builder.track("b")
    # cells of 8 ns: 1 and 3 share one, 9 has its own; the other track's instant comes after
    builder["instants"].append(4, track=[other, track, track, track], ts_ns=[4, 9, 1, 3])
    trace = builder.finish()
    ticks = Moments(trace.instants, 2).in_window(Window(0, 80, 10), [track, other])
    assert ticks.track.tolist() == [0, 0, 1]
    assert ticks.ts_ns.tolist() == [1, 9, 4]
    assert ticks.count.tolist() == [2, 1, 1]
    assert trace.instants.ts_ns[ticks.row].tolist() == [1, 9, 4]


def test_instants_outside_the_window_are_left_out() -> None:
    builder = TraceBuilder()
    track = builder.track("a")
    builder["instants"].append(3, track=track, ts_ns=[9, 10, 20])
    ticks = Moments(builder.finish().instants, 1).in_window(Window(10, 20, 10), [track])
    assert ticks.ts_ns.tolist() == [10]


@given(traces(), st.integers(1, 50))
def test_the_overview_of_a_lane_holds_all_its_busy_time(trace: Trace, width_px: int) -> None:
    start, end = trace.time_range_ns or (0, 1)
    lanes = Lanes(trace)
    window = Window(start, end + 1, width_px)
    for lane in range(lanes.count):
        held = lanes.busy_before_ns[lanes.offset[lane + 1]] - lanes.busy_before_ns[lanes.offset[lane]]
        busy = float((busy_ratio(lanes, window, [lane]) * np.diff(window.edges_ns)).sum())
        assert math.isclose(busy, float(held), rel_tol=1e-9, abs_tol=1e-6)


def test_the_overview_shows_the_busiest_lane_of_each_pixel() -> None:
    builder = TraceBuilder()
    one, other = builder.track("a", kind="stream"), builder.track("b", kind="stream")
    builder["slices"].append(2, track=[one, other], ts_ns=[0, 5], dur_ns=[10, 10])
    # pixels of 10 ns: 1 or 0.5, 0 or 0.5
    lanes = Lanes(builder.finish())
    assert busy_ratio(lanes, Window(0, 20, 2), [0, 1]).tolist() == [1, 0.5]
    assert busy_ratio(lanes, Window(0, 20, 2), []).tolist() == [0, 0]
