"""Finding, colouring, noting and keeping what the timeline shows, as a reader does it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from explorer_of import explorer_of
from one_step import HOSTILE_NAMES, MS, START_NS, one_step, row_of
from playwright.sync_api import Page, expect
from test_timeline_browser import CANVAS, DETAILS, css_color, hover, pixel, place, settle, until, window_of

from explorer_app.web.app import create_app
from explorer_app.web.library import Library
from trace_format import CATEGORIES, Trace, TraceBuilder

pytestmark = pytest.mark.browser

FIELD = ".np-timeline-search input"
STATUS = ".np-timeline-search [role=status]"
NOTES = ".np-timeline-notes"
HITS = "npTimeline.current().search.query"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return one_step()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "run.pb"
    path.write_bytes(b"a trace")
    return path


@pytest.fixture(scope="module")
def url(served: Callable[[Any], str], trace: Trace, file: Path) -> str:
    library = Library()
    library.add(trace, title="one step", paths=(file,))
    return served(create_app(library))


@pytest.fixture
def page(browser_page: Callable[..., Page], url: str) -> Page:
    page = browser_page(reduced_motion="reduce")
    page.goto(f"{url}/timeline")
    settle(page)
    return page


def look_for(page: Page, text: str) -> None:
    page.keyboard.press("/")
    page.locator(FIELD).fill(text)
    until(page, HITS, text)
    settle(page)


def under(page: Page, track: str, depth: int, moment_ns: float) -> tuple[int, int, int]:
    """The colour in the gap under a bar: eight pixels below its middle."""
    x, y = place(page, track, depth, moment_ns)
    return pixel(page, x, y + 9)


def test_all_finds_are_marked_on_the_canvas_and_in_the_overview(page: Page) -> None:
    bar = place(page, "stream 7", 0, 5.9 * MS)
    compute = pixel(page, *bar)
    look_for(page, "track:trainer cat:host_op 1ms..3ms")
    # linear lasts 3 ms and relu 1; the wait did not finish
    expect(page.locator(STATUS)).to_have_text("2 slices, 2 names")
    mark, panel = css_color(page, "--np-found"), css_color(page, "--np-panel")
    assert under(page, "main thread", 1, 1.5 * MS) == under(page, "main thread", 1, 6.5 * MS) == mark
    assert under(page, "stream 7", 0, 5.9 * MS) == panel
    faded = pixel(page, *bar)
    assert all(0 < (255 - f) / (255 - c) < 0.3 for f, c in zip(faded, compute, strict=True) if c < 200)
    x, _ = place(page, "main thread", 1, 3 * MS)
    top = page.locator(CANVAS).bounding_box()["y"]  # type: ignore[index]
    assert pixel(page, x, top + 3) == mark
    assert pixel(page, place(page, "main thread", 1, 5 * MS)[0], top + 3) != mark
    page.locator(CANVAS).focus()
    for key, said, name in (
        ("n", "1 of 2 slices", "aten::linear"), ("n", "2 of 2 slices", "aten::relu"),
        ("n", "1 of 2 slices", "aten::linear"), ("p", "2 of 2 slices", "aten::relu"),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect(page.locator(STATUS)).to_contain_text(said)
        expect(page.locator(f"{DETAILS} h2")).to_have_text(name)


def test_a_query_that_cannot_be_meant_says_why_and_shows_everything(page: Page) -> None:
    page.watch.ignore_console.append("400 (BAD REQUEST)")  # type: ignore[attr-defined]
    look_for(page, "gemm")
    page.locator(FIELD).fill("cat:matmul")
    expect(page.locator(STATUS)).to_contain_text('"matmul" is no category')
    expect(page.locator(FIELD)).to_have_attribute("aria-invalid", "true")
    assert under(page, "stream 7", 0, 5.5 * MS) == css_color(page, "--np-panel")
    expect(page.locator("#np-timeline-search-help")).to_be_visible()
    page.locator(FIELD).fill("/ge.m/")
    expect(page.locator(STATUS)).to_have_text("1 slice, 1 name")
    page.keyboard.press("Escape")
    expect(page.locator("#np-timeline-search-help")).to_be_hidden()


def test_a_find_among_slices_that_are_drawn_as_one_is_marked_and_counted(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread")
    # 4,000 slices of 1 us, one after the other; the 2,000th to the 2,003rd are needles
    names = [builder.string("needle" if 2000 <= i < 2004 else "hay") for i in range(4000)]
    builder["slices"].append(4000, track=track, ts_ns=[i * 1000 for i in range(4000)], dur_ns=1000, name=names)
    page = browser_page(reduced_motion="reduce")
    page.goto(served(explorer_of(builder.finish(), title="hay")) + "/timeline")
    settle(page)
    look_for(page, "=needle")
    expect(page.locator(STATUS)).to_have_text("4 slices, 1 name")
    marked = page.evaluate(
        """() => {
            const { feed, search } = npTimeline.current();
            const { blocks } = feed;
            const held = [...blocks.found].map((n, i) => [n, blocks.slices[i], search.marks(blocks, i)]);
            return held.filter(([n]) => n > 0);
        }"""
    )
    assert sum(found for found, _, _ in marked) == 4
    assert all(slices > found and is_marked for found, slices, is_marked in marked)
    assert under(page, "main", 0, 2_002_000) == css_color(page, "--np-found")
    hover(page, "main", 0, 2_002_000)
    expect(page.locator(".np-timeline-tip")).to_contain_text("of them found")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_slices_are_coloured_by_the_share_of_the_device(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    until(page, "document.documentElement.getAttribute('data-mantine-color-scheme')", scheme)
    page.get_by_label("Colour by").select_option(label="device share")
    expect(page.locator(".np-timeline-legend:visible")).to_contain_text("25 to 50 %")
    until(page, "npTimeline.current().feed.blocks.asked.color", "share")
    settle(page)
    # gemm works 3 ms for linear, which lasts 3, in a step of 10; for relu the device does nothing
    for depth, moment, color in ((0, 5 * MS, "share-2"), (1, 3.9 * MS, "share-5"), (1, 6.9 * MS, "share-0")):
        assert pixel(page, *place(page, "main thread", depth, moment)) == css_color(page, f"--np-{color}")
    assert pixel(page, *place(page, "stream 7", 0, 5.9 * MS)) == css_color(page, "--np-cat-other")
    page.get_by_label("Colour by").select_option(label="category")
    expect(page.locator(".np-timeline-legend:visible")).to_contain_text("compute")


def test_a_copied_link_opens_exactly_what_was_shown(
    page: Page, browser_page: Callable[..., Page], trace: Trace
) -> None:
    look_for(page, '="Memcpy HtoD"')
    page.get_by_label("Colour by").select_option(label="name")
    page.evaluate(
        """() => {
            const timeline = npTimeline.current();
            timeline.toggle(timeline.rows.rows.find((row) => row.process?.name === "trainer"));
            timeline.select(6);
            timeline.view.set(2e6, 6e6);
        }"""
    )
    page.wait_for_url(f"**t0={START_NS + 2 * MS}&t1={START_NS + 6 * MS}*")
    until(page, "new URLSearchParams(location.search).get('slice')", "6")
    copied = page.url
    other = browser_page(reduced_motion="reduce")
    other.goto(copied)
    settle(other)
    expect(other.locator(FIELD)).to_have_value('="Memcpy HtoD"')
    expect(other.locator(STATUS)).to_contain_text("1 slice")
    expect(other.get_by_label("Colour by")).to_have_value("name")
    expect(other.locator(f"{DETAILS} h2")).to_have_text("Memcpy HtoD")
    assert row_of(trace, "Memcpy HtoD") == 6
    # the selected slice lies in [7, 8), out of sight, and stays there
    assert window_of(other) == (2 * MS, 6 * MS)
    folded = "npTimeline.current().rows.rows.filter((row) => row.folded).map((row) => row.process.name)"
    assert other.evaluate(folded) == ["trainer"]
    assert other.url == copied


def test_the_back_button_undoes_jumps_and_not_every_movement(page: Page) -> None:
    page.evaluate("npTimeline.current().view.set(0, 2e6)")
    page.wait_for_url("**t0=*")
    page.evaluate("npTimeline.current().view.set(0, 1e6)")
    until(page, f"location.search.includes('t1={START_NS + MS}')")
    look_for(page, "gemm")
    page.keyboard.press("Enter")
    title = page.locator(f"{DETAILS} h2")
    expect(title).to_have_text("gemm")
    until(page, "npTimeline.current().view.start > 1e6")
    page.locator(FIELD).fill("relu")
    until(page, HITS, "relu")
    page.keyboard.press("Enter")
    expect(title).to_have_text("aten::relu")
    page.locator(CANVAS).focus()
    for _ in range(3):
        page.keyboard.press("f")  # the second and the third change nothing
    until(page, "Math.round(npTimeline.current().view.start)", round(5.9 * MS))
    page.go_back()
    until(page, "npTimeline.current().view.start", 6 * MS)
    expect(title).to_have_text("aten::relu")
    page.go_back()
    expect(title).to_have_text("gemm")
    expect(page.locator(FIELD)).to_have_value("relu")  # typed before the second jump
    page.go_back()
    expect(title).to_have_count(0)
    until(page, "npTimeline.current().view.end", MS)
    page.go_forward()
    expect(title).to_have_text("gemm")


def test_a_note_is_written_shown_changed_and_deleted(page: Page, url: str, file: Path) -> None:
    beside = file.with_name("run.pb.notes.json")
    hover(page, "stream 7", 0, 5 * MS)
    page.keyboard.press("m")
    page.keyboard.type(HOSTILE_NAMES[1])
    page.keyboard.press("Enter")
    note = page.locator(f"{NOTES} li")
    expect(note).to_contain_text(HOSTILE_NAMES[1])
    expect(page.locator(NOTES)).to_contain_text("Kept beside the trace in run.pb.notes.json.")
    (kept,) = json.loads(beside.read_text())["notes"]
    assert (kept["text"], kept["end_ns"]) == (HOSTILE_NAMES[1], None)
    pixel_ns = 10 * MS / page.evaluate("npTimeline.current().surface.plotWidth")
    assert abs(kept["start_ns"] - START_NS - 5 * MS) <= pixel_ns
    # a range: what is measured
    page.evaluate("npTimeline.current().range = { start: 2e6, end: 4e6 }")
    page.locator(CANVAS).focus()
    page.keyboard.press("m")
    page.keyboard.type("slow start")
    page.keyboard.press("Enter")
    expect(note).to_have_count(2)
    expect(note.first).to_contain_text("2.00 ms from 2.00 ms")
    page.goto(f"{url}/timeline")
    settle(page)
    expect(note).to_have_count(2)
    settle(page)
    flag = css_color(page, "--np-note")
    box = page.locator(CANVAS).bounding_box()
    assert box is not None
    ruler = page.evaluate("npTimeline.current().surface.overview + npTimeline.current().surface.ruler")
    assert pixel(page, place(page, "stream 7", 0, 3.9 * MS)[0], box["y"] + ruler - 5) == flag
    note.first.get_by_role("button", name="Edit").click()
    page.keyboard.type(": warm up")
    page.keyboard.press("Enter")
    expect(note.first).to_contain_text("slow start: warm up")
    note.first.get_by_title("Show it").click()
    until(
        page,
        "[npTimeline.current().view.start, npTimeline.current().view.end].join()",
        f"{1.8 * MS:.0f},{4.2 * MS:.0f}",
    )
    # what somebody else wrote meanwhile is shown, not overwritten
    told = json.loads(beside.read_text())
    told["version"] += 1
    told["notes"][0] |= {"text": "theirs", "version": told["version"]}
    beside.write_text(json.dumps(told))
    page.watch.ignore_console.append("409 (CONFLICT)")  # type: ignore[attr-defined]
    note.first.get_by_role("button", name="Delete").click()
    expect(page.locator(f"{NOTES} [role=alert]")).to_contain_text("changed or deleted elsewhere")
    expect(note.first).to_contain_text("theirs")
    for left in (1, 0):
        note.first.get_by_role("button", name="Delete").click()
        expect(note).to_have_count(left)
    assert json.loads(beside.read_text())["notes"] == []
    assert page.evaluate("window.broken") is None


def test_what_is_visible_is_saved_as_csv(page: Page) -> None:
    page.evaluate(
        """() => {
            const timeline = npTimeline.current();
            timeline.toggle(timeline.rows.rows.find((row) => row.process?.name === "trainer"));
            timeline.view.set(5e6, 9e6);
        }"""
    )
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the visible slices as CSV").click()
    with Path(saved.value.path()).open(newline="") as text:
        rows = list(csv.DictReader(text))
    # gemm ends at 6 ms, the copy begins at 7; the trainer's tracks are folded away
    assert [(row["name"], row["dur_ns"]) for row in rows] == [("gemm", str(3 * MS)), ("Memcpy HtoD", str(MS))]
    assert saved.value.suggested_filename == "slices.csv"


def test_the_key_help_names_every_key_of_the_timeline(page: Page) -> None:
    page.keyboard.press("?")
    shown = page.locator("#np-keys")
    for keys in ("W S", "A D", "/", "M", "F", "0", "N P", "← →", "↑ ↓", "Esc", "?"):
        expect(shown.locator("kbd:visible", has_text=keys).first).to_be_visible()
    page.keyboard.press("?")
    # the browser's own keys stay the browser's
    handled = page.evaluate(
        """() => ["f", "n", "p", "w", "s", "d", "a", "m"].filter((key) => {
            const event = new KeyboardEvent("keydown", { key, ctrlKey: true, bubbles: true, cancelable: true });
            document.body.dispatchEvent(event);
            return event.defaultPrevented;
        })"""
    )
    assert handled == []


def test_modules_are_told_apart_by_colour(browser_page: Callable[..., Page], served: Callable[[Any], str]) -> None:
    builder = TraceBuilder()
    main = builder.track("main", kind="host_thread", pid=1, tid=1)
    for number, name in enumerate(("nn.Module: Linear_0", "nn.Module: ReLU_0", "plain")):
        builder["slices"].append(
            1, track=main, ts_ns=number * MS, dur_ns=MS, name=builder.string(name), category=CATEGORIES.index("python")
        )
    page = browser_page(reduced_motion="reduce")
    page.goto(served(explorer_of(builder.finish(), title="modules")) + "/timeline?color=module")
    settle(page)
    expect(page.locator(".np-timeline-legend:visible")).to_contain_text("Linear_0")
    until(page, "npTimeline.current().feed.blocks.asked.color", "module")
    settle(page)
    linear, relu, plain = (pixel(page, *place(page, "main", 0, (at + 0.95) * MS)) for at in range(3))
    hues = [css_color(page, f"--np-hue-{number}") for number in range(16)]
    assert linear in hues
    assert relu in hues
    assert linear != relu
    assert plain == css_color(page, "--np-cat-other")
