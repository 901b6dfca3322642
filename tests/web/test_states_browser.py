"""Every page says that it is being worked out, that something failed, and that the server is gone."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import Any

import constructed
import pytest
from explorer_of import explorer_of
from playwright.sync_api import Page, Route, expect
from werkzeug.serving import make_server

from explorer_app.web.pages import PAGES
from explorer_app.web.view import View

pytestmark = pytest.mark.browser

SWITCH = "**/_dash-update-component?*"
LOST = "#np-lost"


def go_to(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=name, exact=True).click()


@pytest.fixture(scope="module")
def url(served: Callable[[Any], str]) -> str:
    return served(explorer_of(constructed.three_steps(), title="three_steps.json"))


def test_a_page_that_takes_long_says_which_it_is_and_hides_the_last_one(
    browser_page: Callable[..., Page], url: str
) -> None:
    held: list[Route] = []
    is_slow = False

    def hold(route: Route) -> None:
        if is_slow:
            held.append(route)
        else:
            route.continue_()

    page = browser_page()
    page.route(SWITCH, hold)
    page.goto(url)
    expect(page.locator("main h1")).to_have_text(PAGES[0].question)
    page.wait_for_load_state("networkidle")
    for where in PAGES[1:]:
        is_slow = True
        go_to(page, where.name)
        expect(page.locator("#np-busy")).to_be_visible()
        expect(page.locator("#np-busy")).to_have_text(f"Working out {where.name}…")
        expect(page.locator("#np-page > *")).to_have_css("opacity", "0")
        is_slow = False
        for route in held:
            route.continue_()
        held.clear()
        expect(page.locator("main h1")).to_have_text(where.question)
        expect(page.locator("#np-busy")).to_be_hidden()
        expect(page.locator("#np-page > *")).to_have_css("opacity", "1")


def test_a_page_that_fails_says_what_to_do_and_the_others_are_one_click_away(
    browser_page: Callable[..., Page], served: Callable[[Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: View) -> Any:
        raise ZeroDivisionError("a secret of the program")

    monkeypatch.setattr("explorer_app.web.app.PAGES", tuple(dataclasses.replace(each, layout=fail) for each in PAGES))
    page = browser_page()
    page.goto(served(explorer_of(constructed.three_steps(), title="three_steps.json")))
    for where in PAGES:
        go_to(page, where.name)
        expect(page.locator("main h1")).to_have_text(where.question)
        told = page.locator("#np-page .np-error")
        expect(told).to_contain_text(f"{where.name} could not be worked out")
        expect(told).to_contain_text("log of the terminal")
        expect(page.locator("body")).not_to_contain_text("secret")
        expect(page.locator("#np-busy")).to_be_hidden()


def test_a_server_that_is_gone_is_told_on_every_page_until_it_answers(browser_page: Callable[..., Page]) -> None:
    app = explorer_of(constructed.three_steps(), title="three_steps.json")
    server = make_server("127.0.0.1", 0, app.server, threaded=True)
    port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = browser_page(reduced_motion="reduce")
    page.watch.ignore_console += ["ERR_CONNECTION", "Failed to fetch", "Callback failed"]
    page.goto(f"http://127.0.0.1:{port}")
    expect(page.locator("main h1")).to_have_text(PAGES[0].question)
    page.wait_for_load_state("networkidle")
    server.shutdown()
    server.server_close()
    for where in PAGES[1:]:
        go_to(page, where.name)
        expect(page.locator(LOST)).to_contain_text("does not answer any more: start it again in the terminal")
        expect(page.locator("#np-busy")).to_be_hidden()
        expect(page).to_have_url(f"http://127.0.0.1:{port}{where.path}")
    again = make_server("127.0.0.1", port, app.server, threaded=True)
    threading.Thread(target=again.serve_forever, daemon=True).start()
    go_to(page, PAGES[0].name)
    expect(page.locator("main h1")).to_have_text(PAGES[0].question)
    expect(page.locator(LOST)).to_be_hidden()
    again.shutdown()
    again.server_close()


def test_a_part_that_fails_is_told_in_the_words_of_the_server(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.watch.ignore_console += ["500", "Callback error", "Callback failed"]
    page.goto(url)
    page.wait_for_load_state("networkidle")
    line = "this could not be worked out; what happened is in the log of the terminal that serves it"
    page.route(SWITCH, lambda route: route.fulfill(status=500, body=f"{line}\n", content_type="text/plain"))
    go_to(page, PAGES[2].name)
    expect(page.locator(LOST)).to_have_text(f"A part of this page is missing: {line}.")
