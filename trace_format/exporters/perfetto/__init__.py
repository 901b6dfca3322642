"""Writes a trace as a Perfetto protobuf trace (.pftrace)."""

from __future__ import annotations

import os

from trace_format.exporters.lanes import lay_out
from trace_format.exporters.perfetto.packets import packets
from trace_format.exporters.sink import Sink
from trace_format.trace import Trace

__all__ = ["write_perfetto_trace"]

# Perfetto drops a slice inside 512 others without a word (kMaxDepth in slice_tracker.cc); one is left for instants.
_LEVELS = 511


def write_perfetto_trace(trace: Trace, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a trace for ui.perfetto.dev and trace_processor: track events with absolute times in nanoseconds.

    Holds slices, instants, counters, flows, and memory totals as counters; what has no place there (samples, tables
    about collectives, compiles and NEFFs, import report) is not in it. Raises TraceFileError where the file exists
    and `force` is not given, or where it cannot be written.
    """
    with Sink(path, force=force) as sink:
        for part in packets(trace, lay_out(trace, levels=_LEVELS)):
            sink.write(part)
