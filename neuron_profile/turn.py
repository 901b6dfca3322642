"""Who may record now: torch can run one profiler per process; a second one crashes or empties the first."""

from __future__ import annotations

import os
import threading
import weakref


class Turn:
    """At most one holder at a time in this process. A holder that is garbage collected holds nothing any more."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Nobody has the turn. Also for a process just forked off, which does not run its parent's session."""
        self._lock = threading.Lock()
        self._holder: weakref.ref[object] | None = None

    def take(self, holder: object) -> bool:
        """Whether `holder` has the turn now; True too if it had it already. Never waits for the turn."""
        with self._lock:
            current = self._holder() if self._holder is not None else None
            if current is not None and current is not holder:
                return False
            self._holder = weakref.ref(holder)
            return True

    def give_back(self, holder: object) -> None:
        """Free the turn, if `holder` has it."""
        with self._lock:
            if self._holder is not None and self._holder() is holder:
                self._holder = None

    def holder(self) -> object | None:
        """Who has the turn; None where nobody has."""
        with self._lock:
            return self._holder() if self._holder is not None else None


turn = Turn()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=turn.reset)
