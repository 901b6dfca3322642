"""A second profiler at the same time does not start, harms nobody, and says so."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Python = Callable[..., "subprocess.CompletedProcess[str]"]

HEADER = """
import gc, json, threading, warnings
from pathlib import Path
import torch
from torch.profiler import profile, ProfilerActivity, schedule
from neuron_profile import NeuronConfig
from trace_format import read_trace
CPU = [ProfilerActivity.CPU]
warnings.simplefilter("always")
outer, inner = NeuronConfig(profile_output_dir="outer"), NeuronConfig(profile_output_dir="inner")
def work():
    return torch.ones(4, 4) @ torch.ones(4, 4)
def matmuls(config):
    return read_trace(config.trace_path).slices.text("name").count("aten::mm")
"""


def test_nested_profiles_record_the_outer_one(python: Python):
    done = python(
        "-c",
        HEADER
        + """
with profile(activities=CPU, experimental_config=outer):
    work()
    with profile(activities=CPU, experimental_config=inner) as second:
        work()
    work()
assert matmuls(outer) == 3, matmuls(outer)
assert inner.trace_path is None
assert len(second.events()) == 0
print(second.key_averages().table())
second.export_chrome_trace("second.json")
assert json.loads(Path("second.json").read_text())["traceEvents"] == []
with profile(activities=CPU, experimental_config=inner):
    work()
assert matmuls(inner) == 1
""",
    )
    assert "already running" in done.stderr


def test_a_second_thread_does_not_start_while_the_first_records(python: Python):
    done = python(
        "-c",
        HEADER
        + """
def second():
    plan = schedule(wait=0, warmup=0, active=1, repeat=2)
    with profile(activities=CPU, experimental_config=inner, schedule=plan) as prof:
        for _ in range(2):
            work()
            prof.step()
with profile(activities=CPU, experimental_config=outer):
    work()
    thread = threading.Thread(target=second)
    thread.start()
    thread.join()
assert matmuls(outer) >= 1
assert inner.trace_path is None
""",
    )
    assert "already running" in done.stderr


def test_ours_does_not_start_inside_a_plain_profile(python: Python):
    done = python(
        "-c",
        HEADER
        + """
with profile(activities=CPU) as plain:
    work()
    with profile(activities=CPU, experimental_config=inner):
        work()
    work()
assert [e.name for e in plain.events()].count("aten::mm") == 3
assert inner.trace_path is None
""",
    )
    assert "already running" in done.stderr


def test_a_plain_profile_in_another_thread_keeps_ours_out(python: Python):
    python(
        "-c",
        HEADER
        + """
started, finish = threading.Event(), threading.Event()
def other():
    with profile(activities=CPU) as plain:
        work()
        started.set()
        finish.wait(60)
    assert [e.name for e in plain.events()].count("aten::mm") == 1
thread = threading.Thread(target=other)
thread.start()
started.wait(60)
with profile(activities=CPU, experimental_config=inner):
    work()
finish.set()
thread.join()
assert inner.trace_path is None
""",
    )


def test_an_abandoned_profile_does_not_keep_others_out(python: Python):
    python(
        "-c",
        HEADER
        + """
plan = schedule(wait=0, warmup=2, active=1)
abandoned = profile(activities=CPU, experimental_config=outer, schedule=plan)
abandoned.start()
abandoned = None
gc.collect()
with profile(activities=CPU, experimental_config=inner):
    work()
assert matmuls(inner) == 1
""",
    )


def test_a_forked_child_may_record_after_its_parent_began_to(python: Python):
    python(
        "-c",
        HEADER
        + """
import os
from neuron_profile.turn import turn
class Holder: pass
holder = Holder()
assert turn.take(holder)
if os.fork() == 0:
    os._exit(0 if turn.take(Holder()) else 1)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
assert turn.holder() is holder
""",
    )


def test_starting_twice_is_torchs_own_affair_and_stopping_still_works(python: Python):
    python(
        "-c",
        HEADER
        + """
prof = profile(activities=CPU, experimental_config=outer)
prof.start()
try:
    prof.start()
except RuntimeError:
    pass
work()
try:
    prof.stop()
except RuntimeError:
    pass
assert not torch.autograd._profiler_enabled()
with profile(activities=CPU, experimental_config=inner):
    work()
assert matmuls(inner) == 1
""",
    )


LOSS = "another profiler ended this window: torch.profiler lost what it had recorded until then"
INNER = {
    "torch.profiler": ("profile(activities=CPU)", 1),
    "torch.profiler in warm-up": ("profile(activities=CPU, schedule=schedule(wait=0, warmup=1, active=1))", 1),
    "torch.autograd.profiler": ("torch.autograd.profiler.profile(use_kineto=True)", 0),
}


@pytest.mark.parametrize("inner", INNER)
def test_a_plain_profiler_that_ends_our_window_costs_a_note_and_is_warned_of_once(inner: str, python: Python):
    made, warned = INNER[inner]
    done = python(
        "-c",
        HEADER
        + f"""
with profile(activities=CPU, experimental_config=outer) as prof:
    work()
    for _ in range(2):
        with {made} as plain:
            work()
    work()
trace = read_trace(outer.trace_path)
assert trace.report.to_dict()["left_out"] == {{{LOSS!r}: 1}}
assert trace.report.source_events == len(trace.slices) + 1
assert {inner!r}.endswith("warm-up") or len(plain.key_averages()) > 0
with profile(activities=CPU, experimental_config=inner):
    work()
assert read_trace(inner.trace_path).report.clean
assert matmuls(inner) == 1
""",
    )
    assert done.stderr.count("RuntimeWarning: neuron_profile: a profiler without NeuronConfig starts") == warned
    assert done.stderr.count(f"neuron_profile: the trace lacks events: {LOSS}") == 1
    assert "Traceback" not in done.stderr


def test_what_a_plain_profiler_recorded_is_not_passed_off_as_our_window(python: Python):
    done = python(
        "-c",
        HEADER
        + f"""
first = profile(activities=CPU, experimental_config=outer)
first.start()
work()
plain = torch.autograd.profiler.profile(use_kineto=True)
plain.__enter__()
work()
first.stop()
plain.__exit__(None, None, None)
assert read_trace(outer.trace_path).report.to_dict()["left_out"] == {{{LOSS!r}: 1}}
""",
    )
    assert "Traceback" not in done.stderr


def test_a_window_that_another_thread_stops_is_not_said_to_be_empty(python: Python):
    done = python(
        "-c",
        HEADER
        + """
prof = profile(activities=CPU, experimental_config=outer)
prof.start()
work()
thread = threading.Thread(target=prof.stop)
thread.start()
thread.join()
(cause,) = read_trace(outer.trace_path).report.to_dict()["left_out"]
assert cause.startswith("stopped in another thread than started")
""",
    )
    assert "neuron_profile: the trace lacks events: stopped in another thread" in done.stderr


def test_where_warnings_are_errors_the_plain_profiler_starts_all_the_same(python: Python):
    done = python(
        "-c",
        HEADER
        + """
warnings.simplefilter("error")
with profile(activities=CPU, experimental_config=outer):
    with profile(activities=CPU) as plain:
        work()
assert len(plain.events()) > 0
""",
    )
    assert "Traceback" not in done.stderr


def test_a_plain_profiler_in_our_warm_up_costs_nothing(python: Python):
    done = python(
        "-c",
        HEADER
        + """
with profile(activities=CPU, experimental_config=outer, schedule=schedule(wait=0, warmup=1, active=1)) as prof:
    with profile(activities=CPU) as plain:
        work()
    prof.step()
    work()
    work()
assert matmuls(outer) == 2
assert read_trace(outer.trace_path).report.clean
assert len(plain.events()) > 0
""",
    )
    assert "neuron_profile" not in done.stderr


def test_a_plain_profiler_that_runs_on_when_our_warm_up_ends_keeps_ours_out(python: Python):
    done = python(
        "-c",
        HEADER
        + """
plain = profile(activities=CPU)
with profile(activities=CPU, experimental_config=outer, schedule=schedule(wait=0, warmup=1, active=1)) as prof:
    plain.start()
    prof.step()
    work()
plain.stop()
assert outer.trace_path is None
assert len(prof.events()) == 0
assert [e.name for e in plain.events()].count("aten::mm") == 1
with profile(activities=CPU, experimental_config=inner):
    work()
assert matmuls(inner) == 1
""",
    )
    assert "already running" in done.stderr


@pytest.mark.parametrize("config", ["outer", "None"])
def test_a_start_that_fails_keeps_nobody_out(config: str, python: Python):
    python(
        "-c",
        HEADER
        + f"""
class Observer:
    def __getattr__(self, name):
        return lambda *_: None
    def start(self):
        raise OSError("no space for the observer")
    def get_output_file_path(self):
        return None
failing = profile(activities=CPU, experimental_config={config}, execution_trace_observer=Observer())
try:
    failing.start()
except OSError:
    pass
else:
    raise AssertionError
with profile(activities=CPU, experimental_config=inner):
    work()
assert matmuls(inner) == 1
""",
    )
