"""The watch over browser pages notices what a page must not do."""

from __future__ import annotations

import pytest
from browser_fixtures import Watch


@pytest.mark.parametrize("url", ["https://example.com/x.js", "http://127.0.0.1.example.com/", "wss://10.0.0.1/"])
def test_a_request_to_another_machine_fails_the_test(url: str) -> None:
    watch = Watch()
    watch._request(url)
    with pytest.raises(AssertionError, match="other machines"):
        watch.check()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8050/", "http://localhost/", "http://[::1]:80/", "data:,x", "blob:x"]
)
def test_requests_that_stay_here_are_fine(url: str) -> None:
    watch = Watch()
    watch._request(url)
    watch.check()


def test_an_error_on_the_console_fails_the_test_unless_it_was_provoked() -> None:
    watch = Watch(ignore_console=["provoked"])
    watch._console("error", "this was provoked")
    watch._console("log", "all is well")
    watch.check()
    watch._console("error", "undefined is not a function")
    with pytest.raises(AssertionError, match="console"):
        watch.check()
