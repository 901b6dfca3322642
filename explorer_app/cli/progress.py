"""How far a long task is, on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from explorer_app.reporters.visible import visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_FIRST_AFTER_S = 1.0
_LINE_EVERY_S = 10.0


class Progress:
    """Shows a task that takes longer than a second. Call it with (done, total), in bytes, when that is known."""

    def __init__(self, what: str) -> None:
        self._what = visible(what)
        self._done, self._total = 0, 0
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="progress", daemon=True)

    def __call__(self, done: int, total: int) -> None:
        self._done, self._total = done, total

    def __enter__(self) -> Self:
        self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        self._watcher.join()

    def _watch(self) -> None:
        if self._ended.wait(_FIRST_AFTER_S):
            return
        if sys.stderr.isatty():
            self._draw()
            return
        self._print()
        while not self._ended.wait(_LINE_EVERY_S):
            self._print()

    def _draw(self) -> None:
        with _bar() as bar:
            task = bar.add_task(self._what, total=None)
            while not self._ended.wait(0.1):
                bar.update(task, completed=self._done, total=self._total or None)

    def _print(self) -> None:
        share = f": {100 * self._done // self._total} %" if self._total else " ..."
        print(f"{self._what}{share}", file=sys.stderr, flush=True)  # noqa: T201


def _bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
