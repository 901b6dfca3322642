"""NeuronProfiler as AWS documents it: an exporter for torch.profiler, and a recorder of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from torch.profiler import ProfilerActivity, profile, schedule

from neuron_profile import NeuronConfig, NeuronProfiler
from trace_format import read_trace

CPU = [ProfilerActivity.CPU]
Step = Callable[[], None]


def test_as_on_trace_ready_it_writes_chrome_json_beside_each_trace(config: NeuronConfig, step: Step, tmp_path: Path):
    with profile(
        activities=CPU,
        experimental_config=config,
        schedule=schedule(wait=0, warmup=1, active=1, repeat=2),
        on_trace_ready=NeuronProfiler(config).export_trace,
    ) as prof:
        for _ in range(4):
            step()
            prof.step()
    folders = sorted((tmp_path / "out").glob("*/*"))
    assert [sorted(f.name for f in folder.iterdir()) for folder in folders] == [["trace.json", "trace.pb"]] * 2
    exported = json.loads((folders[0] / "trace.json").read_text())
    names = [event["name"] for event in exported["traceEvents"] if event["ph"] == "X"]
    assert sorted(names) == sorted(read_trace(folders[0] / "trace.pb").slices.text("name"))


def test_exporting_a_window_again_gives_the_same_file(
    config: NeuronConfig, step: Step, caplog: pytest.LogCaptureFixture
):
    exporter = NeuronProfiler(config)
    with profile(activities=CPU, experimental_config=config, on_trace_ready=exporter.export_trace) as prof:
        step()
    path = exporter.export_trace(prof)
    assert path is not None
    assert config.trace_path is not None
    assert path == config.trace_path.with_name("trace.json")
    assert json.loads(path.read_text())["traceEvents"]
    assert caplog.text == ""


def test_a_file_that_is_not_ours_is_not_written_over(
    config: NeuronConfig, step: Step, caplog: pytest.LogCaptureFixture
):
    with profile(activities=CPU, experimental_config=config) as prof:
        step()
    assert config.trace_path is not None
    theirs = config.trace_path.with_name("trace.json")
    theirs.write_text("theirs")
    assert NeuronProfiler(config).export_trace(prof) is None
    assert theirs.read_text() == "theirs"
    assert caplog.text.count("\n") == 1
    assert str(theirs) in caplog.text


def test_it_exports_a_profile_that_has_another_config(config: NeuronConfig, step: Step, tmp_path: Path):
    with profile(activities=CPU, on_trace_ready=NeuronProfiler(config).export_trace):
        step()
    assert config.trace_path is not None
    assert "aten::addmm" in read_trace(config.trace_path).slices.text("name")
    assert config.trace_path.with_name("trace.json").exists()


def test_as_a_context_manager_it_records_with_everything_turned_on(config: NeuronConfig, step: Step):
    with NeuronProfiler(config):
        step()
    trace = read_trace(config.trace_path)
    assert trace.metadata["recording"]["turned_on"] == ["record_shapes", "with_flops", "profile_memory"]
    assert len(trace.memory) > 0


def test_stop_returns_where_the_trace_is(config: NeuronConfig, step: Step):
    profiler = NeuronProfiler(config)
    profiler.start()
    step()
    assert profiler.stop() == config.trace_path
    assert config.trace_path is not None


def test_it_can_record_again(config: NeuronConfig, step: Step):
    profiler = NeuronProfiler(config)
    paths = []
    for _ in range(2):
        with profiler:
            step()
        paths.append(config.trace_path)
    assert len(set(paths)) == 2


def test_a_second_start_and_a_stop_without_a_start_are_ignored(config: NeuronConfig, step: Step):
    profiler = NeuronProfiler(config)
    assert profiler.stop() is None
    profiler.start()
    profiler.start()
    step()
    assert profiler.stop() is not None
    assert profiler.stop() is None


def test_a_start_that_failed_is_no_recording(config: NeuronConfig, step: Step, monkeypatch: pytest.MonkeyPatch):
    def fail(_: profile) -> None:
        raise OSError("out of order")

    profiler = NeuronProfiler(config)
    with monkeypatch.context() as patch:
        patch.setattr(profile, "start", fail)
        with pytest.raises(OSError, match="out of order"):
            profiler.start()
    with profiler:
        step()
    assert config.trace_path is not None


def test_an_exception_in_the_body_passes_and_the_trace_is_there(config: NeuronConfig, step: Step):
    with pytest.raises(ZeroDivisionError), NeuronProfiler(config):
        step()
        raise ZeroDivisionError
    assert config.trace_path is not None


def test_without_torch_it_still_leaves_a_trace(python):
    python(
        "-c",
        """
import sys
sys.modules["torch"] = None
from neuron_profile import NeuronConfig, NeuronProfiler
from trace_format import read_trace
config = NeuronConfig()
with NeuronProfiler(config):
    pass
trace = read_trace(config.trace_path)
assert trace.metadata["stop_ns"] >= trace.metadata["start_ns"]
assert len(trace.slices) == 0
""",
    )


def test_nothing_is_exported_for_a_window_that_was_refused(config: NeuronConfig, step: Step, tmp_path: Path):
    exporter = NeuronProfiler(NeuronConfig(profile_output_dir=tmp_path / "inner"))
    with profile(activities=CPU, experimental_config=config):
        ours = exporter.config
        inner = profile(activities=CPU, experimental_config=ours, on_trace_ready=exporter.export_trace)
        with pytest.warns(RuntimeWarning, match="already running"):
            inner.start()
        step()
        inner.stop()
    assert not (tmp_path / "inner").exists()
    assert config.trace_path is not None
