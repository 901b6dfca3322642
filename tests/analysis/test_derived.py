"""What analyses share of a trace is worked out once."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from script import Script

from neuron_profile.analysis.derived import kept_with_the_trace
from trace_format import Trace


def test_each_trace_is_worked_out_once_however_many_ask() -> None:
    calls: list[Trace] = []
    all_here = threading.Barrier(4)

    @kept_with_the_trace
    def rows(trace: Trace) -> np.ndarray:
        calls.append(trace)
        return np.arange(len(trace.slices))

    def ask(trace: Trace) -> np.ndarray:
        all_here.wait(timeout=30)
        return rows(trace)

    one, other = Script().trace(), Script().trace()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, [one, one, other, other]))
    assert len(calls) == 2
    assert found[0] is found[1]
    assert found[2] is found[3]


def test_a_column_may_need_another() -> None:
    @kept_with_the_trace
    def inner(trace: Trace) -> int:
        return 1

    @kept_with_the_trace
    def outer(trace: Trace) -> int:
        return inner(trace) + 1

    assert outer(Script().trace()) == 2


def test_arrays_are_read_only() -> None:
    @kept_with_the_trace
    def pair(trace: Trace) -> tuple[np.ndarray, str]:
        return np.zeros(2), "text"

    with pytest.raises(ValueError, match="read-only"):
        pair(Script().trace())[0][0] = 1


def test_what_is_kept_goes_with_its_trace() -> None:
    @kept_with_the_trace
    def column(trace: Trace) -> np.ndarray:
        return np.zeros(3)

    trace = replace(Script().trace())
    kept = weakref.ref(column(trace))
    assert kept() is not None
    del trace
    gc.collect()
    assert kept() is None


def test_what_fails_is_tried_again() -> None:
    attempts: list[int] = []

    @kept_with_the_trace
    def column(trace: Trace) -> int:
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError("no")
        return 7

    trace = Script().trace()
    with pytest.raises(ValueError, match="no"):
        column(trace)
    assert column(trace) == 7
