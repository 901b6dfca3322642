"""A range chosen on one page is the range of every page; the address holds it, so tabs do not disturb each other."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from explorer_of import explorer_of
from one_step import MS, START_NS, one_step
from playwright.sync_api import Page, expect

from explorer_app.web.library import Library, NotOpenError
from explorer_app.web.links import slice_href
from explorer_app.web.view import Views

CHIP = "#np-range"
CANVAS = "#np-timeline-canvas[data-mounted=true][data-marked=true][data-settled=true]"
RANGE = f"from={START_NS + 2 * MS}&to={START_NS + 5 * MS}"


@pytest.fixture(scope="module")
def url(served: Callable[[Any], str]) -> str:
    return served(explorer_of(one_step(), title="one step"))


def self_time(page: Page, name: str) -> Any:
    row = page.locator(".ag-center-cols-container .ag-row", has=page.get_by_text(name, exact=True))
    return expect(row.locator("[col-id=self_ns]"))


@pytest.mark.browser
def test_a_range_measured_on_the_timeline_is_the_range_of_the_hotspots_until_esc(
    browser_page: Callable[..., Page], url: str
) -> None:
    page = browser_page(reduced_motion="reduce")
    page.goto(f"{url}/timeline")
    page.wait_for_selector(CANVAS)
    page.evaluate("npTimeline.current().range = { start: 2e6, end: 5e6 }; npTimeline.current().measured()")
    expect(page).to_have_url(re.compile(RANGE))
    expect(page.locator(CHIP)).to_have_text("3.00 ms from 2.00 ms")
    page.get_by_role("link", name="Hotspots").click()
    # of gemm [3, 6) two ms lie in [2, 5); of aten::linear [1, 4) two, of which its launch takes [2, 2.5)
    self_time(page, "gemm").to_have_text("2.00 ms")
    self_time(page, "aten::linear").to_have_text("1.50 ms")
    expect(page.get_by_text("aten::relu", exact=True)).to_have_count(0)
    page.keyboard.press("Escape")
    self_time(page, "gemm").to_have_text("3.00 ms")
    expect(page.locator(CHIP)).to_have_text("whole trace, 10.0 ms")
    page.go_back()
    self_time(page, "gemm").to_have_text("2.00 ms")


@pytest.mark.browser
def test_the_chip_clears_the_range_and_the_timeline_follows(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page(reduced_motion="reduce")
    page.goto(f"{url}/timeline?{RANGE}")
    page.wait_for_selector(CANVAS)
    expect(page.locator("#np-timeline-range-title")).to_have_text("3.00 ms from 2.00 ms")
    page.get_by_role("button", name="Look at the whole trace").click()
    expect(page.locator("#np-timeline-range-card")).to_be_hidden()
    assert page.evaluate("npTimeline.current().range") is None


@pytest.mark.browser
def test_two_tabs_look_at_two_ranges(browser_page: Callable[..., Page], url: str) -> None:
    first, second = browser_page(), browser_page()
    first.goto(f"{url}/hotspots?{RANGE}")
    second.goto(f"{url}/hotspots")
    self_time(first, "gemm").to_have_text("2.00 ms")
    self_time(second, "gemm").to_have_text("3.00 ms")
    expect(first.locator(CHIP)).to_have_text("3.00 ms from 2.00 ms")


def test_a_slice_of_a_cut_trace_leads_to_the_slice_of_the_whole() -> None:
    views = Views(Library.holding(one_step(), title="one step"))
    view = views.of({"trace": None, "from": str(START_NS + 2 * MS), "to": str(START_NS + 5 * MS)})
    (row,) = [i for i, name in enumerate(view.trace.slices.text("name")) if name == "gemm"]
    whole_row = view.whole.slices.text("name").index("gemm")
    # the slice begins at 3 ms and lasts 3; a tenth of that on both sides
    start, end = START_NS + 3 * MS - 300_000, START_NS + 6 * MS + 300_000
    wanted = f"/timeline?{RANGE}&t0={start}&t1={end}&slice={whole_row}"
    assert slice_href(view, row) == wanted


@pytest.mark.parametrize(
    ("start", "end"),
    [("x", "5"), ("5", None), ("9", "3"), ("1" * 30, "2" * 30), (7, 9), ("0", "1"), ("٣", "٤")],
    ids=["no number", "half", "backwards", "too long", "not text", "outside the trace", "other digits"],
)
def test_a_range_that_cannot_be_meant_is_the_whole_trace(start: Any, end: Any) -> None:
    views = Views(Library.holding(one_step(), title="one step"))
    view = views.of({"from": start, "to": end})
    assert view.range_ns is None
    assert view.trace is view.whole


def test_a_range_is_cut_once_and_a_trace_that_is_not_open_is_refused() -> None:
    library = Library.holding(one_step(), title="one step")
    second = library.add(one_step(), title="another")
    views = Views(library)
    asked = {"from": str(START_NS), "to": str(START_NS + MS)}
    assert views.of(asked).trace is views.of(asked).trace
    other = views.of({**asked, "trace": second.key})
    assert other.query() == {**asked, "trace": second.key}
    assert other.opened is second
    with pytest.raises(NotOpenError, match="open its file again"):
        views.of({"trace": "nope"})
