"""While a large trace is laid out, its uppermost tracks are shown as they will be, the others in outline."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import flask
import numpy as np
import pytest

from explorer_app.lod import Window
from explorer_app.web.library import Library
from explorer_app.web.numbers import once
from explorer_app.web.timeline import preparation, sketch
from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.preparation import Preparation
from explorer_app.web.timeline.routes import register_routes
from explorer_app.web.timeline.sketch import Sketch
from trace_format import Trace, TraceBuilder

ROWS = 300


def nested() -> Trace:
    """Three threads of 300 calls of 8 ns, one every 10 ns, each with another of 4 ns in it."""
    builder = TraceBuilder()
    process = builder.track("python", pid=1)
    for name in ("first", "second", "third"):
        track = builder.track(name, kind="host_thread", parent=process, pid=1)
        ts = np.arange(ROWS) * 10
        builder["slices"].append(
            2 * ROWS, track=track, ts_ns=np.r_[ts, ts + 2], dur_ns=np.repeat([8, 4], ROWS), name=builder.string(name)
        )
    return builder.finish()


@pytest.fixture
def trace(monkeypatch: pytest.MonkeyPatch) -> Trace:
    """One that is sketched, with its first thread in full."""
    monkeypatch.setattr(preparation, "LEAST_SLICES", 0)
    monkeypatch.setattr(sketch, "_SLICES_AT_THE_TOP", 2 * ROWS)
    return nested()


@pytest.fixture
def held_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Nothing is whole before this is set."""
    go_on = threading.Event()

    class Held(TimelineData):
        def __init__(self, trace: Trace) -> None:
            assert go_on.wait(60)
            super().__init__(trace)

    monkeypatch.setattr(preparation, "TimelineData", Held)
    yield go_on
    go_on.set()


def client_of(trace: Trace) -> tuple[Any, str]:
    server, library = flask.Flask("test"), Library.holding(trace, title="test")
    register_routes(server, library)
    return server.test_client(), f"/_trace/{library.first.key}"


def test_the_tracks_at_the_top_are_exact_and_the_others_add_up(trace: Trace) -> None:
    window = Window(0, 10 * ROWS, 50)
    drawn, whole = Sketch(trace), TimelineData(trace)
    assert drawn.lanes.depths.tolist() == [0, 2, 1, 1]
    assert np.diff(drawn.lanes.offset).tolist() == [ROWS, ROWS, 2 * ROWS, 2 * ROWS]
    found, expected = drawn.blocks(window, [0, 1, 3]), whole.blocks(window, [0, 1])
    exact = found.lane < 2
    for column in ("start_ns", "end_ns", "busy_ns", "count", "row"):
        assert getattr(found, column)[exact].tolist() == getattr(expected, column).tolist()
    assert found.count[~exact].tolist() == [2 * ROWS]
    assert found.busy_ns[~exact].tolist() == [8 * ROWS]


def test_a_track_too_large_to_be_laid_out_at_once_is_outlined(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketch, "_SLICES_AT_THE_TOP", 2 * ROWS - 1)
    drawn = Sketch(trace)
    assert drawn.lanes.is_outlined.tolist() == [False, True, True, True]
    assert drawn.blocks(Window(0, 10 * ROWS, 50), [2, 0]).count.tolist() == [2 * ROWS, 2 * ROWS]


def test_first_a_sketch_is_told_then_the_whole(trace: Trace, held_back: threading.Event) -> None:
    client, at = client_of(trace)
    first = client.get(f"{at}/meta").json
    assert not first["is_whole"]
    assert [track["depths"] for track in first["processes"][0]["tracks"]] == [2, 1, 1]
    assert [track["outlined"] for track in first["processes"][0]["tracks"]] == [False, True, True]
    assert client.get(f"{at}/meta?stage=whole").status_code == 204
    assert client.get(f"{at}/slices?t0=0&t1=3000&w=50&lanes=0-3&stage=sketch").status_code == 200
    held_back.set()
    once(Preparation, trace).whole()
    whole = client.get(f"{at}/meta?stage=whole")
    while whole.status_code == 204:
        whole = client.get(f"{at}/meta?stage=whole")
    assert whole.json["is_whole"]
    assert [track["depths"] for track in whole.json["processes"][0]["tracks"]] == [2, 2, 2]
    assert client.get(f"{at}/meta").json == whole.json


def test_a_request_for_the_page_begins_to_prepare_it(trace: Trace, held_back: threading.Event) -> None:
    client, _ = client_of(trace)
    begun: list[Trace] = []
    held_back.set()
    preparation_of = preparation.Preparation.__init__

    def note(self: Preparation, of: Trace) -> None:
        begun.append(of)
        preparation_of(self, of)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preparation.Preparation, "__init__", note)
        client.get("/hotspots")
        assert begun == []
        client.get("/timeline")
    assert begun == [trace]


def test_a_small_trace_has_no_sketch() -> None:
    client, at = client_of(nested())
    assert client.get(f"{at}/meta").json["is_whole"]


def test_a_stage_that_there_is_not_is_refused(trace: Trace) -> None:
    client, at = client_of(trace)
    assert client.get(f"{at}/meta?stage=half").status_code == 400
