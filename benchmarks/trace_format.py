"""Size and speed of trace.pb: `python benchmarks/trace_format.py [MILLIONS ...]` (default 1 10).

One core, CPU seconds (`time.process_time`), file on disk, numpy and zstandard alone. Each row is the median of
several rounds in one run. Peak memory is that of a fresh process that does nothing but the read, over the same
process before it opened the file, beside the bytes of the columns it asked for.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

# This file has the name of the package it measures; its own folder must come last on the path.
sys.path.append(sys.path.pop(0))

ROUNDS = 5
WINDOWS = 20
SUBSET = ("ts_ns", "dur_ns", "name")

# getrusage would tell the peak of the process that started this one; Linux keeps each program's own.
_PEAK = """
import re, sys
from trace_format import TraceReader
def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
before = peak()
with TraceReader(sys.argv[1]) as reader:
    table = reader.table("slices", columns=sys.argv[2].split(",") if sys.argv[2] else None)
asked = sum(v.nbytes for v in table.stored().values() if v.strides != (0,))
print(peak() - before, asked)
"""


def cpu_seconds(action: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The median CPU time of `action`."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        action()
        times.append(time.process_time() - started)
    return statistics.median(times)


def peak_over_asked(path: Path, columns: tuple[str, ...]) -> str:
    command = [sys.executable, "-c", _PEAK, str(path), ",".join(columns)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    peak, asked = map(int, output)
    return f"{peak / 1e6:.0f} MB / {asked / 1e6:.0f} MB = {peak / asked:.2f}x"


def windows_ms(path: Path, first: int, last: int) -> tuple[float, float, int]:
    """Median and largest CPU time of opening the file and reading 1 % of its time, and the rows that gives."""
    from trace_format import TraceReader

    times, rows = [], []
    for i in range(WINDOWS):
        start = first + (last - first) * i // WINDOWS
        started = time.process_time()
        with TraceReader(path) as reader:
            rows.append(len(reader.table("slices", window_ns=(start, start + (last - first) // 100))))
        times.append(1e3 * (time.process_time() - started))
    return statistics.median(times), max(times), int(statistics.median(rows))


def measure(events: int, folder: Path) -> list[tuple[str, str]]:
    from synthetic import training_trace

    from trace_format import TraceReader, read_trace, write_trace

    trace = training_trace(events)
    rows = len(trace.slices)
    path = folder / "trace.pb"
    encode = cpu_seconds(lambda: write_trace(trace, path, force=True))
    decode = cpu_seconds(lambda: read_trace(path))
    with TraceReader(path) as reader:
        subset = cpu_seconds(lambda: reader.table("slices", columns=SUBSET))
    first, last = trace.time_range_ns or (0, 0)
    middle, worst, found = windows_ms(path, first, last)
    return [
        ("events", f"{rows:,}"),
        ("bytes / event", f"{path.stat().st_size / rows:.2f}"),
        ("encode", f"{rows / encode / 1e6:.1f} M events/s"),
        ("decode, all columns", f"{rows / decode / 1e6:.1f} M events/s"),
        ("decode, 3 columns", f"{rows / subset / 1e6:.1f} M events/s"),
        ("open + 1 % window", f"{middle:.1f} ms (max {worst:.1f}), {found:,} rows"),
        ("peak, all columns", peak_over_asked(path, ())),
        ("peak, 3 columns", peak_over_asked(path, SUBSET)),
    ]


def main() -> None:
    sizes = [float(argument) for argument in sys.argv[1:]] or [1, 10]
    with tempfile.TemporaryDirectory() as folder:
        columns = [measure(int(size * 1e6), Path(folder)) for size in sizes]
    for rows in zip(*columns, strict=True):
        print(f"{rows[0][0]:22}" + "".join(f"{value:>40}" for _, value in rows))


if __name__ == "__main__":
    main()
