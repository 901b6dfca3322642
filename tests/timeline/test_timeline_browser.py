"""The Timeline page in a real browser: what a reader does, and what they must then see."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from explorer_of import explorer_of
from one_step import HOSTILE_NAMES, MS, START_NS, hostile, one_step, row_of
from playwright.sync_api import Page, expect

from trace_format import Trace, TraceBuilder

pytestmark = pytest.mark.browser

CANVAS = "#np-timeline-canvas"
DETAILS = "#np-timeline-details"
RANGE = "#np-timeline-range-card"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return one_step()


@pytest.fixture(scope="module")
def url(served: Callable[[Any], str], trace: Trace) -> str:
    return served(explorer_of(trace, title="one step"))


@pytest.fixture
def page(browser_page: Callable[..., Page], url: str) -> Page:
    page = browser_page(reduced_motion="reduce")
    page.goto(f"{url}/timeline")
    settle(page)
    return page


def settle(page: Page) -> None:
    """Wait until everything the canvas asked for is painted."""
    page.wait_for_selector(f"{CANVAS}[data-mounted=true][data-marked=true][data-settled=true]")


def until(page: Page, expression: str, wanted: Any = True) -> None:
    """Wait until JavaScript evaluates to `wanted`. (The page's own policy forbids Playwright's wait_for_function.)"""
    deadline = time.monotonic() + 20
    while (found := page.evaluate(expression)) != wanted:
        assert time.monotonic() < deadline, f"{expression} is {found!r}, not {wanted!r}"
        page.wait_for_timeout(20)


def window_of(page: Page) -> tuple[float, float]:
    start, end = page.evaluate("[npTimeline.current().view.start, npTimeline.current().view.end]")
    return start, end


def place(page: Page, track: str, depth: int, moment_ns: float) -> tuple[float, float]:
    """Where on the page a moment of a lane is drawn."""
    x, y = page.evaluate(
        """([name, depth, moment]) => {
            const timeline = npTimeline.current();
            const track = timeline.meta.processes.flatMap((p) => p.tracks).find((t) => t.name === name);
            const box = timeline.host.getBoundingClientRect();
            return [box.x + timeline.surface.x(moment),
                    box.y + timeline.surface.top - timeline.scroll + timeline.rows.laneTop[track.lane + depth] + 8];
        }""",
        [track, depth, moment_ns],
    )
    return x, y


def hover(page: Page, track: str, depth: int, moment_ns: float) -> None:
    page.mouse.move(*place(page, track, depth, moment_ns))


def click(page: Page, track: str, depth: int, moment_ns: float) -> None:
    page.mouse.click(*place(page, track, depth, moment_ns))


def pixel(page: Page, x: float, y: float) -> tuple[int, int, int]:
    """The colour of the canvas at a place of the page."""
    red, green, blue = page.evaluate(
        """([x, y]) => {
            const { canvas, surface } = npTimeline.current();
            const box = canvas.getBoundingClientRect();
            const [left, top] = [(x - box.x) * surface.ratio, (y - box.y) * surface.ratio];
            return [...surface.context.getImageData(left, top, 1, 1).data];
        }""",
        [x, y],
    )[:3]
    return red, green, blue


def css_color(page: Page, name: str) -> tuple[int, int, int]:
    text = page.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('{name}').trim()")
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def test_the_whole_trace_is_painted_in_the_colours_of_its_categories(page: Page) -> None:
    assert window_of(page) == (0, 10 * MS)
    x, y = place(page, "stream 7", 0, 5.9 * MS)
    painted = pixel(page, x, y)
    base = css_color(page, "--np-cat-compute")
    # a category's colour, or a lighter shade of it: each channel the same share of the way to white
    shares = [(p - b) / (255 - b) for p, b in zip(painted, base, strict=True) if b < 255]
    assert max(shares) - min(shares) < 0.02
    assert pixel(page, place(page, "stream 7", 0, 9.5 * MS)[0], y) == css_color(page, "--np-panel")


def test_a_change_of_scheme_repaints_the_canvas(page: Page) -> None:
    corner = page.locator(CANVAS).bounding_box()
    assert corner is not None
    empty = (corner["x"] + 4, corner["y"] + corner["height"] - 4)
    before = pixel(page, *empty)
    page.evaluate("document.documentElement.setAttribute('data-mantine-color-scheme', 'dark')")
    dark = css_color(page, "--np-panel")
    until(page, "npTimeline.current().theme.panel", f"#{bytes(dark).hex()}")
    settle(page)
    assert before != dark
    assert pixel(page, *empty) == dark


def test_w_and_s_zoom_a_and_d_move(page: Page) -> None:
    page.locator(CANVAS).focus()
    page.keyboard.press("w")
    start, end = window_of(page)
    assert end - start == pytest.approx(6.5 * MS)
    assert (start + end) / 2 == pytest.approx(5 * MS)
    page.keyboard.press("d")
    moved = window_of(page)
    assert moved[0] - start == pytest.approx(0.25 * 6.5 * MS)
    page.keyboard.press("a")
    assert window_of(page) == pytest.approx((start, end))
    page.keyboard.press("s")
    assert window_of(page) == pytest.approx((0, 10 * MS))


def test_the_wheel_with_ctrl_zooms_at_the_pointer(page: Page) -> None:
    hover(page, "main thread", 0, 2 * MS)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    until(page, "npTimeline.current().view.length < 9.9e6")
    start, end = window_of(page)
    assert (2 * MS - start) / (end - start) == pytest.approx(0.2, abs=0.01)


def test_dragging_moves_the_view_and_never_out_of_the_trace(page: Page) -> None:
    page.evaluate("npTimeline.current().view.set(4e6, 6e6)")
    x, y = place(page, "stream 7", 0, 5 * MS)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 5000, y, steps=4)
    page.mouse.up()
    assert window_of(page) == pytest.approx((8 * MS, 10 * MS))


def test_the_tooltip_says_name_and_duration(page: Page) -> None:
    hover(page, "stream 7", 0, 4 * MS)
    expect(page.locator(".np-timeline-tip")).to_contain_text("gemm")
    expect(page.locator(".np-timeline-tip")).to_contain_text("3.00 ms, from 3.00 ms")
    hover(page, "loader thread", 0, 9 * MS)
    expect(page.locator(".np-timeline-tip")).to_contain_text("did not finish, from 8.00 ms")
    page.mouse.move(5, 5)
    expect(page.locator(".np-timeline-tip")).to_be_hidden()


def test_a_counter_is_as_high_as_its_value(page: Page) -> None:
    """1 MB is a third of the height that 3 MB has."""

    def height(moment_ns: float) -> int:
        return page.evaluate(
            """(moment) => {
                const { surface, rows, scroll, theme } = npTimeline.current();
                const row = rows.rows.find((r) => r.track?.name === "allocated");
                const [x, top] = [surface.x(moment), surface.top - scroll + row.counterY];
                const column = surface.context.getImageData(x, top, 1, npTimeline.sizes.COUNTER - 4).data;
                const background = surface.context.getImageData(x, top + 1, 1, 1).data;
                let painted = 0;
                for (let i = 0; i < column.length; i += 4) painted += column[i] !== background[0];
                return painted;
            }""",
            moment_ns,
        )

    assert height(2 * MS) == pytest.approx(height(9 * MS) / 3, abs=1)


def test_the_tooltip_reads_counters_and_instants(page: Page) -> None:
    def at(track: str, part: str, moment_ns: float) -> tuple[float, float]:
        x, y = page.evaluate(
            """([name, part, moment]) => {
                const timeline = npTimeline.current();
                const row = timeline.rows.rows.find((r) => r.track?.name === name);
                const box = timeline.host.getBoundingClientRect();
                const top = box.y + timeline.surface.top - timeline.scroll;
                return [box.x + timeline.surface.x(moment), top + row[part] + 7];
            }""",
            [track, part, moment_ns],
        )
        return x, y

    page.mouse.move(*at("allocated", "counterY", 8 * MS))
    expect(page.locator(".np-timeline-tip")).to_contain_text("3.00 MB")
    page.mouse.move(*at("warnings", "ticksY", 9 * MS))
    expect(page.locator(".np-timeline-tip")).to_contain_text("out of memory soon")


def test_a_click_shows_everything_about_the_slice(page: Page, trace: Trace) -> None:
    click(page, "main thread", 1, 1.5 * MS)
    details = page.locator(DETAILS)
    expect(details.get_by_role("heading", name="aten::linear")).to_be_visible()
    # [1, 4) ms, with a launch of 0.5 ms in it, in a step of 10 ms
    for name, value in {
        "Duration": "3.00 ms",
        "Self time": "2.50 ms",
        "Start": "1.00 ms",
        "Share of parent": "30.0 %",
    }.items():
        expect(details.locator(f"dt:text-is('{name}') + dd")).to_have_text(value)
    expect(details.get_by_title("3,000,000 ns", exact=True)).to_be_visible()
    expect(details.locator(".np-timeline-stack > li")).to_have_text(["model.py(7)", "train.py(3)"])
    expect(details).to_contain_text("<b>bold</b>")
    page.wait_for_url(re.compile(rf"slice={row_of(trace, 'aten::linear')}(&|$)"))


def test_unknown_is_a_dash_and_unfinished_says_so(page: Page) -> None:
    click(page, "loader thread", 0, 9 * MS)
    details = page.locator(DETAILS)
    expect(details.locator("dt:text-is('Duration') + dd")).to_have_text("did not finish")
    expect(details.locator("dt:text-is('Self time') + dd")).to_have_text("–")


def test_bytes_are_shown_with_the_bandwidth_they_make(page: Page) -> None:
    click(page, "stream 7", 0, 7.5 * MS)
    details = page.locator(DETAILS)
    expect(details.locator("dt:text-is('Bytes') + dd")).to_have_text("4.00 MB")
    expect(details.locator("dt:text-is('Bandwidth') + dd")).to_have_text("4.00 GB/s")


def test_flows_lead_from_cause_to_effect_and_back(page: Page) -> None:
    click(page, "main thread", 2, 2.2 * MS)
    details = page.locator(DETAILS)
    expect(details.locator("h3:text-is('Causes')")).to_be_visible()
    details.get_by_role("button", name="gemm").click()
    expect(details.get_by_role("heading", name="gemm")).to_be_visible()
    details.get_by_role("button", name="cudaLaunchKernel").click()
    expect(details.get_by_role("heading", name="cudaLaunchKernel")).to_be_visible()


def test_arrow_keys_walk_from_slice_to_slice(page: Page) -> None:
    click(page, "main thread", 1, 1.5 * MS)
    title = page.locator(f"{DETAILS} h2")
    for key, name in (
        ("ArrowRight", "aten::relu"), ("ArrowLeft", "aten::linear"), ("ArrowDown", "cudaLaunchKernel"),
        ("ArrowUp", "aten::linear"), ("ArrowUp", "train_step#0"),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect(title).to_have_text(name)


def test_a_double_click_zooms_to_the_slice_and_zero_shows_everything(page: Page) -> None:
    page.mouse.dblclick(*place(page, "stream 7", 0, 7.5 * MS))
    # [7, 8) with a tenth on both sides
    assert window_of(page) == pytest.approx((6.9 * MS, 8.1 * MS), rel=1e-5)
    page.keyboard.press("0")
    assert window_of(page) == (0, 10 * MS)


def test_a_measured_range_is_summed_up(page: Page) -> None:
    start, y = place(page, "stream 7", 0, 0.5 * MS)
    end, _ = place(page, "stream 7", 0, 8.5 * MS)
    page.keyboard.down("Shift")
    page.mouse.move(start, y)
    page.mouse.down()
    page.mouse.move(end, y, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    # on the device gemm 3 and the copy 1 ms; on the host, of their own, linear 2.5, relu 1, the launch 0.5 ms
    # and the unfinished wait, which counts without a time
    expect(page.locator(RANGE)).to_contain_text("device 4.00 ms · host 4.00 ms")
    expect(page.locator(RANGE)).to_contain_text("6 slices of 6 names")

    def row(index: int) -> list[str]:
        cells = page.locator(f"{RANGE} .ag-row[row-index='{index}'] [col-id]")
        texts = {cell.get_attribute("col-id"): cell.inner_text().strip() for cell in cells.all()}
        return [texts[name] for name in ("name", "self_ns", "share_ratio", "total_ns", "count", "max_ns")]

    expect(page.locator(f"{RANGE} .ag-row[row-index='2'] [col-id='self_ns']")).to_have_text("2.50 ms")
    assert row(0) == ["gemm", "3.00 ms", "75.0 %", "3.00 ms", "1", "3.00 ms"]
    assert row(1) == ["Memcpy HtoD", "1.00 ms", "25.0 %", "1.00 ms", "1", "1.00 ms"]
    assert row(2) == ["aten::linear", "2.50 ms", "62.5 %", "3.00 ms", "1", "3.00 ms"]
    page.locator(f"{RANGE} .ag-row[row-index='1'] [col-id='name']").click()
    expect(page.locator(".np-timeline-search input")).to_have_value('="Memcpy HtoD"')
    page.locator(f"{RANGE} .ag-row[row-index='2'] [col-id='name']").dblclick()
    expect(page.locator(f"{DETAILS} h2")).to_have_text("aten::linear")
    page.locator(CANVAS).focus()
    page.keyboard.press("Escape")
    expect(page.locator(RANGE)).to_be_hidden()


def test_escape_backs_out_one_level_at_a_time(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("gemm")
    page.keyboard.press("Enter")
    expect(page.locator(f"{DETAILS} h2")).to_have_text("gemm")
    page.locator(CANVAS).focus()
    page.keyboard.press("Escape")
    expect(page.locator(f"{DETAILS} h2")).to_have_count(0)
    expect(page.locator(".np-timeline-search input")).to_have_value("gemm")
    page.keyboard.press("Escape")
    expect(page.locator(".np-timeline-search input")).to_have_value("")


def test_search_counts_and_steps_through_the_hits(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("ATEN")
    expect(page.locator(".np-timeline-search")).to_contain_text("2 slices, 2 names")
    title = page.locator(f"{DETAILS} h2")
    for name in ("aten::linear", "aten::relu", "aten::linear"):
        page.keyboard.press("Enter")
        expect(title).to_have_text(name)
    page.keyboard.type("zzz")
    expect(page.locator(".np-timeline-search")).to_contain_text("no slice fits")


def test_a_process_folds_away_and_a_slice_inside_unfolds_it(page: Page) -> None:
    height = "npTimeline.current().rows.height"
    whole = page.evaluate(height)
    box = page.locator(CANVAS).bounding_box()
    assert box is not None
    top = page.evaluate("npTimeline.current().surface.top")
    page.mouse.click(box["x"] + 14, box["y"] + top + 12)
    assert page.evaluate(height) < whole
    page.keyboard.press("/")
    page.keyboard.type("gemm")  # on the device, which stands first
    page.keyboard.press("Enter")
    until(page, height, whole)


def test_the_address_keeps_the_view_and_opens_it_again(page: Page, url: str, trace: Trace) -> None:
    page.evaluate("npTimeline.current().view.set(2e6, 5e6)")
    page.wait_for_url(re.compile(rf"t0={START_NS + 2 * MS}&t1={START_NS + 5 * MS}"))
    page.goto(f"{url}/timeline?t0={START_NS + 3 * MS}&t1={START_NS + 6 * MS}&slice={row_of(trace, 'gemm')}")
    settle(page)
    expect(page.locator(f"{DETAILS} h2")).to_have_text("gemm")
    assert window_of(page) == (3 * MS, 6 * MS)


def test_leaving_the_page_ends_the_canvas_and_coming_back_begins_a_new_one(page: Page) -> None:
    page.evaluate("window.left = npTimeline.current()")
    page.get_by_role("link", name="Overview").click()
    until(page, "npTimeline.current() === null")
    assert page.evaluate("left.listening.signal.aborted && left.feed.abort === null")
    page.keyboard.press("w")
    page.get_by_role("link", name="Timeline", exact=True).click()
    settle(page)
    assert page.evaluate("npTimeline.current() !== left")
    assert window_of(page) == (0, 10 * MS)


def test_names_from_a_trace_are_text_and_nothing_else(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    page = browser_page(reduced_motion="reduce")
    page.goto(served(explorer_of(hostile(), title="<i>hostile</i>")) + "/timeline")
    settle(page)
    for number, name in enumerate(HOSTILE_NAMES):
        click(page, HOSTILE_NAMES[0], 0, (number + 0.5) * MS)
        shown = name.replace("\u202e", "\\u202e").replace("\u202c", "\\u202c").replace("\ud800", "\\ud800")
        expect(page.locator(f"{DETAILS} h2")).to_have_text(shown, use_inner_text=False)
        expect(page.locator(".np-timeline-tip b")).to_contain_text(shown[:20])
    assert page.evaluate("window.broken") is None
    assert page.locator(f"{CANVAS} img, {CANVAS} script, {DETAILS} img, {DETAILS} script").count() == 0


def test_a_trace_without_anything_to_draw_says_why(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    page = browser_page()
    page.goto(served(explorer_of(TraceBuilder().finish(), title="empty")) + "/timeline")
    expect(page.get_by_text("This trace has no slices, instants or counters")).to_be_visible()


def test_a_server_that_is_gone_is_told_on_the_page(page: Page) -> None:
    page.watch.ignore_console.append("ERR_FAILED")  # type: ignore[attr-defined]
    page.route("**/_trace/*/slices*", lambda route: route.abort())
    page.evaluate("npTimeline.current().view.set(4e6, 4.1e6)")
    expect(page.locator(".np-timeline-problem")).to_have_text(
        "The explorer does not answer. Start it again, then reload the page."
    )


def test_a_failure_of_the_server_is_one_plain_line(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page(reduced_motion="reduce")
    page.watch.ignore_console.append("500 (Internal Server Error)")
    html = "<!doctype html><title>500</title><h1>Internal Server Error</h1>"
    page.route("**/_trace/*/slices*", lambda route: route.fulfill(status=500, content_type="text/html", body=html))
    page.goto(f"{url}/timeline")
    problem = page.locator(".np-timeline-problem")
    expect(problem).to_be_visible()
    expect(problem).to_contain_text("The explorer failed (500)")
    expect(problem).not_to_contain_text("<")


def test_a_timeline_that_cannot_be_loaded_says_what_to_do(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.watch.ignore_console += ["500 (Internal Server Error)", "400 (Bad Request)", "net::ERR_FAILED"]
    answers = [
        (lambda route: route.fulfill(status=500, content_type="text/html", body="<h1>no</h1>"), "Reload the page"),
        (lambda route: route.fulfill(status=400, content_type="text/plain", body="w is odd\n"), "(400): w is odd."),
        (lambda route: route.abort(), "The explorer does not answer. Start it again"),
    ]
    for answer, said in answers:
        page.unroute("**/_trace/*/meta")
        page.route("**/_trace/*/meta", answer)
        page.goto(f"{url}/timeline")
        expect(page.locator(CANVAS)).to_contain_text(said)
        expect(page.locator(CANVAS)).not_to_contain_text("<")


def test_an_address_of_a_slice_that_is_not_there_says_so(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page(reduced_motion="reduce")
    page.goto(f"{url}/timeline?slice=99999999")
    settle(page)
    expect(page.locator(DETAILS)).to_have_text("Slice 99,999,999 is not in this trace.")


def test_the_ruler_has_the_units_of_the_header_and_whole_labels(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread")
    builder["slices"].append(1, track=track, ts_ns=0, dur_ns=2 * 10**18, name=builder.string("very long"))
    page = browser_page(reduced_motion="reduce")
    page.goto(served(explorer_of(builder.finish(), title="long")) + "/timeline")
    settle(page)
    # 2e18 ns are 555,556 h
    drawn = page.evaluate(
        """() => {
            const timeline = npTimeline.current();
            const { surface } = timeline;
            const drawn = [];
            const own = surface.context.fillText;
            surface.context.fillText = (text, x, y) => {
                const room = surface.width - x - surface.context.measureText(text).width;
                if (y > surface.overview && y < surface.overview + surface.ruler) drawn.push([text, room]);
            };
            timeline.draw();
            surface.context.fillText = own;
            return drawn;
        }"""
    )
    assert drawn[0][0] == "555,556 h"
    labels = [text for text, _ in drawn[1:]]
    assert labels[:2] == ["0 h", "100,000 h"] or labels[:3] == ["0 h", "200,000 h", "400,000 h"]
    assert all(room >= 0 and "…" not in text for text, room in drawn)
    moments = "[npTimeline.format.moments([0, 6e11, 12e11], 6e11, true), npTimeline.format.moments([5e8, 1e9], 5e8)]"
    assert page.evaluate(moments) == [["0 min", "10 min", "20 min"], ["0.5 s", "1.0 s"]]


def test_names_without_a_name_and_with_hidden_characters_are_shown_for_what_they_are(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread")
    for number, name in enumerate(("", "a\u202eb")):
        builder["slices"].append(1, track=track, ts_ns=number * MS, dur_ns=MS, name=builder.string(name))
    page = browser_page(reduced_motion="reduce")
    page.goto(served(explorer_of(builder.finish(), title="names")) + "/timeline")
    settle(page)
    for moment, shown in ((0.5 * MS, "(no name)"), (1.5 * MS, "a\\u202eb")):
        click(page, "main", 0, moment)
        expect(page.locator(f"{DETAILS} h2")).to_have_text(shown)
        expect(page.locator(".np-timeline-tip b")).to_have_text(shown)
