"""Whatever fails in the profiler costs a counted note, never the user's step."""

from __future__ import annotations

import errno
import gc
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from torch.profiler import ProfilerActivity, profile

import neuron_profile.session
from collectors import Budget, Clock, Window, make_collector
from collectors.boundary import Boundary
from collectors.torch_profiler.activities import KinetoActivities
from collectors.torch_profiler.events import ENDED_BY_ANOTHER
from neuron_profile import NeuronConfig, hook
from trace_format import TraceBuilder, read_trace

CPU = [ProfilerActivity.CPU]
Step = Callable[[], None]


class Failing:
    """A collector that fails in one of its methods, half way."""

    def __init__(self, name: str, where: str) -> None:
        self.name, self._where = name, where
        self.budget = Budget()
        self.found = 0

    def start(self, clock: Clock) -> None:
        self._fail("start")

    def stop(self) -> None:
        self._fail("stop")

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        if self._where == "collect":
            builder["slices"].append(ts_ns=[1], dur_ns=[2], track=[77])
            builder.report.source_events += 5
            self.found = 7
        self._fail("collect")

    def _fail(self, where: str) -> None:
        if where == self._where:
            raise RuntimeError("out of order")


def use(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Have sessions run a collector that fails at `where` before torch's."""

    def make(name: str, window: Window) -> Any:
        if name != "failing":
            return make_collector(name, window)
        if where == "construction":
            raise RuntimeError("out of order")
        return Failing(name, where)

    monkeypatch.setattr(neuron_profile.session, "make_collector", make)


@pytest.mark.parametrize(
    ("where", "note"),
    [
        ("construction", "collector 'failing' failed: RuntimeError: out of order"),
        ("start", "start of collector 'failing' failed: RuntimeError: out of order"),
        ("stop", "stop of collector 'failing' failed: RuntimeError: out of order"),
        ("collect", "collector 'failing' failed: RuntimeError: out of order"),
    ],
)
def test_a_failing_collector_is_a_counted_note_and_the_others_go_on(
    where: str, note: str, config: NeuronConfig, step: Step, monkeypatch: pytest.MonkeyPatch
):
    use(monkeypatch, where)
    config.collectors = ("failing", "torch")
    with profile(activities=CPU, experimental_config=config):
        step()
    trace = read_trace(config.trace_path)
    lost = 7 if where == "collect" else 1  # all events it had, where it knew of any
    assert trace.metadata["collector_losses"] == {note: lost}
    assert trace.report.left_out[note] == lost
    assert trace.report.kept + sum(trace.report.left_out.values()) == trace.report.source_events
    assert "aten::addmm" in trace.slices.text("name")
    if where == "collect":
        assert trace.slices.track.max() < len(trace.tracks)  # nothing is left of the half that was collected


def test_if_torchs_events_cannot_be_read_all_of_them_are_counted_as_lost(
    config: NeuronConfig, step: Step, monkeypatch: pytest.MonkeyPatch
):
    def fail(_: KinetoActivities) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(KinetoActivities, "names", fail)  # asked for last, when the others are in the trace
    with profile(activities=CPU, experimental_config=config) as prof:
        step()
    events = len(prof.profiler.kineto_results.trace_activities())
    note = "collector 'torch' failed: RuntimeError: out of order"
    trace = read_trace(config.trace_path)
    assert events > 100
    assert trace.report.to_dict() == {
        "source_events": events, "kept": 0, "left_out": {note: events}, "repaired": {},
    }  # fmt: skip
    assert len(trace.slices) == len(trace.memory) == 0


def test_a_trace_that_cannot_be_written_costs_the_trace_alone_and_is_told_of_at_once(
    step: Step, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "file").write_text("in the way")
    config = NeuronConfig(profile_output_dir=tmp_path / "file")
    with caplog.at_level(logging.WARNING), profile(activities=CPU, experimental_config=config) as prof:
        (early,) = caplog.messages
        step()
    assert len(prof.events()) > 0
    assert config.trace_path is None
    assert early.startswith(f"neuron_profile: no trace will be written to profile_output_dir {tmp_path / 'file'}: ")
    assert early.endswith("is not a folder; give profile_output_dir a folder that you may write to")
    assert caplog.messages[1].startswith("neuron_profile: the trace failed: ")
    assert caplog.text.count("\n") == len(caplog.messages) == 2


def test_a_full_disk_leaves_no_empty_folder(config: NeuronConfig, step: Step, monkeypatch: pytest.MonkeyPatch):
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(neuron_profile.session, "write_trace", full)
    with profile(activities=CPU, experimental_config=config):
        step()
    assert config.trace_path is None
    assert list(config.profile_output_dir.iterdir()) == []


def test_a_session_that_cannot_be_prepared_costs_the_trace_alone(
    config: NeuronConfig, step: Step, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: Any) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(hook, "Session", broken)
    with profile(activities=CPU, experimental_config=config) as prof:
        step()
    assert len(prof.events()) > 0
    assert config.trace_path is None


def test_results_that_torch_lost_are_an_empty_trace(config: NeuronConfig, step: Step, monkeypatch: pytest.MonkeyPatch):
    prof = profile(activities=CPU, experimental_config=config)
    prof.start()
    step()
    leave = type(prof.profiler).__exit__

    def lose(self: Any, *error: Any) -> None:
        leave(self, *error)
        self.kineto_results = None

    monkeypatch.setattr(type(prof.profiler), "__exit__", lose)
    prof.stop()
    trace = read_trace(config.trace_path)
    assert len(trace.slices) == 0
    assert trace.report.to_dict() == {"source_events": 1, "kept": 0, "left_out": {ENDED_BY_ANOTHER: 1}, "repaired": {}}


def test_an_error_of_torch_at_stop_passes_and_frees_the_turn(
    config: NeuronConfig, step: Step, monkeypatch: pytest.MonkeyPatch
):
    prof = profile(activities=CPU, experimental_config=config)
    prof.start()
    step()
    leave = type(prof.profiler).__exit__

    def fail(self: Any, *error: Any) -> None:
        leave(self, *error)
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(type(prof.profiler), "__exit__", fail)
        with pytest.raises(OSError, match="the disk is full"):
            prof.stop()
    assert config.trace_path is not None
    with profile(activities=CPU, experimental_config=config):
        step()


@pytest.mark.parametrize("was_on", [True, False])
def test_garbage_collection_is_as_it_was(was_on: bool, config: NeuronConfig, step: Step):
    try:
        (gc.enable if was_on else gc.disable)()
        with profile(activities=CPU, experimental_config=config):
            step()
        assert gc.isenabled() is was_on
    finally:
        gc.enable()


def test_each_cause_is_logged_once_and_counted_each_time(caplog: pytest.LogCaptureFixture):
    boundary = Boundary()
    for _ in range(3):
        with boundary.around("a test of the boundary"):
            raise ValueError("of one\nkind")
    cause = "a test of the boundary failed: ValueError: of one kind"
    assert dict(boundary.losses) == {cause: 3}
    assert caplog.text.count(cause) == 1


def test_the_boundary_lets_an_interrupt_pass():
    with pytest.raises(KeyboardInterrupt), Boundary().around("a test"):
        raise KeyboardInterrupt
