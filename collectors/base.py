"""What a source of events is to the session that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from trace_format import Trace, TraceBuilder

Clock = Callable[[], int]
"""Tells the time in unix nanoseconds."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a collector may cost; beyond it, its part of the trace is left out and counted.

    - `rows`: what it may put into the trace, all tables together.
    - `seconds`: how long a single one of its methods is waited for.
    """

    rows: int = 2_000_000
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Window:
    """What a collector may know of the profiler window it is made for.

    - `profile`: the torch.profiler object; None where there is none.
    - `output`: the folder under which the sessions have their directories.
    - `neff_cache_dir`: the folder of compiled NEFFs; None where the user named none.
    - `runtime_folder`: tells, after the window, which folder the device's runtime made for it; None for none.
    """

    profile: Any = None
    output: Path = Path("profile_output")
    neff_cache_dir: Path | None = None
    runtime_folder: Callable[[], Path | None] = lambda: None


class Collector(Protocol):
    """One source of events for one profiler window. A method that raises, hangs or floods costs the window this
    source, no more.

    `start` and `stop` mark the window and are quick; whatever takes time is done in `collect`, after the window.
    Each may be called in a thread of its own. Another package offers one by an entry point of the group
    `neuron_profile.collectors`: a callable that makes one from a `Window`.
    """

    name: str
    budget: Budget
    found: int  # how many events the source had; 0 until `collect` knows

    def start(self, clock: Clock) -> None:
        """Called right after torch's profiler began to record. Times in the trace are those of `clock`."""

    def stop(self) -> None:
        """Called right before torch's profiler stops recording."""

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        """Put everything that was recorded into the builder, which is this collector's own. Called once.

        `host` and `rank` (-1: unknown) go to the tracks. A track with this process's `pid` and no parent comes under
        the process; `builder.metadata["sources"]` is added to the trace's.
        """


@runtime_checkable
class Refining(Protocol):
    """A collector that knows more about what others recorded."""

    def refine(self, trace: Trace) -> Trace:
        """The whole trace of the window with what this collector knows. Called last, after every `collect`."""
