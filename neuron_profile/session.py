"""One profiler window: from torch's preparation to the trace.pb on disk."""

from __future__ import annotations

import dataclasses
import functools
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from collectors import Clock, Collector, Refining, Window, make_collector
from collectors.boundary import Boundary, log_once
from collectors.deadline import call_within
from neuron_profile._version import __version__
from neuron_profile.neuron_runtime import inspect_conflict
from neuron_profile.recording import Recording
from neuron_profile.session_directory import runtime_directory, session_directory, why_unusable
from neuron_profile.simulated_device import SECONDS as SIMULATION_SECONDS
from neuron_profile.simulated_device import with_simulated_device
from trace_format import Trace, TraceBuilder, write_trace
from trace_format.errors import NeuronProfileError
from trace_format.garbage import collection_paused
from trace_format.merge import append_trace
from trace_format.trace_pb.consistency import contradiction

if TYPE_CHECKING:
    from neuron_profile.config import NeuronConfig

FILE_NAME = "trace.pb"
TORCH = "torch"  # whose events the others refer to: it fills the trace itself
T = TypeVar("T")


class UnfitTablesError(NeuronProfileError):
    """What a collector brought contradicts itself: a file with it could not be opened."""


class Session:
    """Runs the collectors over one window and writes what they recorded.

    Call `start` right after torch began to record, `mark_stop` right before it stops, `finish` after that.
    None of them raises because of a failure of the profiler: that costs a counted note in the trace
    (see `collectors.boundary`).
    """

    def __init__(
        self, config: NeuronConfig, profile: Any, recording: Recording | None, *, clock: Clock = time.time_ns
    ) -> None:
        """`profile`: the torch.profiler object of this window; None, with `recording` None, where there is none."""
        self._config = config
        self._clock = clock
        self._recording = recording
        self._boundary = Boundary()
        self._collectors: list[Collector] = []
        self._output = config.profile_output_dir.absolute()  # the program may change its directory meanwhile
        self._prepared_ns = clock()
        self._started_ns: int | None = None  # None: the window was over when we came
        self._stopped_ns: int | None = None
        problem = why_unusable(self._output)
        if problem:
            log_once(
                f"no trace will be written to profile_output_dir {self._output}: {problem}; "
                "give profile_output_dir a folder that you may write to"
            )
        self._runtime = config._runtime
        runtime_output = self._runtime.output(config._handed_on or "") or self._output
        self._outputs = list(dict.fromkeys((self._output, runtime_output.absolute())))
        self._conflict = inspect_conflict()
        if self._conflict:
            log_once(self._conflict)
        window = Window(
            profile=profile, output=self._output, neff_cache_dir=config.neff_cache_dir,
            runtime_folder=lambda: self._runtime_folder,
        )  # fmt: skip
        for name in config.collectors:
            with self._boundary.around(f"collector {name!r}"):
                self._collectors.append(make_collector(name, window))
        self._collectors += [make(window) for make in config._own_collectors]

    def start(self) -> None:
        """Start the collectors; the window begins here."""
        self._started_ns = self._clock()
        for collector in self._collectors:
            with self._boundary.around(f"start of collector {collector.name!r}"):
                _call(collector, collector.start, self._clock)

    def mark_stop(self) -> None:
        """End the window, so that nothing that torch or we do at stop is in it."""
        self._stopped_ns = self._clock()
        for collector in self._collectors:
            with self._boundary.around(f"stop of collector {collector.name!r}"):
                _call(collector, collector.stop)

    def finish(self) -> Path | None:
        """Write the trace and return where it is; None where that was not possible (the log says why)."""
        with self._boundary.around("the trace"), collection_paused():
            trace = self._assemble()
            with session_directory(
                self._output, made=self._runtime_folder, started_ns=self._started_ns or self._prepared_ns
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
        trace = builder.finish(metadata=self._metadata(builder.metadata, host, rank, world_size))
        for collector in self._collectors:
            if isinstance(collector, Refining):
                with self._boundary.around(f"collector {collector.name!r}"):
                    trace = _call(collector, collector.refine, trace)
        with self._boundary.around("the simulated device"):
            trace = call_within(SIMULATION_SECONDS, with_simulated_device, trace, self._config.device_model)
        trace.report.repaired.update(self._runtime_notes())
        self._boundary.losses.update(self._runtime.losses)
        for cause, events in self._boundary.losses.items():
            trace.report.source_events += events
            trace.report.left_out[cause] += events
        metadata = {**trace.metadata, "collector_losses": dict(self._boundary.losses)}
        return dataclasses.replace(trace, metadata=MappingProxyType(metadata))

    @functools.cached_property
    def _runtime_folder(self) -> Path | None:
        """The folder that the Neuron runtime made for this window; None where it made none. To be asked after it."""
        with self._boundary.around("the search for the Neuron runtime's folder"):
            return runtime_directory(
                self._outputs,
                prepared_ns=self._prepared_ns,
                stopped_ns=self._stopped_ns or self._clock(),
                named=self._runtime.named_folder(),
            )
        return None

    def _runtime_notes(self) -> list[str]:
        """What was not as it should be with the Neuron runtime, each in one line."""
        notes = [*self._runtime.notes, *([self._conflict] if self._conflict else [])]
        if self._runtime.is_there and self._config.modes and self._runtime_folder is None:
            missing = (
                f"torch_neuronx left no folder of this process and window in {' or '.join(map(str, self._outputs))}: "
                "no device timeline (profile() needs activities=[CPU, PrivateUse1])"
            )
            log_once(missing)
            notes.append(missing)
        return notes

    def _metadata(self, told: dict[str, Any], host: str, rank: int | None, world_size: int | None) -> dict[str, Any]:
        return {
            "host": host,
            "device_model": told.get("device_model"),
            "pid": os.getpid(),
            "rank": rank,
            "world_size": world_size,
            "created_by": f"neuron-profile {__version__}",
            "start_ns": self._started_ns,
            "stop_ns": self._stopped_ns,
            "recording": self._recording.to_dict() if self._recording else None,
            "collectors": [collector.name for collector in self._collectors],
        }

    def _collect(self, collector: Collector, builder: TraceBuilder, *, host: str, rank: int) -> None:
        boundary = self._boundary.around(f"collector {collector.name!r}", events=lambda: collector.found)
        with boundary, builder.all_or_nothing():
            if collector.name == TORCH:
                collector.collect(builder, host=host, rank=rank)
                return
            own = TraceBuilder(most_rows=collector.budget.rows)
            _call(collector, collector.collect, own, host=host, rank=rank)
            brought = own.finish()
            problem = contradiction(brought.tables(), brought.pool)
            if problem:
                raise UnfitTablesError(problem.replace("the file", "what it brought"))
            _append(builder, brought, host=host, rank=rank)


def _call(collector: Collector, method: Callable[..., T], *args: Any, **keywords: Any) -> T:
    """What the collector's method returns. Raises what it raises, and DeadlineError where it takes too long."""
    if collector.name == TORCH:  # has its own thread to mind, and is waited for
        return method(*args, **keywords)
    return call_within(collector.budget.seconds, method, *args, **keywords)


def _append(builder: TraceBuilder, trace: Trace, *, host: str, rank: int) -> None:
    """Add what a collector brought; its tracks of this process go under the process's track."""
    tracks, pid = trace.tracks, os.getpid()
    mine = (tracks.parent < 0) & (tracks.pid == pid)
    process = _process_track(builder, host=host, rank=rank) if mine.any() else -1
    first = builder["tracks"].rows
    parent = np.where(mine, process, np.where(tracks.parent < 0, -1, tracks.parent + first))
    append_trace(builder, trace, {"tracks": {"parent": parent}})
    told = dict(trace.metadata)
    builder.metadata.setdefault("sources", []).extend(told.pop("sources", []))
    for key, value in told.items():
        builder.metadata.setdefault(key, value)


def _process_track(builder: TraceBuilder, *, host: str, rank: int) -> int:
    """The track of this process, made where torch has made none."""
    tracks = builder.collected(builder["tracks"])
    found = np.flatnonzero((tracks.parent < 0) & (tracks.pid == os.getpid()) & (tracks.kind == 0))
    if len(found):
        return int(found[0])
    return builder.track("python", host=host, rank=rank, pid=os.getpid())


def _place_in_job() -> tuple[int | None, int | None]:
    """This process's rank and the number of ranks; None where neither torch.distributed nor the launcher says."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    rank, world_size = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    return int(rank) if rank.isdecimal() else None, int(world_size) if world_size.isdecimal() else None
