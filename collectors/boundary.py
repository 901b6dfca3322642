"""The one place where failures of the profiler end instead of reaching the user's training step."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

_log = logging.getLogger("neuron_profile")
_logged: set[str] = set()


class Boundary:
    """Counts what goes wrong in the profiler, logs each cause once per process, and lets the program go on.

    `losses` maps a cause, in plain words, to how often it occurred.
    """

    def __init__(self) -> None:
        self.losses: Counter[str] = Counter()

    @contextmanager
    def around(self, what: str) -> Iterator[None]:
        """Run the body; an exception in it ends there. `what` names the body in the count and in the log."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the boundary: a profiler must not stop the training
            cause = f"{what} failed: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
            self.losses[cause] += 1
            if cause not in _logged:
                _logged.add(cause)
                _log.warning("neuron_profile: %s; the program goes on without it", cause, exc_info=True)
