"""Importers: any supported file becomes a trace."""

from __future__ import annotations

import os

from trace_format.errors import UnsupportedFormatError
from trace_format.importers.recognition import Format, recognise
from trace_format.importers.source import Progress, Source
from trace_format.trace import Trace

__all__ = ["load_file"]


def load_file(path: str | os.PathLike[str], *, progress: Progress | None = None) -> Trace:
    """The trace in a file, whatever its format: told by its content, gzip and zstandard unpacked.

    `progress(done_bytes, total_bytes)` is called now and then, in bytes of the file itself.
    Raises TraceFileError (UnsupportedFormatError, DamagedFileError, ...) with a message of one line.
    """
    with Source(path, progress) as source:
        found = recognise(source.head(), source.path)
        if found is Format.TRACE_EVENT_JSON:
            from trace_format.importers.trace_event_json import read_trace_events

            return read_trace_events(source)
        if found is Format.TORCH_TRACE:
            from trace_format.importers.torch_trace import read_torch_trace

            return read_torch_trace(source)
        if found is Format.MEMORY_TIMELINE:
            from trace_format.importers.memory_timeline import read_memory_timeline

            return read_memory_timeline(source)
        if source.is_compressed:
            raise UnsupportedFormatError("is a trace.pb inside gzip or zstandard; unpack it first", path=path)
    from trace_format.trace_pb.reader import read_trace

    return read_trace(path)
