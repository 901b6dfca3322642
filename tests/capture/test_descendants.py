"""What Linux tells of the processes that this one started, and Python of its audit events."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from collectors import audit_events
from collectors.compiles.descendants import arguments, children, exit_code, process_stat, working_directory

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this is Linux's")
TICK_NS = 10**9 // 100


@pytest.fixture
def child(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has started and waits for its input to end."""
    process = subprocess.Popen(
        ["sh", "-c", "echo started; read line; exit 7"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == b"started\n"
    yield process
    process.communicate(timeout=30)


def test_a_child_is_among_the_children_with_its_program_and_folder(
    child: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    assert child.pid in list(children(os.getpid()))
    assert arguments(child.pid) == ["sh", "-c", "echo started; read line; exit 7"]
    assert working_directory(child.pid) == str(tmp_path)
    stat = process_stat(child.pid)
    assert stat is not None
    assert stat.command == "sh"


def test_a_start_is_true_to_a_tick_of_the_kernel(tmp_path: Path) -> None:
    for _ in range(5):
        before_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        with subprocess.Popen(["sh", "-c", "read line"], stdin=subprocess.PIPE) as process:
            after_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            stat = process_stat(process.pid)
            assert stat is not None
            assert before_ns - TICK_NS <= stat.start_ns <= after_ns


def test_a_process_that_has_gone_has_nothing_to_tell(child: subprocess.Popen[bytes]) -> None:
    child.communicate(timeout=30)
    assert child.pid not in list(children(os.getpid()))
    assert (process_stat(child.pid), arguments(child.pid), working_directory(child.pid)) == (None, [], "")
    assert list(children(child.pid)) == []


def test_an_exit_code_is_told_once_the_parent_has_asked_for_it(child: subprocess.Popen[bytes]) -> None:
    file = os.pidfd_open(child.pid)
    try:
        assert exit_code(file) is None  # it runs
        child.communicate(timeout=30)
        assert exit_code(file) in (7, None)  # None before Linux 6.15
    finally:
        os.close(file)
    assert exit_code(file) is None  # no such file any more


def test_a_listener_hears_its_events_and_no_more_after_it_left(tmp_path: Path) -> None:
    heard: list[Any] = []

    def listener(event: str, told: tuple[Any, ...]) -> None:
        heard.append((event, told[0]))

    def others(event: str, told: tuple[Any, ...]) -> None:
        pass

    audit_events.listen(listener, ("neuron_profile.one", "neuron_profile.two"))
    audit_events.listen(others, ("neuron_profile.two",))
    sys.audit("neuron_profile.one", 1)
    sys.audit("neuron_profile.two", 2)
    sys.audit("neuron_profile.three", 3)
    audit_events.unlisten(listener)
    sys.audit("neuron_profile.one", 4)
    audit_events.unlisten(others)
    audit_events.unlisten(others)
    assert heard == [("neuron_profile.one", 1), ("neuron_profile.two", 2)]
    assert not audit_events._listeners


def test_a_process_has_one_hook_however_often_somebody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks: list[Callable[..., Any]] = []
    monkeypatch.setattr(sys, "addaudithook", hooks.append)
    monkeypatch.setattr(audit_events, "_installed", False)
    for _ in range(3):
        audit_events.listen(print, ("neuron_profile.one",))
        audit_events.unlisten(print)
    assert len(hooks) == 1
