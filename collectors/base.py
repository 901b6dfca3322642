"""What a source of events is to the session that runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from trace_format import TraceBuilder


class Collector(Protocol):
    """One source of events for one profiler window. A method that raises costs the window this source, no more.

    `start` and `stop` mark the window and are quick; whatever takes time is done in `collect`, after the window.
    """

    name: str
    found: int  # how many events the source had; 0 until `collect` knows

    def start(self) -> None:
        """Called right after torch's profiler began to record."""

    def stop(self) -> None:
        """Called right before torch's profiler stops recording."""

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        """Put everything that was recorded into the trace being built. Called once, last.

        `host` and `rank` (-1: unknown) go to the tracks.
        """
