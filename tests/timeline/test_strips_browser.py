"""Marked regions and warnings above the tracks, and a slice's details, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from explorer_of import explorer_of
from playwright.sync_api import Page, expect
from test_timeline_browser import settle, until, window_of
from two_ranks import MS, START_NS, row_at, two_ranks

from trace_format import Trace

pytestmark = pytest.mark.browser

COUNT = ".np-timeline-warnings [data-act=next]"
DETAILS = "#np-timeline-details"
TIP = ".np-timeline-tip"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return two_ranks()


@pytest.fixture(scope="module")
def url(served: Callable[[Any], str], trace: Trace) -> str:
    return served(explorer_of(trace, title="two ranks"))


@pytest.fixture
def page(browser_page: Callable[..., Page], url: str) -> Page:
    page = browser_page(reduced_motion="reduce")
    page.goto(f"{url}/timeline")
    settle(page)
    return page


def on_strip(page: Page, strip: str, moment_ns: float) -> tuple[float, float]:
    """Where a moment is on the strip "regions" or "warnings"."""
    x, y = page.evaluate(
        """([strip, moment]) => {
            const { surface, host } = npTimeline.current();
            const box = host.getBoundingClientRect();
            return [box.x + surface.x(moment), box.y + surface[`${strip}Top`] + surface[strip] / 2];
        }""",
        [strip, moment_ns],
    )
    return x, y


def test_a_click_on_a_region_zooms_to_it_and_with_shift_it_is_the_range(page: Page) -> None:
    choice = page.get_by_label("Regions that are marked")
    assert choice.locator("option").all_text_contents() == [
        "Steps (rank 0)", "Modules, level 1", "Modules, level 2", "Between collectives",
    ]  # fmt: skip
    choice.select_option("Modules, level 2")
    until(page, "npTimeline.current().regions.bands?.names.join()", "Linear_0")
    page.mouse.click(*on_strip(page, "regions", 2 * MS))
    assert window_of(page) == (1.5 * MS, 3 * MS)
    page.keyboard.down("Shift")
    page.mouse.click(*on_strip(page, "regions", 2 * MS))
    page.keyboard.up("Shift")
    expect(page.locator("#np-timeline-range-title")).to_have_text("1.50 ms from 1.50 ms")
    page.reload()
    settle(page)
    expect(choice).to_have_value("modules 1")
    asked = parse_qs(urlsplit(page.url).query)
    assert (asked["from"], asked["to"]) == ([str(START_NS + 1_500_000)], [str(START_NS + 3_000_000)])


def test_between_collectives_ends_where_the_collective_begins(page: Page) -> None:
    page.get_by_label("Regions that are marked").select_option("Between collectives")
    until(page, "npTimeline.current().regions.bands?.names.join()", "before all_reduce,after all_reduce")
    page.mouse.click(*on_strip(page, "regions", 4 * MS))
    assert window_of(page) == (0, 8 * MS)


def test_a_warning_says_its_number_and_a_click_zooms_to_it(page: Page) -> None:
    page.mouse.move(*on_strip(page, "warnings", 8.3 * MS))
    expect(page.locator(TIP)).to_contain_text("rank 1: device 1 idle for 2.30 ms, 23.0 % of a step")
    page.mouse.click(*on_strip(page, "warnings", 8.3 * MS))
    # with a tenth of its length on both sides
    assert window_of(page) == pytest.approx((6.2 * MS - 0.23 * MS, 8.5 * MS + 0.23 * MS))


def test_the_legend_counts_warnings_and_switches_them_off(page: Page) -> None:
    entry = page.get_by_role("button", name="Show idle gaps")
    expect(page.locator(COUNT)).to_have_text("2 idle gaps")
    expect(entry).to_have_attribute("aria-pressed", "true")
    top = page.evaluate("npTimeline.current().surface.top")
    entry.click()
    expect(entry).to_have_attribute("aria-pressed", "false")
    assert page.evaluate("npTimeline.current().surface.top") == top - 16  # the strip is gone
    assert parse_qs(urlsplit(page.url).query)["nowarn"] == ["idle"]
    page.reload()
    settle(page)
    expect(entry).to_have_attribute("aria-pressed", "false")
    entry.click()
    assert page.evaluate("npTimeline.current().surface.top") == top


def test_the_legend_goes_from_warning_to_warning_of_those_in_the_range(page: Page) -> None:
    count = page.locator(COUNT)
    count.click()
    expect(count).to_have_text("2 idle gaps · 1/2")
    # [6.2, 8) ms with a tenth of its length on both sides
    assert window_of(page) == pytest.approx((6.2 * MS - 0.18 * MS, 8 * MS + 0.18 * MS))
    count.click()
    expect(count).to_have_text("2 idle gaps · 2/2")
    count.click()
    expect(count).to_have_text("2 idle gaps · 1/2")
    page.evaluate(f"npTimeline.current().chooseRange({8.1 * MS}, {9 * MS})")  # only the gap of rank 1 reaches to 8.5
    expect(count).to_have_text("1 idle gaps in the range")


def test_a_kernel_shows_its_cause_its_like_its_ranks_and_its_lines(page: Page, trace: Trace, url: str) -> None:
    details = page.locator(DETAILS)
    page.evaluate(f"npTimeline.current().goTo({row_at(trace, 'gemm', 3, 1)})")
    # four calls of gemm: 3, 0.1, 3 and 0.1 ms; of the three others two are shorter
    expect(details).to_contain_text("Longer than 66.7 % of the 3 other calls.")
    own = details.locator(".np-timeline-own")
    expect(own).to_have_attribute("title", "2.27 ms to 3.00 ms: 2 calls")  # 4 bins of (3 - 0.1) / 4 = 0.725 ms
    ranks = details.locator(".np-timeline-rank")
    expect(ranks).to_have_text(["rank 03.00 mssame start", "rank 13.00 msthis one"])
    frames = details.locator(".np-timeline-stack a")
    expect(frames).to_have_text(["model.py(7): forward", "train.py(3): step"])
    asked = urlsplit(frames.first.get_attribute("href") or "")
    assert (asked.path, parse_qs(asked.query)) == ("/source", {"file": ["model.py"], "line": ["7"]})
    expect(details).to_contain_text("of aten::linear, which launched it")
    ranks.first.click()
    until(page, "npTimeline.current().selection.id", row_at(trace, "gemm", 3, 0))
    expect(ranks).to_have_text(["rank 03.00 msthis one", "rank 13.00 mssame start"])  # the panel has followed
    details.locator(".np-timeline-go", has_text="cudaLaunchKernel").click()
    until(page, "npTimeline.current().selection.id", row_at(trace, "cudaLaunchKernel", 2, 0))


def test_a_collective_shows_by_how_much_the_other_rank_began_later(page: Page, trace: Trace) -> None:
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    page.evaluate(f"npTimeline.current().goTo({row_at(trace, name, 8, 0)})")
    ranks = page.locator(f"{DETAILS} .np-timeline-rank")
    expect(ranks).to_have_text(["rank 01.00 msthis one", "rank 1500 µs500 µs later"])


def test_the_chain_of_a_slice_is_drawn_from_end_to_end(page: Page, trace: Trace) -> None:
    """An operator has no flow of its own: the arrow goes from the launch in it to the kernel."""
    page.evaluate(f"npTimeline.current().goTo({row_at(trace, 'aten::linear', 1.6, 0)})")
    until(page, "npTimeline.current().selection?.chain.downstream.length", 1)
    settle(page)
    drawn = page.evaluate(
        """() => {
            const { surface, rows, scroll, theme, selection } = npTimeline.current();
            const { to } = selection.chain.downstream[0];
            const [x, y] = [surface.x(to.start) - 3, rows.laneMiddle[to.lane] + surface.top - scroll];
            return [...surface.context.getImageData(x * surface.ratio, y * surface.ratio, 1, 1).data].slice(0, 3)
                .map((part) => part.toString(16).padStart(2, "0")).join("") === theme.text.slice(1);
        }"""
    )
    assert drawn
