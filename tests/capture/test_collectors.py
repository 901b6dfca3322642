"""What every collector may do to a session: little."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import collectors
import neuron_profile.session
from collectors import Budget, Clock, Window, known_collectors, make_collector
from collectors.scripted import Scripted
from neuron_profile import NeuronConfig, NeuronProfiler
from neuron_profile.config import ConfigError
from trace_format import Trace, TraceBuilder, read_trace


@pytest.fixture
def capture(config: NeuronConfig, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Trace]:
    """Records a window with this collector alone and returns the trace."""

    def record(collector: Any) -> Trace:
        monkeypatch.setattr(neuron_profile.session, "make_collector", lambda name, window: collector)
        config.collectors = (collector.name,)
        with NeuronProfiler(config):
            pass
        assert config.trace_path is not None
        return read_trace(config.trace_path)

    return record


def test_what_a_collector_brings_stands_under_the_process_on_its_clock(capture: Callable[[Any], Trace]) -> None:
    trace = capture(Scripted([("load", 100, 50), ("run", 200, 700)]))
    assert trace.slices.text("name") == ["load", "run"]
    start = trace.metadata["start_ns"]
    first = int(trace.slices.ts_ns[0])
    assert first - 100 >= start  # the session's clock was asked first
    assert int(trace.slices.ts_ns[1]) - first == 100
    assert trace.slices.dur_ns.tolist() == [50, 700]
    line = int(trace.slices.track[0])
    process = int(trace.tracks.parent[line])
    assert trace.tracks.text("name")[line] == "scripted"
    assert trace.tracks.text("name")[process] == "python"
    assert trace.tracks.pid[process] == trace.metadata["pid"]
    assert trace.report.to_dict() == {"source_events": 2, "kept": 2, "left_out": {}, "repaired": {}}


class Hanging(Scripted):
    """Never comes back from one of its methods, until it is let go."""

    def __init__(self, where: str, let_go: threading.Event, *, name: str = "hanging") -> None:
        super().__init__([("op", 0, 1)], name=name, budget=Budget(seconds=0.05))
        self._where, self._let_go = where, let_go

    def start(self, clock: Clock) -> None:
        super().start(clock)
        self._hang("start")

    def stop(self) -> None:
        self._hang("stop")

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        super().collect(builder, host=host, rank=rank)
        self._hang("collect")

    def _hang(self, where: str) -> None:
        if where == self._where:
            self._let_go.wait()


@pytest.fixture
def let_go() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize(
    ("where", "what", "rows"),
    [("start", "start of collector", 1), ("stop", "stop of collector", 1), ("collect", "collector", 0)],
)
def test_a_collector_that_hangs_is_waited_for_no_longer_than_its_budget(
    where: str, what: str, rows: int, capture: Callable[[Any], Trace], let_go: threading.Event
) -> None:
    trace = capture(Hanging(where, let_go))
    note = f"{what} 'hanging' failed: DeadlineError: took longer than 0.05 s"
    assert trace.report.left_out == {note: 1}
    assert len(trace.slices) == rows


def test_a_hanging_collector_is_told_of_in_one_line(
    capture: Callable[[Any], Trace], let_go: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    capture(Hanging("stop", let_go, name="stuck"))
    assert caplog.text.count("\n") == len(caplog.messages) == 1


@pytest.mark.parametrize("ending", [SystemExit(3), KeyboardInterrupt()])
def test_a_collector_cannot_end_the_program(ending: BaseException, capture: Callable[[Any], Trace]) -> None:
    class Ending(Scripted):
        def stop(self) -> None:
            raise ending

    note = f"stop of collector 'ending' failed: RuntimeError: would have ended the program: {ending!r}"
    assert capture(Ending([("op", 0, 1)], name="ending")).report.left_out == {note: 1}


def test_rows_that_refer_to_what_a_collector_did_not_bring_are_left_out_and_counted(
    capture: Callable[[Any], Trace],
) -> None:
    class Lying(Scripted):
        def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
            builder["slices"].append(2, ts_ns=[1, 2], dur_ns=[1, 1], track=7)

    trace = capture(Lying([("op", 0, 1)] * 2, name="lying"))
    problem = "column slices.track refers to something what it brought lacks"
    assert trace.report.left_out == {f"collector 'lying' failed: UnfitTablesError: {problem}": 2}
    assert len(trace.slices) == len(trace.tracks) == 0


def test_a_collector_that_floods_is_left_out_and_its_events_are_counted(capture: Callable[[Any], Trace]) -> None:
    flood = Scripted([("op", i, 1) for i in range(1000)], name="flood", budget=Budget(rows=500))
    trace = capture(flood)
    assert trace.report.left_out == {"collector 'flood' failed: TooManyRowsError: brought more rows than it may": 1000}
    assert len(trace.slices) == 0


def test_a_collector_may_complete_what_others_recorded(capture: Callable[[Any], Trace]) -> None:
    class Completing(Scripted):
        def refine(self, trace: Trace) -> Trace:
            return Trace.of(trace.pool, trace.tables(), metadata={**trace.metadata, "seen": len(trace.slices)})

    assert capture(Completing([("op", 0, 1)])).metadata["seen"] == 1


def test_an_installed_package_offers_a_collector_by_an_entry_point(
    monkeypatch: pytest.MonkeyPatch, config: NeuronConfig
) -> None:
    offered = EntryPoint("theirs", "collectors_of_theirs:make", collectors.ENTRY_POINTS)
    monkeypatch.setattr(collectors, "entry_points", lambda group: [offered] if group == offered.group else [])
    theirs = type(sys)("collectors_of_theirs")
    theirs.make = lambda window: Scripted([("op", 0, 1)], name="theirs")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "collectors_of_theirs", theirs)
    assert "theirs" in known_collectors()
    assert make_collector("theirs", Window()).name == "theirs"
    with NeuronProfiler(NeuronConfig(collectors=["theirs"], profile_output_dir=config.profile_output_dir)) as profiler:
        pass
    assert read_trace(profiler.config.trace_path).slices.text("name") == ["op"]
    with pytest.raises(ConfigError, match=r"neither .default. nor a list of torch, .*theirs"):
        NeuronConfig(collectors=["ours"])


INSTALLED = """
import time

class Acme:
    name = "acme"
    found = 0

    def __init__(self, window):
        from collectors import Budget
        self.budget = Budget()
        self.spans = []

    def start(self, clock):
        self.clock, self.began = clock, clock()

    def stop(self):
        self.spans.append((self.began, self.clock() - self.began))

    def collect(self, builder, *, host, rank):
        import os
        track = builder.track("acme", host=host, rank=rank, pid=os.getpid())
        for ts_ns, dur_ns in self.spans:
            builder["slices"].append(1, ts_ns=ts_ns, dur_ns=dur_ns, track=track, name=builder.string("acme window"))
        self.found = builder.report.source_events = len(self.spans)

class Broken(Acme):
    name = "broken"

    def start(self, clock):
        raise OSError("no such device")
"""


def test_a_collector_of_another_distribution_is_in_the_trace_and_a_broken_one_is_counted(
    python: Callable[..., Any], tmp_path: Path
) -> None:
    site = tmp_path / "site"
    (site / "acme_profile-1.0.dist-info").mkdir(parents=True)
    (site / "acme_profile.py").write_text(INSTALLED)
    (site / "acme_profile-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: acme-profile\nVersion: 1.0\n"
    )
    (site / "acme_profile-1.0.dist-info" / "entry_points.txt").write_text(
        "[neuron_profile.collectors]\nacme = acme_profile:Acme\nbroken = acme_profile:Broken\n"
    )
    program = """
import torch
from torch.profiler import profile
from neuron_profile import NeuronConfig
config = NeuronConfig(profile_output_dir="out", collectors=["torch", "acme", "broken"], device_model="none")
with profile(experimental_config=config):
    torch.ones(3) + 1
"""
    root = Path(__file__).resolve().parents[2]
    python("-c", program, PYTHONPATH=f"{root}:{site}")
    (path,) = tmp_path.glob("out/*/*/trace.pb")
    trace = read_trace(path)
    names = trace.slices.text("name")
    assert names.count("acme window") == 1
    assert "aten::add" in names
    assert trace.metadata["collectors"] == ["torch", "acme", "broken"]
    assert any(
        "start of collector 'broken' failed: OSError: no such device" in cause for cause in trace.report.left_out
    )
