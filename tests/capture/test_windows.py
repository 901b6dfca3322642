"""Every way in which a profiler window can begin and end leaves the traces it should."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, schedule

from neuron_profile import NeuronConfig
from trace_format import Trace, read_trace

CPU = [ProfilerActivity.CPU]
Step = Callable[[], None]


def traces_below(folder: Path) -> list[Trace]:
    return [read_trace(path) for path in sorted(folder.glob("**/trace.pb"))]


def steps_in(trace: Trace) -> list[str]:
    return [name for name in trace.slices.text("name") if name.startswith("ProfilerStep#")]


def backward_passes(trace: Trace) -> int:
    return trace.slices.text("name").count("autograd::engine::evaluate_function: AddmmBackward0") // 2


def last(config: NeuronConfig) -> Trace:
    assert config.trace_path is not None
    return read_trace(config.trace_path)


def test_a_with_block_leaves_one_trace_and_the_config_names_it(config: NeuronConfig, step: Step, tmp_path: Path):
    assert config.trace_path is None
    with profile(activities=CPU, experimental_config=config):
        step()
    assert [config.trace_path] == list((tmp_path / "out").glob("*_pid_*/*/trace.pb"))
    assert backward_passes(last(config)) == 1


def test_start_and_stop_do_the_same(config: NeuronConfig, step: Step):
    prof = profile(activities=CPU, experimental_config=config)
    prof.start()
    step()
    prof.stop()
    assert backward_passes(last(config)) == 1


def test_a_restarted_profile_leaves_a_second_trace(config: NeuronConfig, step: Step, tmp_path: Path):
    prof = profile(activities=CPU, experimental_config=config)
    for steps in (1, 2):
        prof.start()
        for _ in range(steps):
            step()
        prof.stop()
    assert [backward_passes(trace) for trace in traces_below(tmp_path)] == [1, 2]
    assert backward_passes(last(config)) == 2


def test_each_cycle_of_a_schedule_leaves_its_steps(config: NeuronConfig, step: Step, tmp_path: Path):
    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(activities=CPU, experimental_config=config, schedule=plan) as prof:
        for _ in range(9):
            step()
            prof.step()
    found = [steps_in(trace) for trace in traces_below(tmp_path)]
    assert found == [["ProfilerStep#2", "ProfilerStep#3"], ["ProfilerStep#6", "ProfilerStep#7"]]


def test_windows_back_to_back_leave_one_trace_each(config: NeuronConfig, step: Step, tmp_path: Path):
    plan = schedule(wait=0, warmup=0, active=1, repeat=3)
    with profile(activities=CPU, experimental_config=config, schedule=plan) as prof:
        for _ in range(3):
            step()
            prof.step()
    assert [backward_passes(trace) for trace in traces_below(tmp_path)] == [1, 1, 1]


def test_an_exception_in_the_body_passes_and_the_trace_is_there(config: NeuronConfig, step: Step):
    with pytest.raises(ZeroDivisionError), profile(activities=CPU, experimental_config=config):
        step()
        raise ZeroDivisionError
    assert backward_passes(last(config)) == 1


def test_leaving_during_warm_up_leaves_no_trace(config: NeuronConfig, step: Step, tmp_path: Path):
    plan = schedule(wait=0, warmup=3, active=1)
    with profile(activities=CPU, experimental_config=config, schedule=plan, with_stack=True) as prof:
        step()
        prof.step()
    assert config.trace_path is None
    assert traces_below(tmp_path) == []


def test_leaving_in_the_second_warm_up_keeps_the_first_trace(config: NeuronConfig, step: Step, tmp_path: Path):
    plan = schedule(wait=0, warmup=1, active=1)
    with profile(activities=CPU, experimental_config=config, schedule=plan) as prof:
        for _ in range(2):
            step()
            prof.step()
    assert steps_in(last(config)) == ["ProfilerStep#1"]
    assert len(traces_below(tmp_path)) == 1


def test_leaving_while_waiting_leaves_no_trace(config: NeuronConfig, step: Step, tmp_path: Path):
    plan = schedule(wait=3, warmup=1, active=1)
    with profile(activities=CPU, experimental_config=config, schedule=plan) as prof:
        step()
        prof.step()
    assert config.trace_path is None
    assert traces_below(tmp_path) == []


def test_a_window_in_another_thread_is_recorded(config: NeuronConfig, step: Step):
    def body() -> None:
        with profile(activities=CPU, experimental_config=config):
            step()

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert backward_passes(last(config)) == 1


def test_an_empty_body_leaves_a_trace_without_slices(config: NeuronConfig):
    with profile(activities=CPU, experimental_config=config):
        pass
    assert len(last(config).slices) == 0
    assert last(config).report.to_dict() == {"source_events": 0, "kept": 0, "left_out": {}, "repaired": {}}


def test_two_configs_each_name_their_own_trace(step: Step, tmp_path: Path):
    one = NeuronConfig(profile_output_dir=tmp_path / "one")
    two = NeuronConfig(profile_output_dir=tmp_path / "two")
    for config in (one, two):
        with profile(activities=CPU, experimental_config=config):
            step()
    assert one.trace_path is not None
    assert two.trace_path is not None
    assert one.trace_path.is_relative_to(tmp_path / "one")
    assert two.trace_path.is_relative_to(tmp_path / "two")


def test_a_profile_without_our_config_leaves_nothing(config: NeuronConfig, step: Step, tmp_path: Path):
    with profile(activities=CPU) as prof:
        step()
    assert len(prof.events()) > 0
    assert traces_below(tmp_path) == []


def test_an_equals_sign_in_the_path_is_just_a_character(step: Step, tmp_path: Path):
    config = NeuronConfig(profile_output_dir=tmp_path / "lr=1e-3" / "a=b")
    with profile(activities=CPU, experimental_config=config):
        step()
    assert config.trace_path is not None
    assert config.trace_path.is_relative_to(tmp_path / "lr=1e-3" / "a=b")
    assert config.custom_profiler_config == ""


def test_a_relative_output_folder_is_where_the_window_began(
    step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "begin").mkdir()
    (tmp_path / "end").mkdir()
    monkeypatch.chdir(tmp_path / "begin")
    config = NeuronConfig()
    with profile(activities=CPU, experimental_config=config):
        monkeypatch.chdir(tmp_path / "end")
    assert config.trace_path is not None
    assert config.trace_path.is_relative_to(tmp_path / "begin" / "profile_output")


def test_the_trace_is_there_before_on_trace_ready_runs(config: NeuronConfig, step: Step):
    seen = []

    def ready(prof: torch.profiler.profile) -> None:
        assert config.trace_path is not None
        seen.append((config.trace_path, config.trace_path.exists(), len(prof.events()) > 0))

    plan = schedule(wait=0, warmup=0, active=1, repeat=2)
    with profile(activities=CPU, experimental_config=config, schedule=plan, on_trace_ready=ready) as prof:
        for _ in range(2):
            step()
            prof.step()
    assert [rest for _, *rest in seen] == [[True, True], [True, True]]
    assert len({path for path, *_ in seen}) == 2
