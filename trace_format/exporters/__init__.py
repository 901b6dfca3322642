"""Exporters: a trace becomes a file."""

from __future__ import annotations

import os
from pathlib import Path

from trace_format.errors import UnsupportedFormatError
from trace_format.trace import Trace

__all__ = ["SUFFIXES", "export_file", "not_written"]

SUFFIXES = (".pb", ".json", ".json.gz", ".pftrace")


def export_file(trace: Trace, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a trace in the format its suffix names: .pb (trace.pb), .json or .json.gz (Chrome trace events),
    .pftrace (Perfetto).

    The file appears under its name when it is whole. Raises UnsupportedFormatError for any other suffix,
    TraceFileError where the file exists and `force` is not given, or where it cannot be written.
    """
    name = Path(path).name.lower()
    if name.endswith(".pb"):
        from trace_format.trace_pb.writer import write_trace

        write_trace(trace, path, force=force)
    elif name.endswith((".json", ".json.gz")):
        from trace_format.exporters.chrome import write_chrome_trace

        write_chrome_trace(trace, path, force=force)
    elif name.endswith(".pftrace"):
        from trace_format.exporters.perfetto import write_perfetto_trace

        write_perfetto_trace(trace, path, force=force)
    else:
        raise UnsupportedFormatError(f"cannot be written in that format; use one of {', '.join(SUFFIXES)}", path=path)


def not_written(trace: Trace, path: str | os.PathLike[str]) -> dict[str, int]:
    """How many rows of what `export_file` leaves out in the format of this path, because it cannot say them; most often
    nothing."""
    if not Path(path).name.lower().endswith(".pftrace"):
        return {}
    from trace_format.exporters.perfetto import not_written as not_in_perfetto

    return not_in_perfetto(trace)
