"""The one place where failures of the profiler end instead of reaching the user's training step."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from trace_format.errors import NeuronProfileError

_log = logging.getLogger("neuron_profile")
_logged: set[str] = set()
# What the machine or the user's settings are to blame for: where in our code it came up tells nobody anything.
_EXPLAINED = (NeuronProfileError, OSError, Warning)


class Boundary:
    """Counts what goes wrong in the profiler, logs each cause once per process, and lets the program go on.

    `losses` maps a cause, in plain words, to the events it cost; where that is unknown, to how often it occurred.
    """

    def __init__(self) -> None:
        self.losses: Counter[str] = Counter()

    @contextmanager
    def around(self, what: str, *, events: Callable[[], int] = lambda: 1) -> Iterator[None]:
        """Run the body; an exception in it ends there.

        `what` names the body in the count and in the log. `events` says afterwards how many events were lost.
        """
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the boundary: a profiler must not stop the training
            cause = f"{what} failed: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
            self.losses[cause] += max(events(), 1)
            log_once(f"{cause}; the program goes on without it", error=error)


def log_once(message: str, *, error: Exception | None = None) -> None:
    """Log a warning, in one line unless it is a failure of our own code, unless the same was logged before."""
    if message not in _logged:
        _logged.add(message)
        unexplained = error is not None and not isinstance(error, _EXPLAINED)
        _log.warning("neuron_profile: %s", message, exc_info=error if unexplained else None)
