"""How busy the host was: CPU utilisation of each core, and CPU time and memory of this process."""

from __future__ import annotations

import os
import threading
import time
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from collectors.base import Budget, Clock, Window

if TYPE_CHECKING:
    from trace_format import TraceBuilder

# A pass takes about 40 us of CPU on 2 cores, and /proc/stat grows by a line for each core.
_INTERVAL_S = 0.1
_IDLE = ("idle", "iowait")
_GUEST = ("guest", "guest_nice")  # Linux counts a guest's time as user's too
_MOST_SAMPLES = 20_000  # then two become one and the interval doubles


class HostLoad:
    """Samples in a thread of its own, every tenth of a second, less often in a long window.

    Counters: `CPU n` and `process CPU` in cores that were busy since the sample before (0 to 1 for one core, the
    process's up to their number; unknown for a core of which nothing was counted), `process memory` (resident) in
    bytes.
    """

    name = "host"
    budget = Budget()

    def __init__(self, window: Window) -> None:
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._samples = _Samples()
        self.found = 0

    def start(self, clock: Clock) -> None:
        self._thread = threading.Thread(target=self._run, args=(clock,), daemon=True, name="neuron_profile host")
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        if self._thread is None:
            return
        self._thread.join()
        times, values = self._samples.columns()
        self.found = values.size
        group = builder.track("Host", host=host, rank=rank)
        rows = [(f"CPU {core}", "cores", values[:, core]) for core in range(values.shape[1] - 2)]
        rows += [("process CPU", "cores", values[:, -2]), ("process memory", "bytes", values[:, -1])]
        for place, (name, unit, column) in enumerate(rows if len(times) else []):
            track = builder.track(
                name, kind="counter", parent=group, host=host, rank=rank, unit=unit, sort_index=place,
                pid=os.getpid() if name.startswith("process") else -1,
            )  # fmt: skip
            builder["counters"].append(len(times), ts_ns=times, track=track, value=column)
        builder.report.source_events += self.found
        builder.metadata["sources"] = [
            {"format": "host load", "clock": "unix", "interval_ns": self._samples.interval_ns}
        ]

    def _run(self, clock: Clock) -> None:
        import psutil

        process = psutil.Process()
        before = _Reading.now(psutil, clock)
        while not self._stop.wait(self._samples.interval_ns / 1e9):
            now = _Reading.now(psutil, clock)
            if now.ns > before.ns and now.cores.shape == before.cores.shape:
                memory = float(process.memory_info().rss)
                self._samples.add(now.ns, [*now.busy_since(before).tolist(), memory])
            before = now


@dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    """What has been counted until `ns`: of each core the seconds it was busy and idle, `(n, 2)`, of this process the
    seconds of CPU time."""

    ns: int
    process_s: float
    cores: np.ndarray

    @classmethod
    def now(cls, psutil: Any, clock: Clock) -> Self:
        return cls(clock(), time.process_time(), _cores(psutil))

    def busy_since(self, before: Self) -> np.ndarray:
        """How many cores were busy: for each core 0 to 1, last what the process had of them."""
        passed = np.maximum(self.cores - before.cores, 0.0)  # iowait may go back (proc(5), /proc/stat)
        total = passed.sum(axis=1)
        # Linux counts ticks of a hundredth of a second: a core's share is that of the ticks, not of the time between
        share = np.divide(passed[:, 0], total, out=np.full(len(total), np.nan), where=total > 0)
        process = (self.process_s - before.process_s) / ((self.ns - before.ns) / 1e9)
        return np.append(share, min(process, len(total)))  # the two clocks are read one after the other


def _cores(psutil: Any) -> np.ndarray:
    rows = []
    for times in psutil.cpu_times(percpu=True):
        idle, guest = (sum(getattr(times, name, 0.0) for name in names) for names in (_IDLE, _GUEST))
        rows.append((sum(times) - idle - guest, idle))
    return np.array(rows).reshape(-1, 2)


class _Samples:
    """Rows of numbers with a time; where they become too many, two become one."""

    def __init__(self) -> None:
        self.interval_ns = int(_INTERVAL_S * 1e9)
        self._times = array("q")
        self._rows: list[list[float]] = []

    def add(self, now_ns: int, row: list[float]) -> None:
        self._times.append(now_ns)
        self._rows.append(row)
        if len(self._rows) >= _MOST_SAMPLES:
            pairs = zip(self._rows[::2], self._rows[1::2], strict=True)
            self._rows = [[(a + b) / 2 for a, b in zip(*pair, strict=True)] for pair in pairs]
            self._times = self._times[1::2]
            self.interval_ns *= 2

    def columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Times `(n,) int64` and values `(n, columns) float64`."""
        width = len(self._rows[0]) if self._rows else 2
        return np.array(self._times, np.int64), np.array(self._rows, np.float64).reshape(-1, width)
