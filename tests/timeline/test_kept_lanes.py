"""Lanes that were kept are those that would be laid out anew, or they are not used."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lod_oracle import naive_blocks, traces

from explorer_app.lod import Lanes, Pyramid, Window, blocks_in_window
from explorer_app.lod.kept import keep, kept, place_of_lanes
from explorer_app.web.numbers import once
from explorer_app.web.timeline import data as timeline_data
from explorer_app.web.timeline import preparation
from explorer_app.web.timeline.data import TimelineData, keep_lanes_at
from trace_format import Trace, TraceBuilder, read_trace, write_trace
from trace_format.cache import FOLDER_VARIABLE, LIMIT_VARIABLE


def many_calls(calls: int = 3000, *, first_ns: int = 0) -> Trace:
    """A thread of calls of 8 ns, one every 10 ns, each with another of 4 ns in it."""
    builder = TraceBuilder()
    ts = first_ns + np.arange(calls) * 10
    builder["slices"].append(
        2 * calls, track=builder.track("thread"), ts_ns=np.r_[ts, ts + 2], dur_ns=np.repeat([8, 4], calls)
    )
    return builder.finish()


def built(trace: Trace) -> Pyramid:
    pyramid = Pyramid(Lanes(trace))
    pyramid.build()
    return pyramid


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """The suffixes of what lies in the cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    return lambda: sorted(file.suffix for file in folder.iterdir()) if folder.is_dir() else []


@given(traces(), st.integers(1, 300))
def test_kept_lanes_show_the_blocks_of_the_naive_merge(
    tmp_path_factory: pytest.TempPathFactory, trace: Trace, width_px: int
) -> None:
    path = tmp_path_factory.mktemp("kept") / "some.lanes"
    keep(built(trace), trace, path)
    found = kept(trace, path)
    if trace.time_range_ns is None:
        assert found is None
        return
    assert found is not None
    start, end = trace.time_range_ns
    window = Window(start, end + 1, width_px)
    shown = blocks_in_window(found, window, range(found.lanes.count))
    expected = naive_blocks(trace, window.shift)
    assert shown.count.tolist() == [block.count for block in expected]
    assert shown.busy_ns.tolist() == [block.busy_ns for block in expected]
    assert shown.row.tolist() == [block.row for block in expected]


def test_kept_columns_and_levels_equal_fresh_ones(tmp_path: Path) -> None:
    trace, path = many_calls(), tmp_path / "some.lanes"
    fresh = built(trace)
    keep(fresh, trace, path)
    found = kept(trace, path)
    assert found is not None
    for name in Lanes.COLUMNS:
        assert getattr(found.lanes, name).tolist() == getattr(fresh.lanes, name).tolist()
    assert (found.lanes.count, found.lanes.start_of_trace_ns, found.lanes.end_ns) == (2, 0, 29_998)
    assert len(fresh.levels) > 1
    assert [level.shift for level in found.levels] == [level.shift for level in fresh.levels]
    for here, there in zip(found.levels, fresh.levels, strict=True):
        assert here.first.tolist() == there.first.tolist()
        assert here.longest.tolist() == there.longest.tolist()


def test_no_damaged_byte_is_used(tmp_path: Path) -> None:
    trace, path = many_calls(40), tmp_path / "some.lanes"
    keep(built(trace), trace, path)
    whole = path.read_bytes()
    fresh = Lanes(trace)
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
        found = kept(trace, path)
        # between columns there are bytes that say nothing
        assert found is None or found.lanes.row.tolist() == fresh.row.tolist(), f"byte {at}"
        assert found is None or found.lanes.start_ns.tolist() == fresh.start_ns.tolist(), f"byte {at}"


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.999])
def test_a_file_cut_short_is_not_used(tmp_path: Path, share: float) -> None:
    trace, path = many_calls(), tmp_path / "some.lanes"
    keep(built(trace), trace, path)
    os.truncate(path, int(path.stat().st_size * share))
    assert kept(trace, path) is None


def one_call_shorter() -> Trace:
    """As many slices as `many_calls` in the same time, but for 1 ns of one of them."""
    trace = many_calls()
    builder = TraceBuilder()
    dur_ns = trace.slices.dur_ns.copy()
    dur_ns[3001] -= 1
    builder["slices"].append(len(dur_ns), track=builder.track("thread"), ts_ns=trace.slices.ts_ns, dur_ns=dur_ns)
    return builder.finish()


@pytest.mark.parametrize(
    "other", [many_calls(2999), many_calls(first_ns=5), one_call_shorter(), TraceBuilder().finish()]
)
def test_what_was_kept_of_another_trace_is_not_used(tmp_path: Path, other: Trace) -> None:
    path = tmp_path / "some.lanes"
    keep(built(many_calls()), many_calls(), path)
    assert kept(other, path) is None


def test_a_file_that_was_written_anew_has_another_place(tmp_path: Path, cache: Callable[[], list[str]]) -> None:
    path = tmp_path / "trace.pb"
    write_trace(many_calls(), path)
    before = place_of_lanes([path])
    assert before is not None
    assert before == place_of_lanes([path])
    write_trace(many_calls(2999), path, force=True)
    assert place_of_lanes([path]) != before
    assert place_of_lanes([path, path]) is None
    assert place_of_lanes([tmp_path]) is None
    assert cache() == []


def test_the_second_opening_neither_nests_nor_sketches(
    tmp_path: Path, cache: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline_data, "_LEAST_SLICES_KEPT", 1)
    monkeypatch.setattr(preparation, "LEAST_SLICES", 1)
    path = tmp_path / "trace.pb"
    write_trace(many_calls(), path)

    first = read_trace(path)
    keep_lanes_at(first, place_of_lanes([path]))
    assert once(preparation.is_sketched, first)
    data = once(TimelineData, first)
    data.build_levels_in_background()
    data.pyramid.wait()
    assert cache() == [".lanes"]

    second = read_trace(path)
    keep_lanes_at(second, place_of_lanes([path]))
    assert not once(preparation.is_sketched, second)
    found = once(TimelineData, second)
    assert "depth" not in second.slices._data  # whether it was worked out shows nowhere else
    assert [level.shift for level in found.pyramid.levels] == [level.shift for level in data.pyramid.levels]


def test_nothing_is_kept_where_the_cache_is_off(
    tmp_path: Path, cache: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.pb"
    write_trace(many_calls(), path)
    monkeypatch.setenv(LIMIT_VARIABLE, "0")
    assert place_of_lanes([path]) is None
    assert cache() == []


def test_lanes_count_towards_the_limit_of_the_cache(
    tmp_path: Path, cache: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.pb"
    write_trace(many_calls(), path)
    place = place_of_lanes([path])
    assert place is not None
    monkeypatch.setenv(LIMIT_VARIABLE, "1000")  # 6000 slices take 20 bytes each at least
    keep(built(many_calls()), many_calls(), place)
    assert cache() == []
