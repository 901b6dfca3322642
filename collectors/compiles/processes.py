"""Compilers that run as processes of their own: when, with what result, and what they made."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from collectors.base import Budget, Clock, Window
from collectors.compiles.call import COMPILER
from collectors.compiles.output import CompilerOutput
from collectors.compiles.watch import CompilerProcess, CompilerWatch
from trace_format.free_lines import FreeLines
from trace_format.importers.neuronx_cc.messages import exit_status
from trace_format.tables import CATEGORIES

if TYPE_CHECKING:
    from trace_format import TraceBuilder

_COMPILE = CATEGORIES.index("compile")


class CompilerProcesses:
    """Each run of neuronx-cc by this process or a descendant of it, as a slice and a row of `compiles`.

    What it wrote is read where its command line says it lies: the NEFF, its log, its measurements.
    """

    name = "compilers"
    budget = Budget()

    def __init__(self, window: Window) -> None:
        self.found = 0
        self._watch: CompilerWatch | None = None

    def start(self, clock: Clock) -> None:
        self._watch = CompilerWatch(clock)
        self._watch.start()

    def stop(self) -> None:
        if self._watch is not None:
            self._watch.stop()

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        if self._watch is None:
            return
        output = CompilerOutput(builder, until_s=time.monotonic() + self.budget.seconds / 2)
        processes = self._watch.finish()
        self.found = len(processes)
        lanes, free, busy = list[int](), FreeLines(), list[tuple[int, int]]()  # until when, which lane
        for process in processes:
            for end_ns, lane in list(busy):
                if 0 <= end_ns <= process.start_ns:
                    busy.remove((end_ns, lane))
                    free.give(lane)
            lane = free.lowest(0)
            free.take(lane)
            busy.append((process.end_ns, lane))
            if lane == len(lanes):
                name = COMPILER if not lane else f"{COMPILER} {lane + 1}"
                lanes.append(builder.track(name, kind="compile", host=host, rank=rank, pid=os.getpid(), sort_index=-1))
            self._add(builder, process, lanes[lane], output)
        builder.report.source_events += len(processes) + self._watch.left_out
        if self._watch.left_out:
            builder.report.left_out["run of a compiler beyond what is kept of a window"] += self._watch.left_out
        for cause, count in self._watch.boundary.losses.items():
            builder.report.source_events += count
            builder.report.left_out[cause] += count
        builder.metadata["sources"] = [{"format": "compiler processes", "clock": "unix"}]

    def _add(self, builder: TraceBuilder, process: CompilerProcess, track: int, output: CompilerOutput) -> None:
        call, string = process.call, builder.string
        neff = output.neff(process)
        logged = output.logged(process, track)
        status = logged.exit_status if process.exit_code is None else exit_status(process.exit_code)
        args = {
            "command": call.command,
            "pid": process.pid,
            "target": call.target or None,
            "output": str(call.output) if call.output else None,
            "exit_status": status if status >= 0 else None,
            "start_within_ns": process.start_within_ns,
        }
        row = builder["slices"].append(
            1,
            ts_ns=process.start_ns,
            dur_ns=process.end_ns - process.start_ns if process.end_ns >= 0 else -1,
            track=track,
            name=string(f"{COMPILER} {call.what}".rstrip()),
            category=_COMPILE,
            source_category=string("process"),
            args=_arg_set(builder, args),
        )
        builder["compiles"].append(
            1,
            slice=row,
            what=string(call.what),
            backend=string(COMPILER),
            neff=neff,
            exit_status=status,
            phases=_arg_set(builder, logged.phases_ns),
        )


def _arg_set(builder: TraceBuilder, args: Mapping[str, Any]) -> int:
    known = {name: value for name, value in args.items() if value is not None}
    return builder.pool.arg_sets.id(json.dumps(known).encode("ascii")) if known else 0
