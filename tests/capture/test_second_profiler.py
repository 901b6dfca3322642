"""A second profiler at the same time does not start, harms nobody, and says so."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

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
assert turn.held_by(holder)
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
