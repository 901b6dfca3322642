"""The trace: its tables, its file format, its importers and exporters."""

from __future__ import annotations

from trace_format.builder import TraceBuilder
from trace_format.errors import (
    DamagedFileError,
    LimitExceededError,
    NeuronProfileError,
    TraceFileError,
    UnsupportedFormatError,
)
from trace_format.pool import Pool
from trace_format.report import ImportReport
from trace_format.tables import CATEGORIES, TRACK_KINDS, Table
from trace_format.trace import Trace
from trace_format.trace_pb.reader import TraceReader, read_trace
from trace_format.trace_pb.writer import TraceWriter, write_trace

__all__ = [
    "CATEGORIES",
    "TRACK_KINDS",
    "DamagedFileError",
    "ImportReport",
    "LimitExceededError",
    "NeuronProfileError",
    "Pool",
    "Table",
    "Trace",
    "TraceBuilder",
    "TraceFileError",
    "TraceReader",
    "TraceWriter",
    "UnsupportedFormatError",
    "read_trace",
    "write_trace",
]
