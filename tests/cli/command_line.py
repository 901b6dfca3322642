"""Running the command line for tests: in this process, or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from trace_format import CATEGORIES, Trace, TraceBuilder

ROOT = Path(__file__).resolve().parents[2]


def command(*args: str | os.PathLike[str]) -> list[str]:
    """The argv of `neuron-explorer` with these arguments."""
    return [sys.executable, "-m", "explorer_app.cli.main", *map(os.fspath, args)]


def environment() -> dict[str, str]:
    """An environment in which the packages under test are found from any folder, and no browser is opened."""
    found = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return {**found, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}


def run(
    *args: str | os.PathLike[str], cwd: Path | None = None, python: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """`neuron-explorer` in a process of its own, or `python -c` with this code."""
    argv = [sys.executable, *python] if python else command(*args)
    return subprocess.run(
        argv, cwd=cwd, env=environment(), capture_output=True, text=True, timeout=300, check=False, encoding="utf-8"
    )


def small_trace(*extra_names: str) -> Trace:
    """A step of 100 ns on the host with an operator of 60 in it, and a kernel of 40 on the device."""
    builder = TraceBuilder()
    host = builder.track("thread 1", kind="host_thread", pid=1, tid=1)
    device = builder.track("stream 7", kind="stream", device=0)
    rows = [
        (host, "ProfilerStep#0", "annotation", 1000, 100),
        (host, "aten::mm", "host_op", 1010, 60),
        (device, "gemm", "compute", 1050, 40),
        *((host, name, "host_op", 2000 + 10 * i, 5) for i, name in enumerate(extra_names)),
    ]
    for track, name, category, start, dur in rows:
        builder["slices"].append(
            1, track=track, name=builder.string(name), category=CATEGORIES.index(category), ts_ns=start, dur_ns=dur
        )
    builder.report.source_events = len(rows)
    return builder.finish(metadata={"host": "here"})
