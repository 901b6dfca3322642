"""Results are worked out once for each trace."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import constructed
import pytest

from explorer_app.web.numbers import once


def test_the_same_question_about_the_same_trace_is_worked_out_once() -> None:
    asked: list[Any] = []

    def answer(trace: Any, by: str = "name") -> str:
        asked.append((trace, by))
        return by

    one, other = constructed.empty(), constructed.empty()
    assert [once(answer, one, by="a"), once(answer, one, by="a"), once(answer, one, by="b")] == ["a", "a", "b"]
    assert once(answer, other, by="a") == "a"
    assert [by for _, by in asked] == ["a", "b", "a"]


def test_requests_that_come_together_wait_for_the_first() -> None:
    trace = constructed.empty()
    started, go_on = threading.Event(), threading.Event()
    calls: list[int] = []

    def slow(_: Any) -> int:
        calls.append(1)
        started.set()
        assert go_on.wait(10)
        return 42

    results: list[int] = []
    threads = [threading.Thread(target=lambda: results.append(once(slow, trace))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert started.wait(10)
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert results == [42] * 4
    assert len(calls) == 1


def test_a_failure_is_raised_each_time_and_not_remembered() -> None:
    trace = constructed.empty()
    outcomes = [ValueError("first"), None]

    def shaky(_: Any) -> str:
        problem = outcomes.pop(0)
        if problem:
            raise problem
        return "fine"

    with pytest.raises(ValueError, match="first"):
        once(shaky, trace)
    assert once(shaky, trace) == "fine"


def test_a_trace_that_is_no_longer_used_is_let_go() -> None:
    trace = constructed.empty()
    once(lambda _: 1, trace)
    gone = weakref.ref(trace)
    del trace
    gc.collect()
    assert gone() is None
