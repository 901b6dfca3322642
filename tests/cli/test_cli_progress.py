"""What a long task says on stderr."""

from __future__ import annotations

import io
import threading

import pytest

from explorer_app.cli import progress
from explorer_app.cli.progress import Progress


class Watched(io.StringIO):
    """A stream that tells when something was written to it."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.written = threading.Event()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        count = super().write(text)
        if text.strip():
            self.written.set()
        return count


@pytest.mark.parametrize("terminal", [False, True])
def test_a_task_that_takes_long_says_how_far_it_is(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Watched(terminal=terminal)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(progress, "_FIRST_AFTER_S", 0.0)
    with Progress("reading \x1b[2Jx") as task:
        task(1, 4)
        assert stream.written.wait(60)
    assert r"reading \x1b[2Jx" in stream.getvalue()
    if not terminal:
        assert stream.getvalue() in ("reading \\x1b[2Jx: 25 %\n", "reading \\x1b[2Jx ...\n")


def test_a_short_task_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Watched(terminal=False)
    monkeypatch.setattr("sys.stderr", stream)
    with Progress("reading") as task:
        task(1, 4)
    assert stream.getvalue() == ""


def test_an_error_in_the_task_ends_the_watching(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Watched(terminal=False))
    task = Progress("reading")
    with pytest.raises(ZeroDivisionError), task:
        _ = 1 / 0
    assert not task._watcher.is_alive()
