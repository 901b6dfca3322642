"""How busy the host was during a window."""

from __future__ import annotations

from collections import namedtuple
from types import SimpleNamespace

import pytest

from collectors import Window, host_load
from collectors.host_load import HostLoad
from trace_format import Trace, TraceBuilder

SECOND = 10**9
CpuTimes = namedtuple("CpuTimes", "user system idle iowait guest")


def collected(load: HostLoad) -> Trace:
    builder = TraceBuilder()
    load.collect(builder, host="here", rank=3)
    return builder.finish()


def counter(trace: Trace, name: str) -> tuple[list[int], list[float]]:
    rows = trace.counters.track == trace.tracks.text("name").index(name)
    return trace.counters.ts_ns[rows].tolist(), trace.counters.value[rows].tolist()


class Machine:
    """Stands in for psutil and the clock: every pass is a second later.

    Core 0 idles. Core 1 is 0.5 s of each second in user code, 0.2 s of that for a guest, 0.1 s in the kernel and
    0.1 s waiting for a disk, which is idling. The process uses 0.6 s of each second and has 4096 bytes.
    """

    def __init__(self, passes: int) -> None:
        self.passes, self.seconds = passes, 0

    def clock(self) -> int:
        self.seconds += 1
        return self.seconds * SECOND

    def cpu_times(self, *, percpu: bool) -> list[CpuTimes]:
        s = self.seconds
        return [CpuTimes(0, 0, s, 0, 0), CpuTimes(0.5 * s, 0.1 * s, 0.3 * s, 0.1 * s, 0.2 * s)] if percpu else []

    def Process(self) -> SimpleNamespace:  # noqa: N802 - psutil's name
        return SimpleNamespace(
            memory_info=lambda: SimpleNamespace(rss=4096),
        )

    def process_time(self) -> float:
        return 0.6 * self.seconds

    def wait(self, _: float) -> bool:
        """As threading.Event.wait: False for as many passes as there are to be."""
        self.passes -= 1
        return self.passes < 0


class Ticks(Machine):
    """The same with a clock that is late: passes are 0.95, 1.05, 0.95, ... s apart, and what Linux counts is not.

    Core 0 is stopped, and core 1 busy all the time, of which Linux says 1 s each second, as it counts whole ticks.
    Both cores are busy with the process.
    """

    def clock(self) -> int:
        return super().clock() + (self.seconds % 2) * SECOND // 20

    def cpu_times(self, *, percpu: bool) -> list[CpuTimes]:
        return [CpuTimes(7, 0, 7, 0, 0), CpuTimes(self.seconds, 0, 5, 2, 0)] if percpu else []

    def process_time(self) -> float:
        return 2.0 * self.seconds


def sampled(passes: int, monkeypatch: pytest.MonkeyPatch, kind: type[Machine] = Machine) -> Trace:
    machine = kind(passes)
    monkeypatch.setitem(__import__("sys").modules, "psutil", machine)
    monkeypatch.setattr(host_load.time, "process_time", machine.process_time)
    load = HostLoad(Window())
    monkeypatch.setattr(load, "_stop", machine)
    load.start(machine.clock)
    return collected(load)


def test_busy_cores_are_counted_without_waiting_and_guests(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = sampled(3, monkeypatch)
    times = [2 * SECOND, 3 * SECOND, 4 * SECOND]
    assert counter(trace, "CPU 0") == (times, [0.0, 0.0, 0.0])
    # 0.5 + 0.1 of user and system, of which 0.2 was the guest's: counted by Linux in user and in guest
    assert counter(trace, "CPU 1") == (times, pytest.approx([0.6, 0.6, 0.6]))
    assert counter(trace, "process CPU") == (times, pytest.approx([0.6, 0.6, 0.6]))
    assert counter(trace, "process memory") == (times, [4096.0] * 3)
    units = dict(zip(trace.tracks.text("name"), trace.tracks.text("unit"), strict=True))
    assert units == {"Host": "", "CPU 0": "cores", "CPU 1": "cores", "process CPU": "cores", "process memory": "bytes"}
    assert set(trace.tracks.rank.tolist()) == {3}
    assert trace.report.to_dict() == {"source_events": 12, "kept": 12, "left_out": {}, "repaired": {}}


def test_what_linux_counts_in_ticks_is_no_more_than_a_whole_core(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = sampled(4, monkeypatch, Ticks)
    assert counter(trace, "CPU 1")[1] == [1.0] * 4
    # 2 s within 0.95 s would be 2.1 of 2 cores
    assert counter(trace, "process CPU")[1] == pytest.approx([2.0, 2 / 1.05, 2.0, 2 / 1.05])
    # of a core that has no time nothing is known
    assert all(value != value for value in counter(trace, "CPU 0")[1])


def test_a_long_window_is_sampled_less_often_and_keeps_its_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_load, "_MOST_SAMPLES", 4)
    trace = sampled(5, monkeypatch)  # after the fourth, two become one: rows at 3 s, 5 s and 6 s
    times, values = counter(trace, "CPU 1")
    assert times == [3 * SECOND, 5 * SECOND, 6 * SECOND]
    assert values == pytest.approx([0.6, 0.6, 0.6])
    assert trace.metadata["sources"] == [{"format": "host load", "clock": "unix", "interval_ns": 200_000_000}]


def test_a_window_shorter_than_the_first_sample_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = sampled(0, monkeypatch)
    assert len(trace.counters) == 0
    assert trace.report.source_events == 0


def test_on_this_machine_the_numbers_are_possible() -> None:
    import time

    import psutil

    load = HostLoad(Window())
    load.start(time.time_ns)
    while len(load._samples.columns()[0]) < 2:  # work until it was seen twice
        sum(range(10_000))
    load.stop()
    trace = collected(load)
    cores = psutil.cpu_count()
    assert {f"CPU {core}" for core in range(cores)} < set(trace.tracks.text("name"))
    _, busy = counter(trace, "process CPU")
    assert 0 < max(busy) <= cores
    for core in range(cores):
        assert 0 <= max(counter(trace, f"CPU {core}")[1]) <= 1
    _, memory = counter(trace, "process memory")
    assert min(memory) > 10_000_000  # this process has imported numpy at least
