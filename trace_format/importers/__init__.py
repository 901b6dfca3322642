"""Importers: any supported file becomes a trace."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable

from trace_format.errors import UnsupportedFormatError
from trace_format.importers.format import Format
from trace_format.importers.recognition import recognise
from trace_format.importers.source import Progress, Source
from trace_format.trace import Trace

__all__ = ["load_file"]

# Where each format is read, by a function from a Source to a Trace; imported when it is needed.
_HERE = "trace_format.importers"
_READERS = {
    Format.TRACE_PB: (_HERE, "_read_trace_pb"),
    Format.TRACE_EVENT_JSON: (f"{_HERE}.trace_event_json", "read_trace_events"),
    Format.TORCH_TRACE: (f"{_HERE}.torch_trace", "read_torch_trace"),
    Format.MEMORY_TIMELINE: (f"{_HERE}.memory_timeline", "read_memory_timeline"),
    Format.NTFF: (f"{_HERE}.ntff", "read_ntff"),
    Format.NEFF: (f"{_HERE}.neff", "read_neff"),
    Format.NEURON_DEVICE_JSON: (f"{_HERE}.neuron_device_json", "read_device_json"),
    Format.NEURON_SYSTEM_JSON: (f"{_HERE}.neuron_system", "read_system_json"),
    Format.NEURON_RUNTIME_JSON: (f"{_HERE}.neuron_system", "read_runtime_json"),
    Format.NEURON_MONITOR: (f"{_HERE}.neuron_monitor", "read_neuron_monitor"),
    Format.NEURONX_CC_LOG: (f"{_HERE}.neuronx_cc", "read_compiler_log"),
    Format.NEURONX_CC_METRICS: (f"{_HERE}.neuronx_cc", "read_metric_store"),
    Format.PARQUET: (f"{_HERE}.neuron_parquet", "read_parquet"),
}
_WHOLE_FILES = (Format.TRACE_PB, Format.NTFF, Format.NEFF, Format.PARQUET)  # read in place, not as a stream


def load_file(path: str | os.PathLike[str], *, progress: Progress | None = None) -> Trace:
    """The trace in a file, whatever its format: told by its content, gzip and zstandard unpacked.

    `progress(done_bytes, total_bytes)` is called now and then, in bytes of the file itself.
    Raises TraceFileError (UnsupportedFormatError, DamagedFileError, ...) with a message of one line.
    """
    with Source(path, progress) as source:
        found = recognise(source.head(), source.path)
        if found in _WHOLE_FILES and source.is_compressed:
            raise UnsupportedFormatError(f"holds {found.value} inside gzip or zstandard; unpack it first", path=path)
        module, function = _READERS[found]
        read: Callable[[Source], Trace] = getattr(importlib.import_module(module), function)
        return read(source)


def _read_trace_pb(source: Source) -> Trace:
    from trace_format.trace_pb.reader import read_trace

    return read_trace(source.path)
