"""Blocks are exactly what merging slice by slice gives, at every zoom, whichever levels are built."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lod_oracle import Block, naive_blocks, traces

from explorer_app.lod import Lanes, Pyramid, Window, blocks, blocks_in_window, lanes
from trace_format import Trace, TraceBuilder, builder
from trace_format.spill import lies_in_a_file


def asked(pyramid: Pyramid, window: Window, trace: Trace) -> list[Block]:
    lanes = pyramid.lanes
    named = {
        lanes.lane_of(track, depth): (track, depth)
        for track in range(len(trace.tracks))
        for depth in range(int(lanes.depths[track]))
    }
    which = sorted(named)
    found = blocks_in_window(pyramid, window, which)
    columns = (found.start_ns, found.end_ns, found.busy_ns, found.count, found.row)
    return [
        Block(named[which[lane]], *row)
        for lane, *row in zip(found.lane.tolist(), *(c.tolist() for c in columns), strict=True)
    ]


@given(traces(), st.integers(1, 500))
def test_the_whole_trace_shows_exactly_the_blocks_of_the_naive_merge(trace: Trace, width_px: int) -> None:
    start, end = trace.time_range_ns or (0, 1)
    window = Window(start, end + 1, width_px)
    pyramid = Pyramid(Lanes(trace))
    expected = naive_blocks(trace, window.shift)
    assert asked(pyramid, window, trace) == expected
    pyramid.build()
    assert asked(pyramid, window, trace) == expected
    assert sum(block.count for block in expected) == len(trace.slices)


@given(traces(), st.integers(0, 3000), st.integers(1, 3000), st.integers(1, 200))
def test_a_window_shows_the_naive_blocks_that_reach_into_its_cells(
    trace: Trace, offset: int, span: int, width_px: int
) -> None:
    start = (trace.time_range_ns or (0, 1))[0] + offset
    window = Window(start, start + span, width_px)
    pitch = 1 << window.shift
    low, high = start // pitch * pitch, -(-(start + span) // pitch) * pitch
    expected = [
        block
        for block in naive_blocks(trace, window.shift)
        if block.start_ns < high and (block.end_ns > low or block.start_ns >= low)
    ]
    pyramid = Pyramid(Lanes(trace))
    assert asked(pyramid, window, trace) == expected
    pyramid.build()
    assert asked(pyramid, window, trace) == expected


def in_a_file(trace: Trace) -> Trace:
    """The same trace, its columns in a file."""
    made = TraceBuilder()
    for name, table in trace.tables().items():
        if len(table):
            made[name].append(len(table), **{column: np.array(values) for column, values in table.stored().items()})
    return made.finish()


@given(traces(), st.integers(1, 500), st.integers(1, 9))
def test_a_trace_in_a_file_shows_the_same_blocks_piece_by_piece(trace: Trace, width_px: int, rows: int) -> None:
    start, end = trace.time_range_ns or (0, 1)
    window = Window(start, end + 1, width_px)
    expected = naive_blocks(trace, window.shift)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder, "_MOST_IN_MEMORY_BYTES", 0)
        patch.setattr(lanes, "_ROWS_AT_A_TIME", rows)
        patch.setattr(blocks, "_ROWS_AT_A_TIME", rows)
        spilled = in_a_file(trace)
        pyramid = Pyramid(Lanes(spilled))
        assert asked(pyramid, window, spilled) == expected
        pyramid.build()
        assert asked(pyramid, window, spilled) == expected
    assert lies_in_a_file(pyramid.lanes.row) == (len(trace.slices) > 0)
    whole = Lanes(trace)
    for name in ("offset", "row", "start_ns", "busy_before_ns"):
        assert getattr(pyramid.lanes, name).tolist() == getattr(whole, name).tolist()


def many_short_slices(count: int) -> Trace:
    builder = TraceBuilder()
    track = builder.track("stream 7", kind="stream")
    builder["slices"].append(count, track=track, ts_ns=[10 * i for i in range(count)], dur_ns=4)
    return builder.finish()


def test_levels_hold_at_most_half_of_the_one_below() -> None:
    pyramid = Pyramid(Lanes(many_short_slices(5000)))
    pyramid.build()
    sizes = [5000, *(len(level.longest) for level in pyramid.levels)]
    assert len(sizes) == 3  # 5000 slices of 50 us: grids of 32 ns and 128 ns; 256 ns saves less than half
    assert all(2 * coarser <= finer for finer, coarser in itertools.pairwise(sizes))


def test_a_run_names_its_longest_slice_and_the_share_it_is_busy() -> None:
    builder = TraceBuilder()
    track = builder.track("stream 7", kind="stream")
    # in one cell of 64 ns: [0, 10), [20, 45), [50, 55): 40 ns busy from 0 to 55, the second is longest
    builder["slices"].append(3, track=track, ts_ns=[0, 20, 50], dur_ns=[10, 25, 5])
    trace = builder.finish()
    found = blocks_in_window(Pyramid(Lanes(trace)), Window(0, 6400, 100), [0])
    assert (found.start_ns.tolist(), found.end_ns.tolist()) == ([0], [55])
    assert (found.count.tolist(), found.row.tolist(), found.busy_ns.tolist()) == ([3], [1], [40])
    assert found.busy_ratio.tolist() == [40 / 55]


def test_an_unfinished_slice_lasts_to_the_end_of_the_trace() -> None:
    builder = TraceBuilder()
    one, other = builder.track("a", kind="host_thread"), builder.track("b", kind="host_thread")
    builder["slices"].append(2, track=[one, other], ts_ns=[100, 100], dur_ns=[-1, 900])
    trace = builder.finish()
    found = blocks_in_window(Pyramid(Lanes(trace)), Window(100, 1000, 100), [0, 1])
    assert found.end_ns.tolist() == [1000, 1000]


def test_a_trace_without_slices_has_no_lanes_and_no_blocks() -> None:
    pyramid = Pyramid(Lanes(TraceBuilder().finish()))
    pyramid.build()
    assert pyramid.lanes.count == 0
    assert len(blocks_in_window(pyramid, Window(0, 100, 10), [])) == 0


def test_lanes_are_numbered_by_track_then_depth() -> None:
    builder = TraceBuilder()
    first, second = builder.track("a", kind="host_thread"), builder.track("b", kind="host_thread")
    builder["slices"].append(4, track=[first, first, second, second], ts_ns=[0, 2, 0, 20], dur_ns=[10, 5, 10, 10])
    lanes: Any = Lanes(builder.finish())
    assert lanes.depths.tolist() == [2, 1]
    assert lanes.first_lane.tolist() == [0, 2]
    assert lanes.lane_of(second, 0) == 2
