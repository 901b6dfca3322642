"""What torch_neuronx fails at costs a counted note, never the capture (see neuron_stand_in)."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import neuron_stand_in as stand_in
import numpy as np
import pytest
from neuron_stand_in import capture, rows, trace_of
from torch.profiler import profile

from collectors import neuron_device
from neuron_profile import NeuronConfig, load
from trace_format import Trace

Step = Callable[[], None]


def notes(trace: Trace) -> list[str]:
    return [*trace.report.repaired, *trace.report.left_out]


def of_device(trace: Trace) -> list[int]:
    """The engines that were recorded."""
    return np.flatnonzero((trace.tracks.engine != 0) & (trace.tracks.simulated != 1)).tolist()


def test_a_constructor_that_raises_costs_a_counted_note_and_is_logged_once(
    theirs: ModuleType, step: Step, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    theirs.mode["raises"] = "no driver\nis loaded"
    with caplog.at_level(logging.WARNING, logger="neuron_profile"):
        trace = trace_of(capture(step, tmp_path / "out"))
        NeuronConfig()
    cause = "torch_neuronx.profiling.NeuronConfig failed: RuntimeError: no driver is loaded"
    assert trace.report.left_out == {cause: 1}
    assert [cause in record.getMessage() for record in caplog.records] == [True]
    assert rows(trace, "aten::addmm")
    assert rows(trace, "MATMUL")  # their C++ part records all the same, and was told where


def test_a_package_without_this_profiler_is_left_alone(package: Path, step: Step, tmp_path: Path):
    (package / "profiling.py").write_text("raise ImportError('built for another torch')")
    for name in [name for name in sys.modules if name.startswith("torch_neuronx.")]:
        del sys.modules[name]
    config = NeuronConfig(profile_output_dir=tmp_path / "out")
    assert config.custom_profiler_config == ""
    with profile(experimental_config=config):
        step()
    trace = trace_of(config)
    cause = "the import of torch_neuronx.profiling failed: ImportError: built for another torch"
    assert trace.report.left_out == {cause: 1}
    assert rows(trace, "aten::addmm")


def test_a_folder_that_never_appears_costs_a_note(theirs: ModuleType, step: Step, tmp_path: Path):
    theirs.mode["writes"] = False
    trace = trace_of(capture(step, tmp_path / "out"))
    assert [note for note in notes(trace) if "no device timeline" in note and str(tmp_path / "out") in note]
    assert rows(trace, "aten::addmm")
    assert not of_device(trace)


def test_the_folder_of_another_process_is_not_taken(theirs: ModuleType, step: Step, tmp_path: Path):
    theirs.mode["pid"] = os.getpid() + 1
    config = capture(step, tmp_path / "out")
    trace = trace_of(config)
    assert config.trace_path.parent != theirs.sessions[0]
    assert any("no device timeline" in note for note in notes(trace))
    assert not of_device(trace)


def test_a_get_session_dir_that_raises_costs_a_note_and_the_folder_is_found_by_its_name(
    theirs: ModuleType, step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    class Failing(list[Any]):
        def __bool__(self) -> bool:
            raise KeyError("session")

    monkeypatch.setattr(theirs, "sessions", Failing())
    trace = trace_of(capture(step, tmp_path / "out"))
    assert [*trace.report.left_out] == ["get_session_dir of torch_neuronx failed: KeyError: 'session'"]
    assert rows(trace, "MATMUL")


def test_a_truncated_profile_costs_a_note_and_is_not_among_the_files_that_were_read(
    package: Path, step: Step, tmp_path: Path
):
    whole = stand_in.ntff_of_a_run()
    stand_in.leave(package, whole[: len(whole) // 8], core=stand_in.CORE, total_ns=40_000)
    trace = trace_of(capture(step, tmp_path / "out"))
    assert any("profile_nc_0_session_1.ntff" in note for note in notes(trace))
    assert trace.metadata["session_files"] == ["events.json", "neff_abcdef_vnc_0.neff"]
    assert rows(trace, "aten::addmm")
    assert rows(trace, "nc_exec_running")


def test_files_too_large_for_the_end_of_a_window_are_left_to_who_opens_the_folder(
    package: Path, step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(neuron_device, "_MOST_BYTES", 100)
    config = capture(step, tmp_path / "out")
    trace = trace_of(config)
    assert [note for note in notes(trace) if f"open the folder {config.trace_path.parent}" in note]
    assert not of_device(trace)
    assert len(rows(load(config.trace_path.parent), "MATMUL")) == 1


def test_runtime_inspection_beside_a_capture_is_warned_of_in_one_line(
    package: Path, step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("NEURON_RT_INSPECT_ENABLE", "1")
    with caplog.at_level(logging.WARNING, logger="neuron_profile"):
        trace = trace_of(capture(step, tmp_path / "out"))
    said = [r.getMessage() for r in caplog.records if "NEURON_RT_INSPECT_ENABLE" in r.getMessage()]
    assert len(said) == 1
    assert "\n" not in said[0]
    assert any("NEURON_RT_INSPECT_ENABLE" in note for note in notes(trace))


def test_importing_the_package_does_not_import_torch_neuronx_and_a_capture_does(
    python: Callable[..., Any], tmp_path: Path
):
    stand_in.write_package(tmp_path)
    code = """
import sys
import neuron_profile
assert "torch_neuronx" not in sys.modules
config = neuron_profile.NeuronConfig(profile_output_dir="lr=1e-3")
import torch, torch_neuronx.profiling
torch_neuronx.profiling.attach(setattr)
with torch.profiler.profile(experimental_config=config):
    torch.ones(2, 2) @ torch.ones(2, 2)
assert "pandas" not in sys.modules
print(config.trace_path)
"""
    done = python("-c", code)
    assert Path(done.stdout.strip()).is_relative_to(tmp_path / "output")
    assert done.stderr.count("is not handed to the Neuron runtime") == 1
    trace = load(done.stdout.strip())
    assert rows(trace, "aten::mm")
    assert rows(trace, "MATMUL")
