"""Columns that several analyses work out from a trace, worked out once and kept as long as the trace lives."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from trace_format import Trace

Result = TypeVar("Result")


class _Kept:
    """What is known of one trace. The lock is held while a column is worked out: who comes second waits for it."""

    __slots__ = ("lock", "results")

    def __init__(self) -> None:
        self.lock = threading.RLock()  # one column may need another
        self.results: dict[Callable[..., Any], Any] = {}


_of_trace: WeakKeyDictionary[Trace, _Kept] = WeakKeyDictionary()
_lock = threading.Lock()


def kept_with_the_trace(function: Callable[[Trace], Result]) -> Callable[[Trace], Result]:
    """The function as one that works each trace out once; the arrays it returns, in tuples too, are read-only.

    A trace never changes, so neither do they. They are forgotten with the trace.
    """

    @wraps(function)
    def known(trace: Trace) -> Result:
        with _lock:
            kept = _of_trace.setdefault(trace, _Kept())
        with kept.lock:
            if function not in kept.results:
                kept.results[function] = _read_only(function(trace))
            result: Result = kept.results[function]
            return result

    return known


def _read_only(result: Any) -> Any:
    for part in result if isinstance(result, tuple) else (result,):
        if isinstance(part, np.ndarray):
            part.flags.writeable = False
    return result
