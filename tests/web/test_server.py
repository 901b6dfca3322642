"""Serving: ports, addresses, errors."""

from __future__ import annotations

import _thread
import signal
import socket
import threading
import urllib.request
from collections.abc import Iterator
from urllib.parse import urlsplit

import constructed
import dash
import pytest
from explorer_of import explorer_of

from explorer_app.web.server import serve
from trace_format import NeuronProfileError


@pytest.fixture(scope="module")
def app() -> dash.Dash:
    return explorer_of(constructed.three_steps(), title="three steps")


@pytest.fixture(autouse=True)
def ctrl_c_interrupts() -> Iterator[None]:
    """A shell starts what it runs in the background with Ctrl-C ignored, and the tests may be run so."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class _Visit:
    """Asks for the page from another thread as soon as the server is ready, then presses Ctrl-C."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.pages: list[bytes] = []

    def __call__(self, url: str) -> None:
        self.urls.append(url)
        threading.Thread(target=self._visit, args=(url,), daemon=True).start()

    def _visit(self, url: str) -> None:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                self.pages.append(answer.read())
        finally:
            _thread.interrupt_main()


@pytest.mark.parametrize(
    ("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("localhost", "localhost"), ("0.0.0.0", "127.0.0.1")]
)
def test_port_zero_is_a_free_port_that_is_announced_answers_and_is_let_go_on_ctrl_c(
    app: dash.Dash, host: str, shown: str
) -> None:
    visit = _Visit()
    serve(app, host, 0, on_ready=visit)
    assert len(visit.urls) == 1
    address = urlsplit(visit.urls[0])
    assert address.hostname == shown
    assert address.port
    assert b"Neuron Explorer" in visit.pages[0]
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", address.port), timeout=5)


def test_an_ipv6_address_is_in_brackets(app: dash.Dash) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback address")
    visit = _Visit()
    serve(app, "::1", 0, on_ready=visit)
    assert visit.urls[0].startswith("http://[::1]:")
    assert len(visit.pages) == 1


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_busy_port_is_one_line_that_says_what_to_do(app: dash.Dash, taken_port: int) -> None:
    with pytest.raises(NeuronProfileError) as caught:
        serve(app, "127.0.0.1", taken_port)
    message = str(caught.value)
    assert str(taken_port) in message
    assert "--port" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("host", "port", "cure"),
    [("no such host", 0, "--host"), ("127.0.0.1", 70000, "--port")],
    ids=["no such name", "no such port"],
)
def test_an_address_that_cannot_be_bound_is_one_line(app: dash.Dash, host: str, port: int, cure: str) -> None:
    with pytest.raises(NeuronProfileError) as caught:
        serve(app, host, port)
    assert cure in str(caught.value)
    assert "\n" not in str(caught.value)
