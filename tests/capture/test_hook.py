"""The hook goes on once, comes off clean, lives with other tools, and stays off a torch it does not fit."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from neuron_profile import NeuronConfig, NeuronProfiler, hook
from trace_format import read_trace

CPU = [ProfilerActivity.CPU]
Kineto = torch.profiler.profiler._KinetoProfile
Step = Callable[[], None]


def test_importing_wraps_nothing_and_a_config_wraps_three_methods():
    assert not hasattr(Kineto.stop_trace, "__nprof_hook__")
    NeuronConfig()
    for name in ("prepare_trace", "start_trace", "stop_trace"):
        assert hasattr(Kineto.__dict__[name], "__nprof_hook__")


def test_installing_again_wraps_no_deeper():
    NeuronConfig()
    wrapped = Kineto.__dict__["stop_trace"]
    NeuronConfig()
    assert hook.install()
    assert Kineto.__dict__["stop_trace"] is wrapped
    assert not hasattr(wrapped.__nprof_orig__, "__nprof_hook__")


def test_a_profile_made_before_the_hook_came_off_works_without_it(config: NeuronConfig, step: Step):
    prof = profile(activities=CPU, experimental_config=config)
    hook.uninstall()
    prof.start()
    step()
    prof.stop()
    assert len(prof.events()) > 0
    assert config.trace_path is None


def test_uninstalling_in_the_middle_of_a_window_harms_neither_it_nor_the_next(config: NeuronConfig, step: Step):
    prof = profile(activities=CPU, experimental_config=config)
    prof.start()
    hook.uninstall()
    step()
    prof.stop()
    assert len(prof.events()) > 0
    later = NeuronConfig(profile_output_dir=config.profile_output_dir)
    with profile(activities=CPU, experimental_config=later):
        step()
    assert later.trace_path is not None


@pytest.mark.parametrize("polite", [True, False], ids=["functools.wraps", "bare"])
def test_a_tool_that_wrapped_on_top_keeps_working(
    polite: bool, config: NeuronConfig, step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ours, calls = Kineto.__dict__["stop_trace"], []

    def theirs(self: Any) -> None:
        calls.append(self)
        ours(self)

    monkeypatch.setattr(Kineto, "stop_trace", functools.wraps(ours)(theirs) if polite else theirs)
    on_top = Kineto.__dict__["stop_trace"]
    second = NeuronConfig(profile_output_dir=tmp_path / "second")
    assert Kineto.__dict__["stop_trace"] is on_top
    with profile(activities=CPU, experimental_config=second):
        step()
    assert len(calls) == 1
    assert len(list((tmp_path / "second").glob("**/trace.pb"))) == 1

    hook.uninstall()
    assert Kineto.__dict__["stop_trace"] is on_top
    with profile(activities=CPU, experimental_config=second):
        step()
    assert len(calls) == 2
    assert len(list((tmp_path / "second").glob("**/trace.pb"))) == 1

    third = NeuronConfig(profile_output_dir=tmp_path / "third")
    with profile(activities=CPU, experimental_config=third):
        step()
    assert len(calls) == 3
    assert len(list((tmp_path / "third").glob("**/trace.pb"))) == 1
    hook.uninstall()
    monkeypatch.undo()
    Kineto.stop_trace = ours.__nprof_orig__


def test_a_tool_that_put_torchs_method_back_does_not_switch_us_off(config: NeuronConfig, step: Step):
    Kineto.stop_trace = Kineto.__dict__["stop_trace"].__nprof_orig__
    later = NeuronConfig(profile_output_dir=config.profile_output_dir)
    with profile(activities=CPU, experimental_config=later):
        step()
    assert later.trace_path is not None


def test_a_bare_kineto_profile_is_recorded_too(config: NeuronConfig, step: Step):
    prof = Kineto(activities=CPU, experimental_config=config)
    prof.start()
    step()
    prof.stop()
    assert config.trace_path is not None


@pytest.mark.parametrize("problem", ["missing", "takes arguments", "overridden"])
def test_on_a_torch_that_does_not_fit_it_warns_and_the_explicit_ways_work(
    problem: str, step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if problem == "missing":
        original = Kineto.start_trace
        monkeypatch.delattr(Kineto, "start_trace")
        monkeypatch.setattr(profile, "start_trace", original, raising=False)
    elif problem == "takes arguments":
        original = Kineto.start_trace
        monkeypatch.setattr(Kineto, "start_trace", lambda self, how="": original(self))
        monkeypatch.setattr(Kineto, "prepare_trace", lambda self, why, prepare=Kineto.prepare_trace: prepare(self))
        monkeypatch.setattr(profile, "prepare_trace", lambda self: Kineto.prepare_trace(self, ""), raising=False)
    else:
        monkeypatch.setattr(profile, "stop_trace", Kineto.stop_trace, raising=False)
    with pytest.warns(RuntimeWarning, match="not as expected"):
        config = NeuronConfig(profile_output_dir=tmp_path / "out")

    exporter = NeuronProfiler(config)
    with profile(activities=CPU, on_trace_ready=exporter.export_trace):
        step()
    exported = config.trace_path
    assert exported is not None
    assert "aten::addmm" in read_trace(exported).slices.text("name")
    assert exported.with_name("trace.json").exists()

    with pytest.warns(RuntimeWarning, match="not as expected"), NeuronProfiler(config):
        step()
    assert config.trace_path not in (None, exported)
    assert read_trace(config.trace_path).metadata["recording"]["turned_on"] == [
        "record_shapes", "with_flops", "profile_memory",
    ]  # fmt: skip
