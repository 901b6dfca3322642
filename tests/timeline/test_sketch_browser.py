"""A reader sees a sketch of a large trace at once, and the whole of it where they are by then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer_app.web.app import create_app
from explorer_app.web.library import Library
from explorer_app.web.timeline import preparation, sketch
from explorer_app.web.timeline.data import TimelineData
from trace_format import Trace, TraceBuilder

pytestmark = pytest.mark.browser

CANVAS = "#np-timeline-canvas"
CALLS = 300
MS = 1_000_000


def two_threads() -> Trace:
    """Two threads of 300 calls of 8 ms, one every 10 ms, each with another of 4 ms in it."""
    builder = TraceBuilder()
    process = builder.track("python", pid=1)
    ts = np.arange(CALLS) * 10 * MS
    for name in ("upper", "lower"):
        builder["slices"].append(
            2 * CALLS,
            track=builder.track(name, kind="host_thread", parent=process, pid=1),
            ts_ns=np.r_[ts, ts + 2 * MS],
            dur_ns=np.repeat([8 * MS, 4 * MS], CALLS),
            name=builder.string("outer"),
        )
    return builder.finish()


def until(page: Page, expression: str, wanted: Any) -> None:
    deadline = time.monotonic() + 20
    while (found := page.evaluate(expression)) != wanted:
        assert time.monotonic() < deadline, f"{expression} is {found!r}, not {wanted!r}"
        page.wait_for_timeout(20)


def test_the_sketch_becomes_the_whole_where_the_reader_is(
    browser_page: Callable[..., Page], served: Callable[[Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    class Held(TimelineData):
        def __init__(self, trace: Trace) -> None:
            assert go_on.wait(60)
            super().__init__(trace)

    monkeypatch.setattr(preparation, "TimelineData", Held)
    monkeypatch.setattr(preparation, "LEAST_SLICES", 0)
    monkeypatch.setattr(sketch, "_SLICES_AT_THE_TOP", 2 * CALLS)
    page = browser_page(reduced_motion="reduce")
    try:
        page.goto(f"{served(create_app(Library.holding(two_threads(), title='two threads')))}/timeline")
        page.wait_for_selector(f"{CANVAS}[data-mounted=true]")
        until(page, "npTimeline.current().feed.blocks?.count > 0", wanted=True)
        lanes = "npTimeline.current().meta.processes[0].tracks.map((track) => track.depths).join()"
        assert page.evaluate(lanes) == "2,1"
        # the outline of the lower thread says how many slices it stands for
        assert page.evaluate("npTimeline.current().feed.blocks.slices.at(-1)") == 2 * CALLS
        host = page.locator(CANVAS).bounding_box()
        assert host is not None
        x, y = page.evaluate(
            "(({surface, rows}) => [surface.x(1e9), surface.top + rows.laneTop[2] + 8])(npTimeline.current())"
        )
        page.mouse.move(host["x"] + x, host["y"] + y)
        # 300 calls of 8 ms are 2.4 s of the 2.998 s
        expect(page.locator(CANVAS)).to_contain_text("600 slices in 3.00 s, 80.0 % busy")
        page.evaluate(f"npTimeline.current().view.set({500 * MS}, {600 * MS})")
        selecting = "npTimeline.current().selectBlock(npTimeline.current().feed.blocks.at(0, 501e6, 0))"
        until(page, "npTimeline.current().feed.coming", wanted=None)
        page.evaluate(f"{selecting}; undefined")
    finally:
        go_on.set()
    page.wait_for_selector(f"{CANVAS}[data-settled=true]")
    assert page.evaluate(lanes) == "2,2"
    assert page.evaluate("[npTimeline.current().view.start, npTimeline.current().view.end]") == [500 * MS, 600 * MS]
    expect(page.locator("#np-timeline-details")).to_contain_text("outer")
    assert page.evaluate("npTimeline.current().selection.start") == 500 * MS
    # ten calls begin in [500, 600) ms, on each of the four lanes
    in_view = "npTimeline.current().feed.blocks.range(lane, 500e6, 599e6)"
    assert page.evaluate(f"[0, 1, 2, 3].map((lane) => {{ const [a, b] = {in_view}; return b - a; }})") == [10] * 4
