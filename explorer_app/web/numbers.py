"""Remembers what analysis worked out for a trace, so that a second visit to a page costs nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from trace_format import Trace

R = TypeVar("R")


class _Slot:
    """One result, worked out by the first request that asks while the others wait."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.results: list[Any] = []


_slots: WeakKeyDictionary[Trace, dict[Hashable, _Slot]] = WeakKeyDictionary()
_lock = threading.Lock()


def once(function: Callable[..., R], trace: Trace, **arguments: Hashable) -> R:
    """`function(trace, **arguments)`, called once for a trace and these arguments for as long as the trace lives.

    The result is shared between requests: never change it. An exception is raised anew on each call.
    """
    key = (function, tuple(sorted(arguments.items())))
    with _lock:
        slot = _slots.setdefault(trace, {}).setdefault(key, _Slot())
    with slot.lock:
        if not slot.results:
            slot.results.append(function(trace, **arguments))
        return slot.results[0]
