"""Fixtures for tests that look at a served page in a real Chromium (marker `browser`).

`served` serves an app on a free loopback port, `browser_page` opens pages and fails the test afterwards
if the page asked anything of another machine or wrote an error to its console.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from werkzeug.serving import make_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LOOPBACK = {"127.0.0.1", "localhost", "::1"}
TIMEOUT_MS = 20_000
INSIDE_THE_BROWSER = {"about", "data", "blob", "chrome", "chrome-error"}
# No GPU, no sandbox (containers have no user namespaces), and none of Chromium's own errands on the network.
CHROMIUM_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip


@dataclass
class Watch:
    """What a page did that it must not do; `ignore_console` holds texts of errors that a test provokes."""

    foreign_requests: list[str] = field(default_factory=list)
    console_errors: list[str] = field(default_factory=list)
    ignore_console: list[str] = field(default_factory=list)

    def attach(self, page: Page) -> None:
        page.on("request", lambda request: self._request(request.url))
        page.on("console", lambda message: self._console(message.type, message.text))
        page.on("pageerror", lambda error: self._console("error", str(error)))

    def _request(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in INSIDE_THE_BROWSER and (parts.hostname or "") not in LOOPBACK:
            self.foreign_requests.append(url)

    def _console(self, kind: str, text: str) -> None:
        if kind == "error" and not any(known in text for known in self.ignore_console):
            self.console_errors.append(text)

    def check(self) -> None:
        assert self.foreign_requests == [], "the page asked other machines"
        assert self.console_errors == [], "the page wrote errors to its console"


def chromium_path() -> str:
    """The Chromium to drive: `NPROF_CHROMIUM`, else the first on the PATH; empty where there is none."""
    return os.environ.get("NPROF_CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
    )


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One running Chromium for the whole session; its tests are skipped, by name, where there is none."""
    path = chromium_path()
    if not path:
        pytest.skip("NO BROWSER TESTS: no chromium on the PATH; install it or set NPROF_CHROMIUM")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def browser_page(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """`browser_page(width=1280, height=800, **context)` opens a page; `page.watch` is its `Watch`."""
    contexts: list[Any] = []
    watches: list[Watch] = []

    def open_page(width: int = 1280, height: int = 800, **options: Any) -> Page:
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(TIMEOUT_MS)
        contexts.append(context)
        page = context.new_page()
        watch = Watch()
        watch.attach(page)
        watches.append(watch)
        page.watch = watch  # type: ignore[attr-defined]
        return page

    yield open_page
    for context in contexts:
        context.close()
    for watch in watches:
        watch.check()


@pytest.fixture(scope="session")
def served() -> Iterator[Callable[[Any], str]]:
    """`served(app)` serves a Dash or WSGI app until the session ends and returns its URL, without a final slash."""
    servers: list[tuple[Any, threading.Thread]] = []

    def serve(app: Any) -> str:
        server = make_server("127.0.0.1", 0, getattr(app, "server", app), threaded=True)
        thread = threading.Thread(target=server.serve_forever, name="served app", daemon=True)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}"

    yield serve
    for server, thread in servers:
        server.shutdown()
        thread.join(timeout=10)
        server.server_close()
