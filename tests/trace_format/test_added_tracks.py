"""Tracks of one trace put behind those of another."""

from __future__ import annotations

import numpy as np

from trace_format import Trace, TraceBuilder
from trace_format.merge import with_tracks_of
from trace_format.tables import TABLES


def _trace(*names: str, **columns: int) -> Trace:
    """One track with a slice of 10 ns for each name and a counter's value."""
    builder = TraceBuilder()
    builder.string(f"only in {names}")  # ids differ from trace to trace
    track = builder.track(f"track of {names[0]}", kind="other")
    for number, name in enumerate(names):
        builder["slices"].append(1, ts_ns=number * 20, dur_ns=10, track=track, name=builder.string(name), **columns)
    builder["counters"].append(1, ts_ns=5, track=track, value=0.5)
    builder["flows"].append(1, from_slice=0, to_slice=len(names) - 1, kind=builder.string("own"))
    builder.report.source_events = 3
    return builder.finish(metadata={"host": names[0]})


def test_rows_come_behind_and_refer_to_what_they_referred_to() -> None:
    trace, added = _trace("a", "b"), _trace("c", "d", "e", bytes=7)
    both = with_tracks_of(trace, added, {})
    assert both.slices.text("name") == ["a", "b", "c", "d", "e"]
    assert both.slices.bytes.tolist() == [-1, -1, 7, 7, 7]
    assert [both.tracks.text("name")[row] for row in both.slices.track.tolist()] == [
        "track of a", "track of a", "track of c", "track of c", "track of c"
    ]  # fmt: skip
    assert both.counters.track.tolist() == [0, 1]
    assert list(zip(both.flows.from_slice.tolist(), both.flows.to_slice.tolist(), strict=True)) == [(0, 1), (2, 4)]
    assert both.flows.text("kind") == ["own", "own"]
    assert both.slices.depth.tolist() == [0] * 5


def test_metadata_and_report_stay_those_of_the_trace_and_the_traces_as_they_are() -> None:
    trace, added = _trace("a"), _trace("b")
    before = {name: {c: v.copy() for c, v in table.stored().items()} for name, table in trace.tables().items()}
    both = with_tracks_of(trace, added, {})
    assert both.metadata == {"host": "a"}
    assert both.report.to_dict() == trace.report.to_dict()
    for name, columns in before.items():
        for column, values in columns.items():
            np.testing.assert_array_equal(getattr(trace.tables()[name], column), values)
    assert added.slices.text("name") == ["b"]


def test_what_is_given_instead_refers_to_both() -> None:
    both = with_tracks_of(_trace("a", "b"), _trace("c"), {"flows": {"from_slice": np.array([1])}})
    assert list(zip(both.flows.from_slice.tolist(), both.flows.to_slice.tolist(), strict=True)) == [(0, 1), (1, 2)]


def test_an_unknown_column_stays_one_that_takes_no_memory() -> None:
    both = with_tracks_of(_trace("a", "b"), _trace("c"), {})
    assert both.slices.correlation.strides == (0,)
    assert np.isnan(both.slices.flops).all()
    assert len(both.slices.flops) == 3


def test_nothing_added_is_the_trace_itself() -> None:
    trace = _trace("a")
    both = with_tracks_of(trace, TraceBuilder().finish(), {})
    for name in TABLES:
        assert len(getattr(both, name)) == len(getattr(trace, name))


def test_a_column_of_a_later_version_is_counted_as_left_out() -> None:
    trace = _trace("a", "b")
    slices = type(trace.slices)({**trace.slices.stored(), "mood": np.zeros(2)}, trace.pool)
    later = Trace.of(trace.pool, {**trace.tables(), "slices": slices}, report=trace.report)
    both = with_tracks_of(later, _trace("c"), {})
    assert both.report.repaired == {"column slices.mood of a later version left out": 2}
    assert not trace.report.repaired
