"""Writes a trace as a Perfetto protobuf trace (.pftrace)."""

from __future__ import annotations

import os

import numpy as np

from trace_format.exporters.lanes import lay_out
from trace_format.exporters.perfetto.packets import packets
from trace_format.exporters.sink import Sink
from trace_format.trace import Trace

__all__ = ["not_written", "write_perfetto_trace"]

# Perfetto drops a slice inside 512 others without a word (kMaxDepth in slice_tracker.cc); one is left for instants.
_LEVELS = 511
_NOT_WRITTEN = ("samples", "collectives", "compiles", "neffs", "tensors")


def write_perfetto_trace(trace: Trace, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a trace for ui.perfetto.dev and trace_processor: track events with absolute times in nanoseconds.

    Holds slices, instants, counters, flows, and memory totals as counters; what has no place there (samples, tables
    about collectives, compiles and NEFFs, import report) is not in it. Raises TraceFileError where the file exists
    and `force` is not given, or where it cannot be written.
    """
    with Sink(path, force=force) as sink:
        for part in packets(trace, lay_out(trace, levels=_LEVELS)):
            sink.write(part)


def not_written(trace: Trace) -> dict[str, int]:
    """How many rows of what has no place in such a file, by what they are; what there is nothing of is not named."""
    tables = {name: len(getattr(trace, name)) for name in _NOT_WRITTEN} | {n: len(t) for n, t in trace.extra.items()}
    counters = {"counter values that are no number": int((~np.isfinite(trace.counters.value)).sum())}
    return {what: rows for what, rows in {**tables, **counters}.items() if rows}
