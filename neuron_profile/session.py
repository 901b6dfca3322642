"""One profiler window: from torch's preparation to the trace.pb on disk."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collectors import Collector, make_collector
from collectors.boundary import Boundary, log_once
from neuron_profile._version import __version__
from neuron_profile.recording import Recording
from neuron_profile.session_directory import session_directory, why_unusable
from trace_format import Trace, TraceBuilder, write_trace
from trace_format.garbage import collection_paused

if TYPE_CHECKING:
    from neuron_profile.config import NeuronConfig

FILE_NAME = "trace.pb"


class Session:
    """Runs the collectors over one window and writes what they recorded.

    Call `start` right after torch began to record, `mark_stop` right before it stops, `finish` after that.
    None of them raises because of a failure of the profiler: that costs a counted note in the trace
    (see `collectors.boundary`).
    """

    def __init__(self, config: NeuronConfig, profile: Any, recording: Recording | None) -> None:
        """`profile`: the torch.profiler object of this window; None, with `recording` None, where there is none."""
        self._config = config
        self._recording = recording
        self._boundary = Boundary()
        self._collectors: list[Collector] = []
        self._output = config.profile_output_dir.absolute()  # the program may change its directory meanwhile
        self._prepared_ns = time.time_ns()
        self._started_ns: int | None = None  # None: the window was over when we came
        self._stopped_ns: int | None = None
        problem = why_unusable(self._output)
        if problem:
            log_once(f"no trace will be written to profile_output_dir {self._output}: {problem}")
        for name in config.collectors:
            with self._boundary.around(f"collector {name!r}"):
                self._collectors.append(make_collector(name, profile))

    def start(self) -> None:
        """Start the collectors; the window begins here."""
        self._started_ns = time.time_ns()
        for collector in self._collectors:
            with self._boundary.around(f"start of collector {collector.name!r}"):
                collector.start()

    def mark_stop(self) -> None:
        """End the window, so that nothing that torch or we do at stop is in it."""
        self._stopped_ns = time.time_ns()
        for collector in self._collectors:
            with self._boundary.around(f"stop of collector {collector.name!r}"):
                collector.stop()

    def finish(self) -> Path | None:
        """Write the trace and return where it is; None where that was not possible (the log says why)."""
        with self._boundary.around("the trace"), collection_paused():
            trace = self._assemble()
            with session_directory(
                self._output,
                prepared_ns=self._prepared_ns,
                started_ns=self._started_ns or self._prepared_ns,
                stopped_ns=self._stopped_ns or time.time_ns(),
            ) as directory:
                path = directory / FILE_NAME
                write_trace(trace, path)
            self._config._wrote(path)
            return path
        return None

    def _assemble(self) -> Trace:
        host = socket.gethostname()
        rank, world_size = _place_in_job()
        builder = TraceBuilder()
        for collector in self._collectors:
            self._collect(collector, builder, host=host, rank=-1 if rank is None else rank)
        for cause, events in self._boundary.losses.items():
            builder.report.source_events += events
            builder.report.left_out[cause] += events
        return builder.finish(
            metadata={
                "host": host,
                "device_model": builder.metadata.get("device_model"),
                "pid": os.getpid(),
                "rank": rank,
                "world_size": world_size,
                "created_by": f"neuron-profile {__version__}",
                "start_ns": self._started_ns,
                "stop_ns": self._stopped_ns,
                "recording": self._recording.to_dict() if self._recording else None,
                "collectors": [collector.name for collector in self._collectors],
                "collector_losses": dict(self._boundary.losses),
            }
        )

    def _collect(self, collector: Collector, builder: TraceBuilder, *, host: str, rank: int) -> None:
        boundary = self._boundary.around(f"collector {collector.name!r}", events=lambda: collector.found)
        with boundary, builder.all_or_nothing():
            collector.collect(builder, host=host, rank=rank)


def _place_in_job() -> tuple[int | None, int | None]:
    """This process's rank and the number of ranks; None where neither torch.distributed nor the launcher says."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    rank, world_size = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    return int(rank) if rank.isdecimal() else None, int(world_size) if world_size.isdecimal() else None
