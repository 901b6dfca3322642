"""Reads a log of neuronx-cc, or what its wrapper prints, into a trace."""

from __future__ import annotations

from trace_format.builder import TraceBuilder
from trace_format.importers.neuronx_cc.compile_log import BACKEND, CompileLog, add_compile
from trace_format.importers.neuronx_cc.lines import text_lines
from trace_format.importers.source import Source
from trace_format.trace import Trace


def read_compiler_log(source: Source) -> Trace:
    """The trace in a log: compiles and their passes as slices, warnings and errors as instants, rows of `compiles`.

    The report counts its lines. Times are to the second where the compiler wrote them (see `passes`); the wrapper does
    not say in which time zone it writes: taken as UTC.
    """
    builder = TraceBuilder()
    log = CompileLog(builder)
    log.take(text_lines(source.pieces()))
    log.finish()
    for compile_ in log.compiles:
        add_compile(builder, compile_)
    source.note_in(builder.report)
    described = {
        "format": "neuronx-cc-log",
        "path": source.path.name,
        "producer": BACKEND,
        "clock": "unix",
        "time_resolution_ns": 10**9,
    }
    return builder.finish(metadata={"sources": [described]})
