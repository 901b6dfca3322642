"""NeuronConfig takes AWS's parameters and ours, refuses what they cannot be, and survives copies."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ProfilerActivity, profile

from collectors import DEFAULT_COLLECTORS
from neuron_profile import NeuronConfig, NeuronProfileError, ProfileMode, hook


def test_it_is_torchs_own_kind_of_config():
    assert isinstance(NeuronConfig(), _ExperimentalConfig)


def test_defaults_are_those_of_the_documentation():
    config = NeuronConfig()
    assert config.modes == (ProfileMode.DEVICE, ProfileMode.RUNTIME)
    assert config.max_events_per_nc is None
    assert config.capture_enabled_for_nc is None
    assert config.profile_output_dir == Path("./profile_output")
    assert config.neff_cache_dir is None
    assert config.precache_node_info is True
    assert (config.device_model, config.record, config.collectors) == ("auto", "auto", DEFAULT_COLLECTORS)
    assert config.trace_path is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [("0,1,2-5", "0,1,2-5"), ("0, 1", "0,1"), ([0, 3], "0,3"), ("7", "7"), ("2-2", "2-2"), (None, None)],
)
def test_cores_are_taken_as_text_or_as_numbers(given: Any, kept: Any):
    assert NeuronConfig(capture_enabled_for_nc=given).capture_enabled_for_nc == kept


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("modes", ["GPU"]),
        ("modes", 3),
        ("max_events_per_nc", 0),
        ("max_events_per_nc", True),
        ("max_events_per_nc", "1000"),
        ("capture_enabled_for_nc", "all"),
        ("capture_enabled_for_nc", []),
        ("capture_enabled_for_nc", 3),
        ("capture_enabled_for_nc", "5-2"),
        ("capture_enabled_for_nc", "0,5-2"),
        ("capture_enabled_for_nc", "1-"),
        ("capture_enabled_for_nc", [0, -1]),
        ("capture_enabled_for_nc", [[0]]),
        ("profile_output_dir", ""),
        ("profile_output_dir", None),
        ("profile_output_dir", "a\0b"),
        ("profile_output_dir", "~nobody-of-this-name/x"),
        ("neff_cache_dir", 5),
        ("precache_node_info", "yes"),
        ("device_model", "trn9"),
        ("record", "everything"),
        ("collectors", "torch"),
        ("collectors", ["nonesuch"]),
        ("collectors", [["torch"]]),
        ("collectors", 3),
        ("collectors", None),
        ("custom_profiler_config", "profile_output_dir:/runs/lr=1e-3"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_one_line_that_names_it(parameter: str, value: Any):
    with pytest.raises(NeuronProfileError) as refused:
        NeuronConfig(**{parameter: value})
    assert str(refused.value).startswith(f"{parameter}: ")
    assert "\n" not in str(refused.value)
    assert isinstance(refused.value, ValueError)


def test_each_collector_runs_once_however_it_is_listed():
    assert NeuronConfig(collectors=["torch", "torch"]).collectors == ("torch",)
    assert NeuronConfig(collectors=iter(["torch"])).collectors == ("torch",)
    assert NeuronConfig(collectors=[]).collectors == ()


def test_the_home_folder_may_be_written_short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HOME", str(tmp_path))
    config = NeuronConfig(profile_output_dir="~/runs", neff_cache_dir=Path("~/cache"))
    assert (config.profile_output_dir, config.neff_cache_dir) == (tmp_path / "runs", tmp_path / "cache")


def test_torchs_own_options_reach_torch():
    assert NeuronConfig(custom_profiler_config="a:b").custom_profiler_config == "a:b"


def test_an_option_that_torch_does_not_have_is_left_out_with_a_warning():
    with pytest.warns(RuntimeWarning, match="not_in_any_torch"):
        config = NeuronConfig(not_in_any_torch=1, verbose=True)
    assert type(config) is NeuronConfig


COPIES: dict[str, Callable[[NeuronConfig], NeuronConfig]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda config: pickle.loads(pickle.dumps(config)),
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_keeps_everything_and_records(copied: Callable[[NeuronConfig], NeuronConfig], tmp_path: Path):
    config = NeuronConfig(
        modes=[ProfileMode.HOST_MEMORY], profile_output_dir=tmp_path / "a=b", record="as_given",
        custom_profiler_config="x:y", max_events_per_nc=7,
    )  # fmt: skip
    hook.uninstall()  # as in the process that unpickles it
    twin = copied(config)
    assert type(twin) is NeuronConfig
    assert twin.modes == (ProfileMode.HOST_MEMORY,)
    assert (twin.record, twin.max_events_per_nc, twin.custom_profiler_config) == ("as_given", 7, "x:y")
    with profile(activities=[ProfilerActivity.CPU], experimental_config=twin):
        torch.ones(2) + 1
    assert twin.trace_path is not None
    assert twin.trace_path.is_relative_to(tmp_path / "a=b")


def test_an_option_changed_after_construction_is_copied_as_changed():
    config = NeuronConfig()
    config.custom_profiler_config = "late:1"
    assert copy.deepcopy(config).custom_profiler_config == "late:1"


def test_the_copy_that_torch_makes_tells_the_original_where_the_trace_is(tmp_path: Path):
    if not hasattr(NeuronConfig(), "trace_only"):
        pytest.skip("this torch makes no copy")
    config = NeuronConfig(profile_output_dir=tmp_path, trace_only=True)
    with (
        pytest.warns(UserWarning, match="trace_only"),
        profile(activities=[ProfilerActivity.CPU], experimental_config=config, with_stack=True) as prof,
    ):
        torch.ones(2) + 1
    assert prof.experimental_config is not config
    assert config.trace_path is not None


def test_trace_only_records_too(tmp_path: Path):
    if not hasattr(NeuronConfig(), "trace_only"):
        pytest.skip("this torch has no trace_only")
    from trace_format import read_trace

    config = NeuronConfig(profile_output_dir=tmp_path, trace_only=True)
    with profile(activities=[ProfilerActivity.CPU], experimental_config=config):
        torch.ones(2) + 1
    assert "aten::add" in read_trace(config.trace_path).slices.text("name")
