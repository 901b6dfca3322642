"""Two tabs of one browser, on two traces and ranges, do not disturb each other; keys and Back work in each alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import constructed
import pytest
from constructed import MS, START_NS
from playwright.sync_api import Page, expect

from explorer_app.web.app import create_app
from explorer_app.web.library import Library

pytestmark = pytest.mark.browser

CHIP, FILE = "#np-range", "#np-file"
CANVAS = "#np-timeline-canvas[data-mounted=true][data-settled=true]"
# the first step of three_steps() alone, and of ranks(2) the second steps of both, 100 to 111 and 101 to 111 ms
FIRST_STEP = f"from={START_NS}&to={START_NS + 10 * MS}"
SECOND_STEP = f"from={START_NS + 100 * MS}&to={START_NS + 112 * MS}"


@pytest.fixture(scope="module")
def opened(served: Callable[[Any], str]) -> tuple[str, str]:
    """The URL, and the key of the second trace."""
    library = Library.holding(constructed.three_steps(), title="steps.pb")
    second = library.add(constructed.ranks(2), title="ranks.pb")
    return served(create_app(library)), second.key


def go_to(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=name, exact=True).click()


def shows(page: Page, file: str, chip: str) -> None:
    expect(page.locator(FILE)).to_have_text(file)
    expect(page.locator(CHIP)).to_have_text(chip)


def self_time(page: Page, name: str) -> Any:
    row = page.locator(".ag-center-cols-container .ag-row", has=page.get_by_text(name, exact=True))
    return expect(row.locator("[col-id=self_ns]"))


def test_two_tabs_on_two_traces_keep_to_their_own(browser_page: Callable[..., Page], opened: tuple[str, str]) -> None:
    url, key = opened
    steps = browser_page(reduced_motion="reduce")
    ranks = steps.context.new_page()  # another tab of the same browser: storage and cookies are shared
    steps.watch.attach(ranks)  # type: ignore[attr-defined]
    steps.goto(f"{url}/hotspots?{FIRST_STEP}")
    ranks.goto(f"{url}/hotspots?trace={key}&{SECOND_STEP}")
    self_time(steps, "gemm_kernel").to_have_text("5.00 ms")  # of 17 in three steps
    shows(steps, "steps.pb", "10.0 ms from 0 ns")
    shows(ranks, "ranks.pb", "12.0 ms from 100 ms")
    expect(ranks.get_by_text("gemm_kernel")).to_have_count(0)

    ranks.keyboard.press("Escape")  # the one tab looks at the whole, the other still at its step
    expect(ranks).to_have_url(f"{url}/hotspots?trace={key}")
    # rank 0 starts at 0 ms, rank 1's third step of 11 + (7 + 2) % 2 - 1 = 11 ms ends at 201 + 11 ms
    shows(ranks, "ranks.pb", "whole trace, 212 ms")
    shows(steps, "steps.pb", "10.0 ms from 0 ns")

    go_to(ranks, "Timeline")
    ranks.wait_for_selector(CANVAS)
    go_to(steps, "Timeline")
    steps.wait_for_selector(CANVAS)
    assert steps.evaluate("npTimeline.current().range") == {"start": 0, "end": 10 * MS}
    assert ranks.evaluate("npTimeline.current().range") is None

    go_to(steps, "Memory")
    expect(steps.locator("main h1")).to_have_text("Where do the bytes go?")
    ranks.go_back()
    expect(ranks.locator("main h1")).to_have_text("Which operations take the time?")
    ranks.go_back()
    shows(ranks, "ranks.pb", "12.0 ms from 100 ms")
    shows(steps, "steps.pb", "10.0 ms from 0 ns")

    ranks.reload()
    shows(ranks, "ranks.pb", "12.0 ms from 100 ms")
    steps.keyboard.press("Escape")
    shows(steps, "steps.pb", "whole trace, 33.0 ms")
    shows(ranks, "ranks.pb", "12.0 ms from 100 ms")


@pytest.mark.parametrize("name", ["Timeline", "Hotspots", "Memory"])
def test_a_tab_that_goes_to_the_other_trace_shows_nothing_of_the_first(
    browser_page: Callable[..., Page], opened: tuple[str, str], name: str
) -> None:
    url, key = opened
    page = browser_page(reduced_motion="reduce")
    path = {"Timeline": "/timeline", "Hotspots": "/hotspots", "Memory": "/memory"}[name]
    page.goto(f"{url}{path}?{FIRST_STEP}")
    expect(page.locator("main h1")).to_be_visible()
    shows(page, "steps.pb", "10.0 ms from 0 ns")
    page.evaluate(f"""() => {{
        history.pushState(history.state, '', '{path}?trace={key}');
        window.dispatchEvent(new CustomEvent('_dashprivate_pushstate'));
    }}""")
    shows(page, "ranks.pb", "whole trace, 212 ms")
    expect(page).to_have_title(re.compile("ranks.pb"))
    page.wait_for_load_state("networkidle")
    expect(page.locator("main")).not_to_contain_text("gemm_kernel")
    page.go_back()
    shows(page, "steps.pb", "10.0 ms from 0 ns")
    expect(page).to_have_title(re.compile("steps.pb"))
    expect(page).to_have_url(f"{url}{path}?{FIRST_STEP}")
