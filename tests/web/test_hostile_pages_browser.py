"""A trace whose every text is an attack, and files of such names: nothing runs and nothing becomes markup."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from constructed import HOSTILE, MS, START_NS
from playwright.sync_api import Page, expect

from explorer_app.web.app import create_app
from explorer_app.web.library import Library
from explorer_app.web.opening.folders import Folders
from explorer_app.web.opening.routes import register_opening
from explorer_app.web.pages import PAGES
from neuron_profile import load
from trace_format import CATEGORIES, Trace, TraceBuilder, write_trace

pytestmark = pytest.mark.browser

ATTACKS = (
    *HOSTILE,
    "<img src=x onerror=document.title='run'>",
    "\\u003cscript\\u003e",
    "<b>bold</b>",
    "a\x00\u202eb\x1b[31m",
)
SLOW_MS = 90_000
# What each attack would leave in the page, had it become markup.
MARKUP = """() => [...document.querySelectorAll(
    'img[src=x], svg[onload], [onerror], [onload], a[href*="//example.com"], a[href^="javascript" i], main b b')]
    .map((e) => e.outerHTML.slice(0, 100))"""


def hostile_job() -> Trace:
    """Two ranks; every category, step, module, file, argument, device, counter and instant is named by an attack."""
    builder = TraceBuilder()
    attack = itertools.cycle(ATTACKS)
    builder.metadata.update(
        host=next(attack), device_model=next(attack), created_by=next(attack), schedule={next(attack): next(attack)}
    )
    for rank in range(2):
        tracks = [
            builder.track(
                f"{kind} {next(attack)}", kind=kind, pid=rank, rank=rank, **({"device": 0} if kind == "stream" else {})
            )
            for kind in ("host_thread", "stream")
        ]
        for number, category in enumerate(CATEGORIES):
            args = {next(attack): next(attack), "Module Hierarchy": next(attack), "Collective name": next(attack)}
            args |= {"reason": next(attack), "graph": next(attack), "Input Dims": [next(attack)], "file": next(attack)}
            stack = builder.pool.stack_id([f"{next(attack)}(7)", f"{next(attack)}.py(9): {next(attack)}"])
            for track in tracks:
                builder["slices"].append(
                    1, ts_ns=START_NS + number * MS, dur_ns=MS // 2, track=track, name=builder.string(next(attack)),
                    category=CATEGORIES.index(category), bytes=1000 * (number + 1), stack=stack,
                    args=builder.pool.arg_sets.id(json.dumps(args).encode()),
                )  # fmt: skip
        for step in range(3):
            builder["slices"].append(
                1, ts_ns=START_NS + step * 5 * MS, dur_ns=5 * MS, track=tracks[0],
                category=CATEGORIES.index("annotation"), name=builder.string(f"ProfilerStep#{step}"),
            )  # fmt: skip
        counter = builder.track(next(attack), kind="counter", rank=rank)
        builder["counters"].append(2, ts_ns=[START_NS, START_NS + MS], track=counter, value=[1.0, 2.0])
        builder["instants"].append(1, ts_ns=START_NS + MS, track=tracks[0], name=builder.string(next(attack)))
        builder["memory"].append(
            1, ts_ns=START_NS, device=builder.string(next(attack)), delta_bytes=5, total_bytes=5, track=tracks[0]
        )
    builder.report.source_events = 100
    builder.report.left_out[next(attack)] = 1
    builder.report.repaired[next(attack)] = 1
    return builder.finish()


@pytest.fixture(scope="module")
def url(served: Callable[[Any], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("files")
    for name in ("<img src=x onerror=alert(5)>.pb", "'><svg onload=alert(6)>.json"):
        write_trace(hostile_job(), folder / name)
    library = Library.holding(hostile_job(), title=ATTACKS[1])
    library.add(hostile_job(), title=ATTACKS[6])
    app = create_app(library)
    register_opening(app.server, library, Folders([folder]), lambda path, _: load(path, cache=False))
    return served(app)


def watched(page: Page) -> list[str]:
    """The dialogs that a script of an attack opens, as they come."""
    dialogs: list[str] = []

    def shown(dialog: Any) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", shown)
    return dialogs


@pytest.mark.parametrize("where", PAGES, ids=lambda page: page.name)
def test_no_page_takes_a_text_for_markup(browser_page: Callable[..., Page], url: str, where: Any) -> None:
    page = browser_page(reduced_motion="reduce")
    dialogs = watched(page)
    page.goto(url + where.path)
    expect(page.locator("main h1")).to_have_text(where.question)
    page.wait_for_load_state("networkidle")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    row = page.locator(".ag-center-cols-container .ag-row").first
    if row.is_visible():
        row.click()  # what is said about it
    for text in page.locator("main [title]").all()[:10]:
        if text.is_visible():
            text.hover()
    page.wait_for_load_state("networkidle")
    assert page.evaluate(MARKUP) == []
    assert dialogs == []
    expect(page).to_have_title(f"{where.name} – {ATTACKS[1]} – Neuron Explorer")


def test_the_timeline_tells_every_slice_as_text(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page(reduced_motion="reduce")
    dialogs = watched(page)
    for row in range(0, 2 * len(CATEGORIES), 5):
        page.goto(f"{url}/timeline?slice={row}")
        expect(page.locator("#np-timeline-details h2")).to_be_visible(timeout=SLOW_MS)
        assert page.evaluate(MARKUP) == []
    assert dialogs == []


def test_the_dialog_tells_files_and_open_traces_as_text(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    dialogs = watched(page)
    page.goto(url)
    page.get_by_role("button", name="Open another trace").click()
    expect(page.locator("#np-open")).to_contain_text("<img src=x onerror=alert(5)>.pb")
    expect(page.locator("#np-open")).to_contain_text(ATTACKS[6])
    assert page.evaluate(MARKUP) == []
    page.get_by_role("button", name="<img src=x onerror=alert(5)>.pb").click()
    expect(page.locator("#np-file")).to_have_text("<img src=x onerror=alert(5)>.pb")
    assert page.evaluate(MARKUP) == []
    assert dialogs == []


def test_a_hostile_address_is_told_as_text(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.watch.ignore_console.append("404")  # type: ignore[attr-defined]
    dialogs = watched(page)
    for address in (
        "/<img src=x onerror=alert(7)>", "/?trace=<img src=x onerror=alert(8)>", "/#<img src=x onerror=alert(10)>",
        "/source?file=<svg onload=alert(9)>", "/hotspots?by=<svg onload=alert(11)>",
    ):  # fmt: skip
        page.goto(url + address)
        expect(page.locator("main h1")).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert page.evaluate(MARKUP) == []
    assert dialogs == []
