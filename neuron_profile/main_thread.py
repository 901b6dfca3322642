"""Runs a function in the main thread while a program that knows nothing of it runs there."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

_CALLBACK = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_waiting: dict[int, object] = {}  # what the interpreter will call must live until then


def run_in_main_thread(function: Callable[[], None]) -> bool:
    """Whether the interpreter will call `function` in the main thread, as soon as that runs Python code again.

    No signal is used, so no system call of the program is interrupted. Called from any thread; `function` must not
    raise. False where too much is waiting already.
    """

    def call(_: object) -> int:
        _waiting.pop(id(callback), None)
        function()
        return 0

    callback = _CALLBACK(call)
    _waiting[id(callback)] = callback
    if ctypes.pythonapi.Py_AddPendingCall(callback, None) == 0:
        return True
    del _waiting[id(callback)]
    return False
