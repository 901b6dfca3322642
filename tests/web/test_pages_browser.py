"""The pages in a real browser: what they show, and how they answer to mouse and keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import constructed
import pytest
from explorer_of import explorer_of
from playwright.sync_api import Page, expect

from explorer_app.web.pages import PAGES
from trace_format import CATEGORIES, TraceBuilder

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def url(served: Callable[[Any], str]) -> str:
    return served(explorer_of(constructed.three_steps(), title="three_steps.json"))


@pytest.fixture(scope="module")
def hostile_url(served: Callable[[Any], str]) -> str:
    return served(explorer_of(constructed.hostile(), title=constructed.HOSTILE[0]))


@pytest.fixture(scope="module")
def empty_url(served: Callable[[Any], str]) -> str:
    return served(explorer_of(constructed.empty(), title="empty.pb"))


def heading(page: Page) -> Any:
    return page.locator("main h1")


def cells(page: Page, grid: str, column: str) -> list[str]:
    """The shown texts of a column of a grid, from the first row down."""
    found = page.locator(f"#{grid} .ag-center-cols-container .ag-row")
    rows = sorted(found.all(), key=lambda row: int(row.get_attribute("row-index") or 0))
    return [row.locator(f'[col-id="{column}"]').inner_text() for row in rows]


@pytest.mark.parametrize("where", PAGES, ids=lambda page: page.name)
def test_each_page_has_its_question_its_address_and_its_mark(
    browser_page: Callable[..., Page], url: str, where: Any
) -> None:
    page = browser_page()
    page.goto(url + where.path)
    expect(heading(page)).to_have_text(where.question)
    expect(heading(page)).to_be_visible()
    expect(page).to_have_title(f"{where.name} – three_steps.json – Neuron Explorer")
    expect(page.locator("nav a[aria-current=page]")).to_have_text(where.name)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_links_lead_to_pages_without_loading_anew_and_back_leads_back(
    browser_page: Callable[..., Page], url: str
) -> None:
    page = browser_page()
    page.goto(url)
    page.evaluate("window.sameDocument = true")
    page.get_by_role("link", name="Hotspots").click()
    expect(heading(page)).to_have_text("Which operations take the time?")
    page.get_by_role("link", name="Memory").click()
    expect(heading(page)).to_have_text("Where do the bytes go?")
    page.go_back()
    expect(heading(page)).to_have_text("Which operations take the time?")
    assert page.url == f"{url}/hotspots"
    page.go_back()
    expect(heading(page)).to_have_text("What bounds my step, and what would fixing it return?")
    page.go_forward()
    expect(heading(page)).to_have_text("Which operations take the time?")
    assert page.evaluate("window.sameDocument")


def test_a_page_left_while_its_charts_are_drawn_leaves_no_errors(browser_page: Callable[..., Page], url: str) -> None:
    for _ in range(5):
        page = browser_page()
        page.goto(url)
        page.get_by_role("link", name="Memory").click()
        expect(heading(page)).to_have_text("Where do the bytes go?")
        page.go_back()
        expect(heading(page)).to_have_text("What bounds my step, and what would fixing it return?")
        page.get_by_role("link", name="Hotspots").click()
        expect(heading(page)).to_have_text("Which operations take the time?")
        page.wait_for_selector("#np-hotspots .ag-row")


def test_the_overview_shows_the_numbers_worked_out_by_hand(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(url)
    main = page.locator("main")
    expect(main.locator(".np-answer")).to_have_text(
        "A step takes 11.0 ms (median of 3). Its largest part is compute: 51.5 %. "
        "Fixing the first finding would return about 1.50 ms of each (13.6 %)."
    )
    figures = dict(
        zip(
            main.locator(".np-figure-label").all_inner_texts(),
            main.locator(".np-figure-value").all_inner_texts(),
            strict=True,
        )
    )
    assert figures == {
        "Step, median": "11.0 ms", "Device busy": "65.2 %", "Collectives, exposed": "1.50 ms",
        "Memory, peak": "3.00 MB",
    }  # fmt: skip
    device = page.get_by_role("table", name="Time by category on the device").locator("tbody tr")
    assert [row.split("\t") for row in device.all_inner_texts()] == [
        ["compute", "17.0 ms", "73.9 %"], ["collective", "4.50 ms", "19.6 %"], ["memcpy", "1.50 ms", "6.52 %"],
    ]  # fmt: skip
    operations = page.get_by_role("table", name="The operations with the most self time").locator("tbody tr")
    assert [row.split("\t")[0] for row in operations.all_inner_texts()] == [
        "gemm_kernel", "ncclDevKernel_AllReduce", "Memcpy HtoD", "aten::linear", "aten::addmm", "aten::relu",
    ]  # fmt: skip
    expect(page.get_by_title("11,000,000 ns")).to_be_visible()


def test_the_bars_add_up_to_their_whole(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(url)
    # the steps: 17, 3, 1.5 and 11.5 of 33 ms; the device: 17, 4.5 and 1.5 of 23 ms
    for place, shares in ((0, (17, 3, 1.5, 11.5)), (1, (17, 4.5, 1.5))):
        bar = page.locator(".np-stacked").nth(place)
        expect(bar).to_be_visible()
        widths = [part.bounding_box()["width"] for part in bar.locator("> span").all()]
        whole = bar.bounding_box()["width"]
        assert sum(widths) == pytest.approx(whole, abs=1)
        # to a pixel or two for the gaps
        assert widths == pytest.approx([whole * share / sum(shares) for share in shares], abs=3)


def test_the_chart_of_steps_has_a_bar_for_each(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(url)
    page.wait_for_selector(".np-chart .bars .point")
    drawn = page.evaluate("document.querySelector('.np-chart .js-plotly-plot').data.map(({x, y}) => ({x, y}))")
    assert drawn[0]["x"] == ["step 0", "step 1", "step 2"]
    assert [sum(heights) for heights in zip(*(curve["y"] for curve in drawn), strict=True)] == [
        10_000_000, 12_000_000, 11_000_000,
    ]  # fmt: skip
    assert page.locator(".np-chart .modebar-btn").count() == 0
    config = page.evaluate("document.querySelector('.np-chart .js-plotly-plot')._context")
    assert (config["showSendToCloud"], config["plotlyServerURL"], config["displaylogo"]) == (False, "", False)


def test_the_banner_leads_to_what_the_import_did(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(f"{url}/memory")
    page.get_by_role("link", name="What and why").click()
    expect(heading(page)).to_have_text("What bounds my step, and what would fixing it return?")
    report = page.get_by_role("table", name="What the import left out or repaired")
    expect(report).to_be_in_viewport()
    rows = [row.split("\t") for row in report.locator("tbody tr").all_inner_texts()]
    assert rows == [["has no name", "left out", "2"], ["end before start", "repaired", "1"]]


def test_the_hotspots_show_the_numbers_worked_out_by_hand(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(f"{url}/hotspots")
    page.wait_for_selector("#np-hotspots .ag-row")
    assert cells(page, "np-hotspots", "name") == [
        "gemm_kernel", "ncclDevKernel_AllReduce", "Memcpy HtoD", "aten::linear", "aten::addmm", "aten::relu",
    ]  # fmt: skip
    assert cells(page, "np-hotspots", "self_ns") == ["17.0 ms", "4.50 ms", "1.50 ms", "6.00 ms", "6.00 ms", "3.00 ms"]
    assert cells(page, "np-hotspots", "total_ns")[3] == "12.0 ms"
    assert cells(page, "np-hotspots", "mean_ns")[0] == "5.67 ms"  # 17 / 3
    assert cells(page, "np-hotspots", "max_ns")[0] == "7.00 ms"
    assert cells(page, "np-hotspots", "share_ratio")[:2] == ["73.9 %", "19.6 %"]
    assert cells(page, "np-hotspots", "count") == ["3"] * 6


def test_hotspots_sort_by_number_and_not_by_text(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(f"{url}/hotspots")
    page.wait_for_selector("#np-hotspots .ag-row")
    total = page.locator('#np-hotspots .ag-header-cell[col-id="total_ns"] .ag-header-cell-label')
    total.click()
    expect(page.locator('#np-hotspots .ag-row[row-index="1"] [col-id="total_ns"]')).to_have_text("12.0 ms")
    # as text "500 µs" would be the largest mean and "17.0 ms" less than "4.50 ms"
    assert cells(page, "np-hotspots", "total_ns") == ["17.0 ms", "12.0 ms", "6.00 ms", "4.50 ms", "3.00 ms", "1.50 ms"]
    total.click()
    expect(page.locator('#np-hotspots .ag-row[row-index="0"] [col-id="total_ns"]')).to_have_text("1.50 ms")


def test_hotspots_filter_by_text_and_by_a_number_with_its_unit(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(f"{url}/hotspots")
    page.wait_for_selector("#np-hotspots .ag-row")
    page.get_by_label("Operation Filter Input").fill("aten")
    expect(page.locator("#np-hotspots .ag-center-cols-container .ag-row")).to_have_count(3)
    page.get_by_label("Operation Filter Input").fill("no such name")
    expect(page.locator("#np-hotspots")).to_contain_text("No row passes the filters.")
    page.get_by_label("Operation Filter Input").fill("")
    page.get_by_label("Self Filter Input").press_sequentially("4.5 ms")
    expect(page.locator("#np-hotspots .ag-center-cols-container .ag-row")).to_have_count(4)
    assert sorted(cells(page, "np-hotspots", "self_ns")) == ["17.0 ms", "4.50 ms", "6.00 ms", "6.00 ms"]


def test_a_hundred_thousand_names_scroll_sort_and_filter(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    page = browser_page()
    page.goto(served(explorer_of(constructed.many_names(100_000), title="many")) + "/hotspots")
    row = page.locator('#np-hotspots .ag-row[row-index="0"] [col-id="name"]')
    expect(row).to_have_text("operation 99999")
    assert page.locator("#np-hotspots .ag-row").count() < 200
    page.locator('#np-hotspots .ag-header-cell[col-id="name"] .ag-header-cell-label').click()
    expect(row).to_have_text("operation 0")
    page.get_by_label("Operation Filter Input").fill("77777")
    expect(page.locator("#np-hotspots .ag-center-cols-container .ag-row")).to_have_count(1)
    assert cells(page, "np-hotspots", "self_ns") == ["77.8 ms"]  # number 77777 ran 77,778 µs


def test_hotspots_are_grouped_by_category_on_demand(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(f"{url}/hotspots")
    page.wait_for_selector("#np-hotspots .ag-row")
    page.locator("#np-hotspots-by").get_by_text("Category", exact=True).click()
    expect(page.locator('#np-hotspots .ag-row[row-index="0"] [col-id="name"]')).to_have_text("compute")
    assert cells(page, "np-hotspots", "self_ns")[0] == "17.0 ms"
    page.locator("#np-hotspots-by").get_by_text("Module", exact=True).click()
    expect(page.locator("#np-hotspots-why")).to_contain_text("no modules were recorded")


def test_the_grouping_is_in_the_address_and_everything_follows_it(browser_page: Callable[..., Page], url: str) -> None:
    def expect_tracks(page: Page) -> None:
        expect(heading(page)).to_have_text("Which tracks take the time?")
        expect(page.locator('#np-hotspots .ag-header-cell[col-id="name"] .ag-header-cell-text')).to_have_text("Track")
        expect(page.locator("#np-hotspots-answer")).to_contain_text("On the device: stream 7, 17.0 ms of its own")
        expect(page.locator("#np-hotspots-by [aria-current]")).to_have_text("Track")
        expect(page.locator('#np-hotspots .ag-row[row-index="0"] [col-id="name"]')).to_have_text("stream 7")

    page = browser_page()
    page.goto(f"{url}/hotspots")
    page.locator("#np-hotspots-by").get_by_text("Track", exact=True).click()
    expect_tracks(page)
    assert page.url == f"{url}/hotspots?by=track"
    page.reload()
    expect_tracks(page)
    page.locator("#np-hotspots-by").get_by_text("Operation", exact=True).click()
    expect(heading(page)).to_have_text("Which operations take the time?")
    page.go_back()
    expect_tracks(page)
    page.locator("#np-hotspots .ag-row", has_text="stream 7").dblclick()
    expect(heading(page)).to_have_text("What happened when, and what caused it?")
    page.go_back()
    expect_tracks(page)
    other = browser_page()
    other.goto(f"{url}/hotspots?by=track")
    expect_tracks(other)


def test_a_click_selects_a_row_and_links_to_its_slowest_call(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(f"{url}/hotspots")
    page.locator("#np-hotspots .ag-row", has_text="gemm_kernel").click()
    expect(page.locator("#np-hotspots-chosen")).to_contain_text("gemm_kernel")
    page.keyboard.press("Escape")
    expect(page.locator("#np-hotspots-chosen")).to_contain_text("Click a row to select it")
    page.locator("#np-hotspots .ag-row", has_text="gemm_kernel").click()
    page.get_by_role("link", name="Slowest call on the timeline").click()
    expect(heading(page)).to_have_text("What happened when, and what caused it?")


def test_a_double_click_opens_the_timeline_at_the_slowest_call_and_back_returns(
    browser_page: Callable[..., Page], url: str
) -> None:
    page = browser_page()
    page.goto(f"{url}/hotspots")
    page.locator("#np-hotspots .ag-row", has_text="gemm_kernel").dblclick()
    expect(heading(page)).to_have_text("What happened when, and what caused it?")
    # the second step's gemm runs from 13 to 20 ms; a tenth is added on both sides
    start = constructed.START_NS + 13 * constructed.MS
    assert f"t0={start - 700_000}&t1={start + 7_700_000}&slice=" in page.url
    page.go_back()
    expect(heading(page)).to_have_text("Which operations take the time?")


def test_rows_are_copied_as_shown_with_exact_values(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{url}/hotspots")
    page.wait_for_selector("#np-hotspots .ag-row")
    page.get_by_label("Operation Filter Input").fill("gemm")
    expect(page.locator("#np-hotspots .ag-center-cols-container .ag-row")).to_have_count(1)
    page.get_by_role("button", name="Copy as TSV").click()
    expect(page.locator(".np-copy")).to_have_text("Copied")
    head, row = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert head.split("\t") == [
        "Operation",
        "Category",
        "Side",
        "Self",
        "Share of side",
        "Total",
        "Calls",
        "Mean",
        "p50",
        "p95",
        "Max",
    ]
    values = row.split("\t")
    assert values[:4] == ["gemm_kernel", "compute", "device", "17000000"]
    assert values[5:7] == ["17000000", "3"]
    assert float(values[4]) == pytest.approx(17 / 23)


def test_the_memory_page_shows_the_numbers_worked_out_by_hand(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(f"{url}/memory")
    expect(page.locator(".np-answer")).to_have_text(
        "12.0 MB are moved, a copy counted once; Memcpy HtoD moves most: 12.0 MB. "
        "At most 3.00 MB are allocated on cpu, 12.0 ms after the start; "
        "what was allocated before the trace is not in it."
    )
    page.wait_for_selector("#np-movers .ag-row")
    assert cells(page, "np-movers", "bytes") == ["12.0 MB"]
    assert cells(page, "np-movers", "bytes_per_s") == ["8.00 GB/s"]
    page.wait_for_selector(".np-chart .scatterlayer .trace")
    traces = page.evaluate("document.querySelector('.np-chart .js-plotly-plot').data.map(t => [t.name, t.x, t.y])")
    allocated = next(t for t in traces if t[0] == "allocated on cpu, since the start of the trace")
    assert allocated[1:] == [[1, 12, 23, 33], [1_000_000, 3_000_000, 2_000_000, 2_000_000]]
    moved = next(t for t in traces if t[0] == "host to device")
    assert max(moved[2]) == pytest.approx(8e9)


def test_a_double_click_on_a_mover_opens_the_timeline(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(f"{url}/memory")
    page.locator("#np-movers .ag-row", has_text="Memcpy HtoD").dblclick()
    expect(heading(page)).to_have_text("What happened when, and what caused it?")
    assert "slice=" in page.url


@pytest.mark.parametrize("system", ["light", "dark"])
def test_the_scheme_follows_the_system_until_chosen_and_the_choice_stays(
    browser_page: Callable[..., Page], url: str, system: str
) -> None:
    other = {"light": "dark", "dark": "light"}[system]
    page = browser_page(color_scheme=system)
    page.goto(url)
    page.wait_for_selector(".np-chart .bars .point path")
    root = page.locator("html")
    expect(root).to_have_attribute("data-mantine-color-scheme", system)
    background = "getComputedStyle(document.getElementById('np-main')).backgroundColor"
    bar = "getComputedStyle(document.querySelector('.np-chart .bars .point path')).fill"
    before = page.evaluate(f"[{background}, {bar}]")
    page.get_by_role("button", name="Switch between light and dark").click()
    expect(root).to_have_attribute("data-mantine-color-scheme", other)
    expect(page.locator("body")).to_have_attribute("data-ag-theme-mode", other)
    page.wait_for_function(f"before => {bar} !== before", arg=before[1])
    assert page.evaluate(background) != before[0]
    page.reload()
    expect(root).to_have_attribute("data-mantine-color-scheme", other)
    expect(heading(page)).to_be_visible()


def test_question_mark_shows_the_keys_and_escape_hides_them(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(url)
    expect(heading(page)).to_be_visible()
    keys = page.get_by_role("dialog")
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    expect(keys).to_contain_text("show or hide this list")
    page.keyboard.press("Escape")
    expect(keys).not_to_be_visible()
    page.get_by_role("button", name="Show the keys").click()
    expect(keys).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(keys).not_to_be_visible()


def test_a_number_key_goes_to_a_page_but_not_while_typing(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(url)
    expect(heading(page)).to_be_visible()
    page.keyboard.press("3")
    expect(heading(page)).to_have_text("Which operations take the time?")
    page.wait_for_selector("#np-hotspots .ag-row")
    page.get_by_label("Self Filter Input").press("4")
    expect(page.get_by_label("Self Filter Input")).to_have_value("4")
    expect(heading(page)).to_have_text("Which operations take the time?")


@pytest.mark.parametrize("where", PAGES, ids=lambda page: page.name)
def test_hostile_names_stay_text(browser_page: Callable[..., Page], hostile_url: str, where: Any) -> None:
    page = browser_page()
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(hostile_url + where.path)
    expect(heading(page)).to_have_text(where.question)
    expect(page.locator(".np-chip b")).to_have_text(constructed.HOSTILE[0])
    page.wait_for_load_state("networkidle")
    injected = (
        "main img[src=x], main svg[onload], main [onerror], main a[href*='example.com'], main a[href^='javascript']"
    )
    assert page.locator(injected).count() == 0
    assert page.evaluate("[...document.scripts].filter(s => s.textContent.includes('alert(')).length") == 0
    assert dialogs == []


def test_hostile_names_are_shown_as_they_are(browser_page: Callable[..., Page], hostile_url: str) -> None:
    page = browser_page()
    page.goto(f"{hostile_url}/hotspots")
    page.wait_for_selector("#np-hotspots .ag-row")
    assert set(constructed.HOSTILE) <= set(cells(page, "np-hotspots", "name"))
    page.goto(f"{hostile_url}/memory")
    page.wait_for_selector(".np-chart .legendtext")
    legend = page.locator(".np-chart .legendtext").all_text_contents()
    assert any("<a href='https://example.com'>link</a>" in text for text in legend)


@pytest.mark.parametrize("where", PAGES, ids=lambda page: page.name)
def test_an_empty_trace_says_what_is_missing(browser_page: Callable[..., Page], empty_url: str, where: Any) -> None:
    page = browser_page()
    page.goto(empty_url + where.path)
    expect(heading(page)).to_have_text(where.question)
    expect(page.locator("main")).to_contain_text(re.compile(r"\bno(thing)?\b", re.IGNORECASE))
    expect(page.locator(".np-chip")).to_contain_text("no events")


def test_an_unknown_address_says_so_and_offers_the_pages(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.watch.ignore_console.append("404 (NOT FOUND)")
    page.goto(f"{url}/nowhere")
    expect(heading(page)).to_have_text("There is no such page")
    page.locator("main").get_by_role("link", name="Memory").click()
    expect(heading(page)).to_have_text("Where do the bytes go?")


@pytest.fixture(scope="module")
def long_url(served: Callable[[Any], str]) -> str:
    return served(explorer_of(constructed.long_names(), title="f" * 250 + ".json"))


@pytest.mark.parametrize("where", [*(page.path for page in PAGES), "/hotspots?by=track"])
def test_no_name_is_so_long_that_a_page_scrolls_sideways(
    browser_page: Callable[..., Page], long_url: str, where: str
) -> None:
    page = browser_page()
    page.goto(long_url + where)
    expect(heading(page)).to_be_visible()
    page.wait_for_load_state("networkidle")
    if where == "/timeline":
        page.wait_for_selector("#np-timeline-canvas[data-settled=true]")
        page.keyboard.press("ArrowRight")  # the slice in the middle: its details show names too
        expect(page.locator("#np-timeline-details h2")).to_be_visible()
    if where.startswith("/hotspots"):
        page.locator("#np-hotspots .ag-row").first.click()
        expect(page.locator("#np-hotspots-chosen b")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    # nor does anything stick out of the box it stands in
    sticking_out = page.evaluate(
        """() => [...document.querySelectorAll("main p, main h1, main h2, main dd, main td, .np-note, .np-bar-number")]
            .filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "visible"
                && !["inline", "none"].includes(getComputedStyle(e).display))
            .map((e) => e.className + ": " + e.textContent.slice(0, 40))"""
    )
    assert sticking_out == []


def test_one_chart_on_a_large_window_takes_the_height_of_its_card(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    builder = TraceBuilder()
    stream = builder.track("stream 7", kind="stream", device=0)
    for number in range(60):
        builder["slices"].append(
            1, ts_ns=constructed.START_NS + number, dur_ns=1, track=stream, name=builder.string(f"copy {number}"),
            category=CATEGORIES.index("memcpy"), bytes=1000,
        )  # fmt: skip
    page = browser_page(width=2560, height=1440)
    page.goto(served(explorer_of(builder.finish(), title="t")) + "/memory")
    page.wait_for_selector(".np-chart .js-plotly-plot")
    card, chart = page.locator(".np-memory .np-card").first, page.locator(".np-chart").first
    assert chart.bounding_box()["height"] > 0.85 * card.bounding_box()["height"]
    expect(card.get_by_text("No allocations: allocations were not recorded.")).to_be_visible()


def test_a_grid_shows_what_has_no_name_and_says_what_its_totals_are(
    browser_page: Callable[..., Page], long_url: str
) -> None:
    page = browser_page()
    page.goto(f"{long_url}/hotspots")
    page.wait_for_selector("#np-hotspots .ag-row")
    names = cells(page, "np-hotspots", "name")
    assert names.count("(no name)") == 2
    assert max(map(len, names)) == 400
    page.get_by_role("columnheader", name="Total").hover()
    expect(page.locator(".ag-tooltip")).to_contain_text("time counts once on each track; filter by the least value")
