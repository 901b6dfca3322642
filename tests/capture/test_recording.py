"""What is recorded is what was asked for, and what is turned on besides is said in the trace."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from collectors import DEFAULT_COLLECTORS
from neuron_profile import NeuronConfig
from trace_format import Trace, read_trace

CPU = [ProfilerActivity.CPU]
Step = Callable[[], None]


def capture(folder: Path, body: Callable[[], object], *, record: str = "auto", **asked: bool) -> Trace:
    config = NeuronConfig(profile_output_dir=folder, record=record)
    with profile(activities=CPU, experimental_config=config, **asked):
        body()
    assert config.trace_path is not None
    return read_trace(config.trace_path)


def multiply() -> torch.Tensor:
    return torch.ones(2, 3) @ torch.ones(3, 5)


def op(trace: Trace, name: str) -> int:
    return trace.slices.text("name").index(name)


def test_auto_records_shapes_flops_and_memory_unasked(tmp_path: Path):
    trace = capture(tmp_path, multiply)
    row = op(trace, "aten::mm")
    assert trace.pool.args(int(trace.slices.args[row]))["Input Dims"] == [[2, 3], [3, 5]]
    assert trace.slices.flops[row] == 2 * 2 * 3 * 5
    assert 4 * 2 * 5 in trace.memory.delta_bytes
    assert trace.metadata["recording"] == {
        "record": "auto",
        "asked": dict.fromkeys(("record_shapes", "with_flops", "profile_memory", "with_stack", "with_modules"), False),
        "turned_on": ["record_shapes", "with_flops", "profile_memory"],
        "activities": ["CPU"],
    }


def test_as_given_records_no_more_than_asked(tmp_path: Path):
    trace = capture(tmp_path, multiply, record="as_given")
    row = op(trace, "aten::mm")
    assert "Input Dims" not in trace.pool.args(int(trace.slices.args[row]))
    assert np.isnan(trace.slices.flops).all()
    assert len(trace.memory) == 0
    assert trace.metadata["recording"]["turned_on"] == []


def test_as_given_records_what_was_asked(tmp_path: Path):
    trace = capture(tmp_path, multiply, record="as_given", profile_memory=True)
    assert len(trace.memory) > 0
    assert trace.metadata["recording"]["asked"]["profile_memory"] is True


def test_what_was_asked_is_not_called_turned_on(tmp_path: Path):
    trace = capture(tmp_path, multiply, record_shapes=True)
    assert trace.metadata["recording"]["turned_on"] == ["with_flops", "profile_memory"]


def test_a_second_window_of_a_profile_says_the_same_of_what_was_asked(config: NeuronConfig):
    prof = profile(activities=CPU, experimental_config=config)
    said = []
    for _ in range(2):
        prof.start()
        multiply()
        prof.stop()
        said.append(read_trace(config.trace_path).metadata["recording"])
    assert said[0] == said[1]
    assert said[0]["asked"]["record_shapes"] is False


def test_python_frames_and_modules_are_there_with_stack(tmp_path: Path):
    module = torch.nn.Linear(3, 2)
    trace = capture(tmp_path, lambda: module(torch.ones(1, 3)), with_stack=True, with_modules=True)
    python = [n for n, c in zip(trace.slices.text("name"), trace.slices.text("category"), strict=True) if c == "python"]
    assert "nn.Module: Linear_0" in python
    assert trace.slices.python_id.max() > 0
    assert trace.slices.python_parent_id.max() > 0


def test_annotations_steps_and_flows_are_there(tmp_path: Path, step: Step):
    def body() -> None:
        with torch.profiler.record_function("my block"):
            step()

    trace = capture(tmp_path, body)
    assert trace.slices.text("category")[op(trace, "my block")] == "annotation"
    assert set(trace.flows.text("kind")) == {"fwdbwd", "simulated"}
    names = trace.slices.text("name")
    ends = {(names[a], names[b]) for a, b in zip(trace.flows.from_slice, trace.flows.to_slice, strict=True)}
    assert ("aten::addmm", "AddmmBackward0") in ends


def test_metadata_says_who_recorded_where_and_when(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "8")
    trace = capture(tmp_path, multiply)
    said = trace.metadata
    assert (said["host"], said["pid"]) == (socket.gethostname(), os.getpid())
    assert (said["rank"], said["world_size"]) == (3, 8)
    assert set(trace.tracks.rank.tolist()) == {3}
    assert said["created_by"].startswith("neuron-profile ")
    source = said["sources"][0]
    source.pop("trace_id")
    assert source == {"format": "torch.profiler live", "clock": "unix", "torch": torch.__version__}
    assert said["device_model"] is None
    assert said["collectors"] == list(DEFAULT_COLLECTORS)
    assert said["collector_losses"] == {}
    row = op(trace, "aten::mm")
    assert said["start_ns"] <= trace.slices.ts_ns[row]
    assert trace.slices.ts_ns[row] + trace.slices.dur_ns[row] <= said["stop_ns"]


def test_a_rank_that_nobody_states_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    said = capture(tmp_path, multiply).metadata
    assert (said["rank"], said["world_size"]) == (None, None)


def test_what_the_user_told_the_profiler_is_in_the_metadata(config: NeuronConfig):
    with profile(activities=CPU, experimental_config=config) as prof:
        prof.add_metadata("run", 'the "best" one')
        prof.add_metadata_json("settings", '{"lr": 0.1}')
    told = read_trace(config.trace_path).metadata["source_metadata"]
    assert (told["run"], told["settings"]) == ('the "best" one', {"lr": 0.1})


@pytest.mark.parametrize("value", ["{", "[" * 100_000, {"lr": 0.1}], ids=["cut off", "too deep", "no text"])
def test_metadata_that_is_no_json_is_kept_as_text_and_costs_no_events(config: NeuronConfig, value: Any):
    with profile(activities=CPU, experimental_config=config) as prof:
        multiply()
        with suppress(TypeError):  # torch's, which has taken note of the value before
            prof.add_metadata_json("settings", value)
    trace = read_trace(config.trace_path)
    assert trace.metadata["source_metadata"]["settings"] == str(value)
    assert "aten::mm" in trace.slices.text("name")


def test_the_id_that_torch_gave_the_window_is_in_the_metadata(config: NeuronConfig):
    with profile(activities=CPU, experimental_config=config) as prof:
        multiply()
    assert read_trace(config.trace_path).metadata["sources"][0]["trace_id"] == prof.get_trace_id()


def test_without_collectors_the_trace_has_metadata_alone(tmp_path: Path):
    config = NeuronConfig(profile_output_dir=tmp_path, collectors=[])
    with profile(activities=CPU, experimental_config=config) as prof:
        multiply()
    assert len(prof.events()) > 0
    assert len(read_trace(config.trace_path).slices) == 0
