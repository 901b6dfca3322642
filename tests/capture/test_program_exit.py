"""A program that ends, or forks, inside a profiler window: it ends as it would have, and the trace is written."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_profile import load

Run = Callable[..., subprocess.CompletedProcess[str]]

OPEN = """
import atexit, os, sys
import torch
from torch.profiler import profile, schedule
from neuron_profile import NeuronConfig, NeuronProfiler
config = NeuronConfig(profile_output_dir="out", collectors=["torch"], device_model="none")
model = torch.nn.Linear(3, 3)
def work(): model(torch.ones(2, 3)).sum().backward()
"""


@pytest.mark.parametrize(
    ("ends", "code"),
    [
        ("p = profile(experimental_config=config); p.start(); work()", 0),
        ("p = profile(experimental_config=config); p.start(); work(); sys.exit(5)", 5),
        ("p = profile(experimental_config=config); p.start(); work(); raise ValueError('boom')", 1),
        ("p = profile(experimental_config=config); atexit.register(p.stop); p.start(); work()", 0),
        ("p = NeuronProfiler(config); p.start(); work()", 0),
        ("with profile(experimental_config=config): work(); sys.exit(5)", 5),
    ],
)
def test_a_program_that_ends_inside_a_window_leaves_its_trace(
    ends: str, code: int, python: Run, tmp_path: Path
) -> None:
    done = python("-c", OPEN + ends, ok=False)
    assert done.returncode == code, done.stderr
    (path,) = tmp_path.glob("out/*/*/trace.pb")
    assert "aten::linear" in load(path).slices.text("name")
    assert done.stderr.count("the program ended inside a profiler window") == (0 if "with" in ends else 1)


def test_a_schedule_that_has_not_come_to_its_end_tells_that_its_trace_is_ready(python: Run, tmp_path: Path) -> None:
    program = """
p = profile(
    experimental_config=config, schedule=schedule(wait=1, warmup=1, active=9),
    on_trace_ready=lambda _: print("ready", os.path.exists(config.trace_path)),
)
p.start()
for _ in range(4):
    work()
    p.step()
"""
    done = python("-c", OPEN + program)
    assert done.stdout.endswith("ready True\n")
    assert len(list(tmp_path.glob("out/*/*/trace.pb"))) == 1


def test_a_child_forked_inside_a_window_goes_on_and_leaves_the_trace_to_its_parent(python: Run, tmp_path: Path) -> None:
    program = """
with profile(experimental_config=config):
    work()
    child = os.fork()
if child == 0:
    work()
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = python("-c", OPEN + program)
    assert done.stdout.endswith("7\n")
    assert len(list(tmp_path.glob("out/*/*/trace.pb"))) == 1
