"""Waits for a call no longer than it may take."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from trace_format.errors import NeuronProfileError

T = TypeVar("T")


class DeadlineError(NeuronProfileError):
    """A call took longer than it was given. It goes on in its thread; nobody waits for it any more."""


def call_within(seconds: float, function: Callable[..., T], *args: Any, **keywords: Any) -> T:
    """What the function returns; it runs in a thread of its own. Raises what it raises, and DeadlineError.

    A call that would end the program (sys.exit) raises RuntimeError instead: Ctrl-C never comes to this thread.
    """
    outcome: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put((True, function(*args, **keywords)))
        except BaseException as error:  # noqa: BLE001 - raised again where the caller waits
            outcome.put((False, error))

    threading.Thread(target=run, daemon=True, name="neuron_profile").start()
    try:
        done, value = outcome.get(timeout=seconds)
    except queue.Empty:
        raise DeadlineError(f"took longer than {seconds:g} s") from None
    if done:
        result: T = value
        return result
    if not isinstance(value, Exception):
        raise RuntimeError(f"would have ended the program: {value!r}") from value  # noqa: TRY004 - no matter of types
    raise value
