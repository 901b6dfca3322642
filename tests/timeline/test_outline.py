"""An outline says where the slices of each track lie, and how much of the time they cover."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from lod_oracle import traces

from explorer_app.lod import Lanes, Outline, Window, first_rows, is_in_order_of_track, outline
from trace_format import Trace, TraceBuilder


@pytest.fixture
def two_rows_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "_LEAST_ROWS", 2)
    monkeypatch.setattr(outline, "_MOST_CHUNKS", 1 << 20)


def three_tracks() -> Trace:
    """a: [0, 10) with [2, 5) in it, [12, 14), [20, 30) with [22, 24) in it; b: nothing; c: one from 6, unfinished."""
    builder = TraceBuilder()
    a, _, c = (builder.track(name) for name in "abc")
    builder["slices"].append(5, track=a, ts_ns=[0, 2, 12, 20, 22], dur_ns=[10, 3, 2, 10, 2])
    builder["slices"].append(1, track=c, ts_ns=[6], dur_ns=[-1])
    return builder.finish()


@pytest.mark.usefixtures("two_rows_a_chunk")
def test_chunks_have_their_extent_what_is_covered_of_it_and_the_longest_slice() -> None:
    found = Outline(three_tracks()).blocks(Window(0, 30, 30), [0, 1, 2])
    rows = zip(found.lane, found.start_ns, found.end_ns, found.busy_ns, found.count, found.row, strict=True)
    assert [tuple(map(int, row)) for row in rows] == [
        (0, 0, 10, 10, 2, 0),
        (0, 12, 22, 2 + 2, 2, 3),  # up to the next chunk, which begins at 22; idle from 14 to 20
        (0, 22, 30, 8, 1, 4),  # the slice from 20 still covers all of it
        (2, 6, 30, 24, 1, 5),
    ]


@pytest.mark.usefixtures("two_rows_a_chunk")
def test_only_chunks_that_reach_into_the_window_are_shown() -> None:
    assert Outline(three_tracks()).blocks(Window(11, 20, 9), [0, 2]).start_ns.tolist() == [12, 6]
    assert len(Outline(three_tracks()).blocks(Window(100, 110, 10), [0, 2])) == 0


@given(traces())
def test_every_slice_of_a_track_is_in_one_chunk(trace: Trace) -> None:
    found = Outline(trace)
    per_track = np.diff(np.r_[0, np.cumsum(found.count)][found.offset])
    assert per_track.tolist() == np.bincount(trace.slices.track, minlength=len(trace.tracks)).tolist()
    assert is_in_order_of_track(trace)


@given(traces())
def test_the_lanes_of_some_rows_are_those_of_the_whole_trace(trace: Trace) -> None:
    whole, bounds = Lanes(trace), first_rows(trace)
    for track in range(len(trace.tracks)):
        part = Lanes(trace, np.arange(bounds[track], bounds[track + 1]))
        assert part.depths[track] == whole.depths[track]
        assert part.depths.sum() == part.depths[track]
        for depth in range(part.depths[track]):
            here, there = (slice(*store.offset[at : at + 2]) for store, at in (
                (part, part.lane_of(track, depth)), (whole, whole.lane_of(track, depth)),
            ))  # fmt: skip
            assert part.row[here].tolist() == whole.row[there].tolist()
            assert part.start_ns[here].tolist() == whole.start_ns[there].tolist()
