"""The Compare page; every number worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dash
import pytest
from constructed import HOSTILE, START_NS
from playwright.sync_api import Page, expect
from test_pages import text_of

from explorer_app.web.app import create_app
from explorer_app.web.library import Library
from explorer_app.web.opening.folders import Folders
from explorer_app.web.opening.routes import register_opening
from explorer_app.web.pages.compare.operations import href_of, told_of
from explorer_app.web.pages.compare.page import choice, compared
from explorer_app.web.pages.compare.sides import Sides
from explorer_app.web.view import Views
from neuron_profile import load
from trace_format import CATEGORIES, Trace, TraceBuilder, write_trace

MS = 1_000_000
GONE = HOSTILE[0]


def run(step_ms: int, *, mm_ms: int, other: str, steps: int = 6, before_ms: int = 0) -> Trace:
    """Steps of `step_ms`, the first after `before_ms`; in each aten::mm for `mm_ms`, then `other` for 2 ms."""
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread", pid=1, rank=0)

    def add(name: str, category: str, start_ms: int, dur_ms: int) -> None:
        builder["slices"].append(
            1, track=track, name=builder.string(name), category=CATEGORIES.index(category),
            ts_ns=START_NS + start_ms * MS, dur_ns=dur_ms * MS,
        )  # fmt: skip

    if before_ms:
        add("warm-up", "host_op", 0, 1)
    for step in range(steps):
        start = before_ms + step * step_ms
        add(f"ProfilerStep#{step}", "annotation", start, step_ms)
        add("aten::mm", "host_op", start, mm_ms)
        add(other, "host_op", start + mm_ms, 2)
    return builder.finish()


def library() -> Library:
    """The new run: steps of 12 ms, the first after 50, with aten::mm for 8; the base: 10, at once, and 6."""
    opened = Library()
    opened.add(run(12, mm_ms=8, other="aten::relu", before_ms=50), title="new.json")
    opened.add(run(10, mm_ms=6, other=GONE), title="base.json")
    return opened


def sides(opened: Library) -> Sides:
    views = Views(opened)
    return Sides(views.of({"trace": opened.all()[1].key}), views.of(None))


def test_the_page_says_what_changed_and_whether_it_is_real() -> None:
    said = " ".join(text_of(compared(sides(library()))).split())
    # six steps of exactly 10 and 12 ms: the interval is a point
    assert "A step takes 2.00 ms longer than in the base (+20.0 %): 10.0 ms became 12.0 ms." in said
    assert "That is real: the 95 % interval is +20.0 % to +20.0 %" in said
    assert "Base 10.0 ms median of 6 steps" in said
    # operators 8 ms of 10, then 10 of 12; no operator runs for 2 ms in both
    assert "operators 8.00 ms 10.0 ms +2.00 ms +25.0 %" in said
    assert "no operator running (Python and the like) 2.00 ms 2.00 ms –" in said
    assert "1 slower, 2 new, 1 gone" in said  # new are aten::relu and the warm-up before the steps


def test_few_steps_are_not_judged() -> None:
    opened = Library()
    opened.add(run(12, mm_ms=8, other="aten::relu", steps=2), title="new")
    opened.add(run(10, mm_ms=6, other="aten::relu", steps=2), title="base")
    said = " ".join(text_of(compared(sides(opened))).split())
    assert "Whether that is real cannot be told: 2 and 2 are too few to know their noise." in said


def test_the_same_run_takes_as_long() -> None:
    opened = Library()
    for title in ("new", "base"):
        opened.add(run(12, mm_ms=8, other="aten::relu"), title=title)
    assert "A step takes as long as in the base, 12.0 ms." in text_of(compared(sides(opened)))


def test_what_has_no_time_is_not_compared() -> None:
    opened = Library()
    for title in ("new", "base"):
        opened.add(TraceBuilder().finish(), title=title)
    assert "These two cannot be compared" in text_of(compared(sides(opened)))


def test_a_changed_operation_leads_to_both_traces() -> None:
    both = sides(library())
    names = both.comparison.operations["name"].tolist()
    mm, gone = str(names.index("aten::mm")), str(names.index(GONE))
    assert "slowest in the base slowest in the new trace" in text_of(told_of(both, mm))
    assert f"trace={both.base.opened.key}" in href_of(both, gone)
    assert "trace=" not in href_of(both, mm)
    assert href_of(both, "x") == ""


def test_the_other_open_traces_are_offered_as_the_base() -> None:
    opened = library()
    view = Views(opened).of(None)
    said = text_of(choice(view, opened, None))
    assert "base.json" in said
    assert "new.json" not in said


@pytest.fixture(scope="module")
def explorer(served: Callable[[Any], str]) -> tuple[str, str]:
    """The URL of an explorer with both traces open, and the key of the base."""
    opened = library()
    app: dash.Dash = create_app(opened)
    return served(app), opened.all()[1].key


@pytest.mark.browser
def test_a_base_is_chosen_and_its_operations_lead_to_the_timeline(
    browser_page: Callable[..., Page], explorer: tuple[str, str]
) -> None:
    url, key = explorer
    page = browser_page()
    page.goto(f"{url}/compare")
    expect(page.locator(".np-empty-what")).to_have_text("Nothing to compare with")
    page.get_by_role("link", name="base.json").click()
    expect(page).to_have_url(re.compile(f"base={key}"))
    expect(page.locator(".np-answer")).to_contain_text("10.0 ms became 12.0 ms")
    row = page.locator("#np-compare-operations .ag-row").filter(has=page.get_by_text(GONE, exact=True)).first
    expect(row.locator("[col-id=base_ns]")).to_have_text("2.00 ms")
    row.click()
    page.get_by_role("link", name="slowest in the base").click()
    expect(page.locator("#np-timeline-details h2")).to_have_text(GONE)


@pytest.mark.browser
def test_what_moves_one_timeline_moves_the_other_in_time_since_the_median_step(
    browser_page: Callable[..., Page], explorer: tuple[str, str]
) -> None:
    url, key = explorer
    page = browser_page(reduced_motion="reduce")
    page.goto(f"{url}/compare?base={key}")
    canvases = page.locator(".np-compare .np-timeline-canvas")
    expect(canvases).to_have_count(2)
    page.wait_for_function("window.np.compared().length === 2")

    def shown() -> list[list[float]]:
        return page.evaluate("window.np.compared().map(({ view }) => [view.start / 1e6, view.end / 1e6])")

    # all steps are alike, so the first is the median one: at 0 ms in the base, at 50 ms in the new trace;
    # the longer of the two is 12 ms, with 15 % of it on both sides
    base, new = shown()
    assert base == pytest.approx([-1.8, 13.8])
    assert new == pytest.approx([48.2, 63.8])
    canvases.nth(1).hover(position={"x": 600, "y": 100})
    page.keyboard.press("w")  # 0.65 of what was shown
    base, new = shown()
    assert new[1] - new[0] == pytest.approx(15.6 * 0.65)
    assert [new[0] - base[0], new[1] - base[1]] == pytest.approx([50, 50])
    canvases.nth(0).hover(position={"x": 600, "y": 100})
    page.keyboard.press("d")
    moved_base, moved_new = shown()
    assert moved_base[0] - base[0] == pytest.approx(15.6 * 0.65 / 4)
    assert moved_new[0] - moved_base[0] == pytest.approx(50)

    def drag(number: int) -> None:
        canvases.nth(number).hover(position={"x": 600, "y": 100})
        page.keyboard.down("Shift")
        page.mouse.down()
        box = canvases.nth(number).bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 800, box["y"] + 100, steps=4)
        page.mouse.up()
        page.keyboard.up("Shift")

    drag(0)
    expect(page.locator(".np-compare-selected").first).to_contain_text("measured here only")
    assert "from=" not in page.url
    page.evaluate("window.np.compared()[1].host.dataset.before = true")
    drag(1)
    expect(page).to_have_url(re.compile(r"from=\d+&to=\d+"))
    # the page is made anew, of the range; its timelines show what they showed
    expect(page.locator("[data-before]")).to_have_count(0)
    for canvas in (canvases.nth(0), canvases.nth(1)):
        expect(canvas).to_have_attribute("data-settled", "true")
    assert page.evaluate("window.np.compared()[1].range !== null")
    assert shown() == [pytest.approx(moved_base), pytest.approx(moved_new)]
    expect(canvases.nth(0)).to_have_attribute("data-settled", "true")
    expect(canvases.nth(1)).to_have_attribute("data-settled", "true")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.browser
def test_a_base_is_opened_from_the_page(
    browser_page: Callable[..., Page], served: Callable[[Any], str], tmp_path: Path
) -> None:
    write_trace(run(10, mm_ms=6, other=GONE), tmp_path / "earlier.pb")
    opened = Library.holding(run(12, mm_ms=8, other="aten::relu"), title="new.json")
    app = create_app(opened)
    register_opening(app.server, opened, Folders([tmp_path]), lambda path, progress: load(path, progress=progress))
    page = browser_page()
    page.goto(f"{served(app)}/compare")
    page.get_by_role("button", name="Open a base").click()
    page.get_by_role("button", name="earlier.pb").click()
    expect(page.locator(".np-answer")).to_contain_text("10.0 ms became 12.0 ms")
    assert "trace=" not in page.url
