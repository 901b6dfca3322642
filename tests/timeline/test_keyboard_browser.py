"""Walking the timeline by keys, and what it says of an address or of notes, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from explorer_of import explorer_of
from playwright.sync_api import Page, expect
from test_timeline_browser import settle, until
from two_ranks import MS, row_at, two_ranks

from trace_format import Trace

pytestmark = pytest.mark.browser

SELECTED = "npTimeline.current().selection?.id"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return two_ranks()


@pytest.fixture(scope="module")
def url(served: Callable[[Any], str], trace: Trace) -> str:
    return served(explorer_of(trace, title="two ranks"))


@pytest.fixture
def page(browser_page: Callable[..., Page]) -> Page:
    return browser_page(reduced_motion="reduce")


def test_after_the_navigation_keys_walk_from_slice_to_slice_and_from_track_to_track(
    page: Page, url: str, trace: Trace
) -> None:
    page.goto(f"{url}/hotspots")
    page.locator(".np-nav-link", has_text="Timeline").click()
    settle(page)
    expect(page.locator("#np-timeline-canvas")).to_be_focused()
    first = row_at(trace, "gemm", 3, 0)
    page.evaluate(f"npTimeline.current().goTo({first})")
    until(page, SELECTED, first)
    page.keyboard.press("ArrowRight")
    until(page, SELECTED, row_at(trace, "gemm", 6.1, 0))
    page.keyboard.press("]")  # the track below is the main thread, whose outermost slice begins at 0
    until(page, SELECTED, row_at(trace, "ProfilerStep#0", 0, 0))
    page.keyboard.press("Alt+ArrowUp")
    until(page, SELECTED, first)  # its start, 3 ms, is nearest to 0
    page.keyboard.press("t")
    until(page, "npTimeline.current().rows.pinnedCount", 1)
    page.keyboard.press("m")
    expect(page.locator(".np-timeline-notes textarea")).to_have_attribute(
        "aria-label", re.compile("3.00 ms from 3.00 ms")
    )


def test_an_address_that_cannot_be_meant_is_told_of(page: Page, url: str, trace: Trace) -> None:
    page.goto(f"{url}/timeline?slice=99999999&from=5&to=1")
    settle(page)
    expect(page.locator(".np-timeline-problem")).to_contain_text("Slice 99999999 is not in this trace")
    expect(page.locator("#np-range")).to_contain_text("the address names no range")
    page.locator("#np-range-clear").click()
    expect(page.locator("#np-range")).not_to_contain_text("names no range")


def test_a_button_folds_all_ranks_and_unfolds_them(page: Page, url: str) -> None:
    page.goto(f"{url}/timeline")
    settle(page)
    page.get_by_label("Fold all", exact=True).click()
    until(page, "npTimeline.current().rows.rows.map((row) => row.process.name).join()", "Rank 0,Rank 1")
    page.get_by_label("Unfold all").click()
    until(page, "npTimeline.current().rows.rows.length", 12)


def test_notes_with_one_start_stand_side_by_side_and_leave_the_ruler_to_be_read(page: Page, url: str) -> None:
    page.goto(f"{url}/timeline")
    settle(page)
    page.evaluate(
        """(ms) => {
            const { notes, view } = npTimeline.current();
            notes.notes = ["one", "two"].map((text) => ({ id: text, start: 2 * ms, end: 8 * ms, text }));
            view.set(3 * ms, 4 * ms);
        }""",
        MS,
    )
    until(page, "npTimeline.current().notes.flags.length", 2)
    settle(page)
    (a0, a1), (b0, b1) = page.evaluate("npTimeline.current().notes.flags.map(({ x0, x1 }) => [x0, x1])")
    assert a1 < b0
    assert b1 - a0 < 2 * (96 + 8) + 2  # each as wide as its text, not as its range
