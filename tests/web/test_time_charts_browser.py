"""Ranges dragged in charts over time, and points that lead to the timeline, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from browser_fixtures import TIMEOUT_MS
from explorer_of import explorer_of
from gpu_traces import US, matmul_and_add
from neuron_runs import START_NS, attention
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

DRAWN = "document.querySelector('.js-plotly-plot')?.layout.meta"  # by the server, for the range in the address
PLOT = ".js-plotly-plot >> nth=0 >> .nsewdrag >> nth=0"


def drag(page: Page, first: float, last: float) -> None:
    """Drag over these shares of the width of the first chart, once it is drawn for good."""
    page.wait_for_load_state("networkidle")
    page.locator(PLOT).scroll_into_view_if_needed()
    box = page.locator(PLOT).bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + first * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + (first + last) / 2 * box["width"], y)
    page.mouse.move(box["x"] + last * box["width"], y)
    page.mouse.up()


def wait_until(page: Page, expression: str) -> None:
    """Wait for an expression; the page's policy forbids Playwright's own way, which evaluates it inside the page."""
    for _ in range(TIMEOUT_MS // 50):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never came true: {expression}")


def chosen(page: Page) -> tuple[int, int]:
    asked = parse_qs(urlsplit(page.url).query)
    return int(asked["from"][0]), int(asked["to"][0])


def shown(page: Page) -> list[float]:
    return list(page.evaluate("document.querySelector('.js-plotly-plot').layout.xaxis.range"))


def test_a_range_dragged_in_a_chart_is_the_range_everywhere_until_a_double_click(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    page = browser_page()
    page.goto(f"{served(explorer_of(matmul_and_add(), title='steps'))}/memory")
    expect(page.locator(".np-answer")).to_contain_text("at most 58.9 %")
    page.wait_for_selector(".js-plotly-plot .scatterlayer .trace")
    drag(page, 0, 0.5)  # of 1110 us: only the copies
    page.wait_for_url(re.compile("from="))
    start, end = chosen(page)
    assert start == 0
    assert end == pytest.approx(555 * US, rel=0.01)
    expect(page.locator("#np-range")).to_contain_text("from 0 ns")
    expect(page.locator(".np-answer")).to_have_text(re.compile(r"1\.06 MB are moved"))
    wait_until(page, f"{DRAWN}?.np_shown[1] < 0.6")
    assert shown(page) == pytest.approx([0, end / 1e6])
    page.get_by_role("link", name="Device", exact=True).click()
    expect(page.locator("main h1")).to_have_text("Which engine works, which waits?")
    assert chosen(page) == (start, end)
    page.wait_for_selector(".js-plotly-plot .heatmaplayer image")
    assert shown(page) == pytest.approx([0, end / 1e6])
    page.locator(PLOT).dblclick()
    page.wait_for_url(re.compile(r"/device$"))
    expect(page.locator("#np-range")).to_contain_text("whole trace")


def test_in_the_chart_of_a_run_a_range_counts_from_where_the_run_began(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    page = browser_page()
    page.goto(f"{served(explorer_of(attention().trace(), title='attention.ntff'))}/device")
    page.wait_for_selector(".js-plotly-plot .heatmaplayer image")
    drag(page, 0.2, 0.6)  # of a run of 10 us that began at 5 ms
    page.wait_for_url(re.compile("from="))
    start, end = chosen(page)
    assert (start - START_NS, end - START_NS) == (pytest.approx(2000, abs=60), pytest.approx(6000, abs=60))
    wait_until(page, f"{DRAWN}?.np_shown[0] > 1")
    assert shown(page) == pytest.approx([(start - START_NS) / 1000, (end - START_NS) / 1000])


def test_a_click_on_a_point_of_the_roofline_shows_its_longest_slice(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    page = browser_page()
    page.goto(f"{served(explorer_of(matmul_and_add(), title='steps'))}/memory")
    point = page.locator(".js-plotly-plot >> nth=1 >> .points path").last  # bound by compute: the product
    page.wait_for_load_state("networkidle")
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".js-plotly-plot >> nth=1 >> .hoverlayer")).to_contain_text(
        "aten::mm [1024, 2048] [2048, 4096]"
    )
    expect(page.locator(".js-plotly-plot >> nth=1 >> .hoverlayer")).to_contain_text("bound by compute")
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator("main h1")).to_have_text("What happened when, and what caused it?")
    expect(page.locator("#np-timeline-details h2")).to_have_text("kernel 1")
