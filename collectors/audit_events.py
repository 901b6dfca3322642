"""Python's audit events, for collectors that want to know of some of them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

Listener = Callable[[str, tuple[Any, ...]], None]
"""Called with the name and the arguments of an event, in the thread in which it occurs. Must not raise."""

_listeners: dict[str, tuple[Listener, ...]] = {}
_changes = threading.Lock()
_installed = False


def listen(listener: Listener, events: tuple[str, ...]) -> None:
    """Have the listener called at each of these events (Python docs, "Audit events table").

    An audit hook cannot be removed: the process keeps one, which without a listener costs about 0.1 us for each
    event of any kind. Events are what a program does rarely (it imports, opens, starts a process), and `id()`.
    """
    global _installed
    with _changes:
        for event in events:
            _listeners[event] = (*_listeners.get(event, ()), listener)
        if not _installed:
            sys.addaudithook(_told)
            _installed = True


def unlisten(listener: Listener) -> None:
    """Call the listener no more. No error where it was not called."""
    with _changes:
        for event, others in list(_listeners.items()):
            left = tuple(other for other in others if other != listener)
            if left:
                _listeners[event] = left
            else:
                del _listeners[event]


def _told(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _listeners:
        for listener in _listeners.get(event, ()):
            listener(event, arguments)
