"""How a reader arranges the tracks of the timeline in a real browser, and that the address keeps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from explorer_of import explorer_of
from playwright.sync_api import Page, expect
from test_timeline_browser import settle, until
from two_ranks import two_ranks

pytestmark = pytest.mark.browser

_SHOWN = "npTimeline.current().rows.rows.map((row) => row.track ? row.track.name : row.process.name)"
_ROW = """(name) => {
    const { rows, surface, scroll, host } = npTimeline.current();
    const row = rows.rows.find((row) => (row.track ?? row.process).name === name);
    const box = host.getBoundingClientRect();
    return { x: box.x, y: box.y + surface.top - scroll + row.y, height: row.height, gutter: surface.gutter };
}"""
RANK_0 = ["Rank 0", "GPU 0", "stream 7", "trainer 0", "main thread", "waiting thread"]
RANK_1 = ["Rank 1", "GPU 1", "stream 7", "trainer 1", "main thread", "waiting thread"]


@pytest.fixture(scope="module")
def url(served: Callable[[Any], str]) -> str:
    return served(explorer_of(two_ranks(), title="two ranks"))


@pytest.fixture
def page(browser_page: Callable[..., Page], url: str) -> Page:
    page = browser_page(height=560, reduced_motion="reduce")
    page.goto(f"{url}/timeline")
    settle(page)
    return page


def row(page: Page, name: str) -> dict[str, float]:
    """Where the first row of a name is on the page."""
    return page.evaluate(_ROW, name)


def point_at(page: Page, name: str) -> None:
    at = row(page, name)
    page.mouse.move(at["x"] + 60, at["y"] + 10)


def asked(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_tracks_stand_under_their_rank_and_a_thread_that_only_waits_takes_one_line(page: Page) -> None:
    assert page.evaluate(_SHOWN) == RANK_0 + RANK_1
    # a lane of 18 and a padding of 3 above and below; the main thread has 5 lanes
    assert row(page, "waiting thread")["height"] == 24
    assert row(page, "main thread")["height"] == 96


def test_a_click_on_a_heading_folds_it_and_with_shift_all_like_it(page: Page) -> None:
    at = row(page, "Rank 0")
    page.mouse.click(at["x"] + 60, at["y"] + 10)
    assert page.evaluate(_SHOWN) == ["Rank 0", *RANK_1]
    page.keyboard.down("Shift")
    page.mouse.click(at["x"] + 60, at["y"] + 10)
    page.keyboard.up("Shift")
    assert page.evaluate(_SHOWN) == RANK_0 + RANK_1  # both are open again
    page.keyboard.down("Shift")
    page.mouse.click(at["x"] + 60, at["y"] + 10)
    page.keyboard.up("Shift")
    assert page.evaluate(_SHOWN) == ["Rank 0", "Rank 1"]


def test_the_filter_leaves_what_has_the_text_in_its_name_or_above_it(page: Page) -> None:
    field = page.get_by_label("Filter tracks by name")
    field.fill("STREAM")
    until(page, f"{_SHOWN}.join()", "Rank 0,GPU 0,stream 7,Rank 1,GPU 1,stream 7")
    assert asked(page)["tracks"] == ["STREAM"]
    field.fill("trainer 1")
    until(page, f"{_SHOWN}.join()", "Rank 1,trainer 1,main thread,waiting thread")
    field.press("Escape")
    until(page, f"{_SHOWN}.length", 12)
    assert "tracks" not in asked(page)


def test_a_pinned_track_stays_in_sight_and_a_reload_keeps_it(page: Page) -> None:
    point_at(page, "stream 7")
    page.keyboard.press("t")
    assert page.evaluate(_SHOWN)[:3] == ["stream 7", "Rank 0", "GPU 0"]
    before = row(page, "stream 7")["y"]
    heading = row(page, "Rank 1")["y"]
    page.mouse.wheel(0, 80)
    until(page, "npTimeline.current().scroll > 0")
    assert row(page, "stream 7")["y"] == before
    assert row(page, "Rank 1")["y"] == heading - page.evaluate("npTimeline.current().scroll")
    page.reload()
    settle(page)
    assert page.evaluate(_SHOWN)[:3] == ["stream 7", "Rank 0", "GPU 0"]
    at = row(page, "stream 7")
    page.mouse.click(at["x"] + at["gutter"] - 11, at["y"] + 10)  # on its pin
    assert page.evaluate(_SHOWN) == RANK_0 + RANK_1
    assert "pin" not in asked(page)


def test_a_name_is_dragged_to_its_place_and_keys_move_it_back(page: Page) -> None:
    start, goal = row(page, "waiting thread"), row(page, "main thread")
    page.mouse.move(start["x"] + 60, start["y"] + 10)
    page.mouse.down()
    page.mouse.move(goal["x"] + 60, goal["y"] + 4, steps=4)
    page.mouse.up()
    assert page.evaluate(_SHOWN)[3:6] == ["trainer 0", "waiting thread", "main thread"]
    assert page.evaluate(_SHOWN)[6:] == RANK_1  # that of the other rank stays
    assert "order" in asked(page)
    point_at(page, "waiting thread")
    page.keyboard.press("Shift+ArrowDown")
    assert page.evaluate(_SHOWN) == RANK_0 + RANK_1
    point_at(page, "Rank 1")
    page.keyboard.press("Shift+ArrowUp")
    assert page.evaluate(_SHOWN) == RANK_1 + RANK_0
    page.reload()
    settle(page)
    assert page.evaluate(_SHOWN) == RANK_1 + RANK_0


def test_rows_have_three_heights(page: Page) -> None:
    button = page.get_by_label("Height of rows")
    button.click()
    assert row(page, "stream 7")["height"] == 28 + 2 * 5
    expect(button).to_have_attribute("aria-label", "Height of rows: tall")
    page.locator("#np-timeline-canvas").focus()
    page.keyboard.press("h")
    assert row(page, "stream 7")["height"] == 14 + 2 * 1
    assert asked(page)["rows"] == ["compact"]


def test_going_to_a_slice_that_the_filter_hides_drops_the_filter(page: Page) -> None:
    page.get_by_label("Filter tracks by name").fill("waiting")
    until(page, f"{_SHOWN}.length", 6)
    page.evaluate("npTimeline.current().goTo(0)")  # the step, on the main thread of rank 0
    until(page, f"{_SHOWN}.length", 12)
    expect(page.get_by_label("Filter tracks by name")).to_have_value("")
