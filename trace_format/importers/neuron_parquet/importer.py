"""Reads Parquet files of Neuron profiles: one table, or a folder with all of them."""

from __future__ import annotations

import os
from pathlib import Path

from trace_format.builder import TraceBuilder
from trace_format.errors import DamagedFileError, UnsupportedFormatError
from trace_format.importers.clocks import is_unix
from trace_format.importers.neuron_parquet.batches import ParquetFile
from trace_format.importers.neuron_parquet.files import table_and_number, tables_in
from trace_format.importers.neuron_parquet.system import TABLES as SYSTEM_TABLES
from trace_format.importers.neuron_parquet.tables import ProfileTables, known_table
from trace_format.importers.source import Source
from trace_format.trace import Trace

# Tables that say where the rows of the others belong; they are read before those.
_FIRST = (*SYSTEM_TABLES, "HbmUsageSummaryByType", "Metadata", "Summary", "NeffHeader", "Warning")


def read_parquet(source: Source) -> Trace:
    """The trace in one Parquet file of a profile: the rows of one table."""
    return _read({table_and_number(source.path)[0]: [source.path]}, source.path)


def read_parquet_directory(folder: str | os.PathLike[str]) -> Trace:
    """The trace in the Parquet files of a folder, those of all tables. A file that cannot be read is reported.

    Raises UnsupportedFormatError where there is no such file, DamagedFileError where none can be read.
    """
    path = Path(folder)
    tables = tables_in(path)
    if not tables:
        raise UnsupportedFormatError("holds no Parquet files; name the folder with <Table>.parquet in it", path=path)
    return _read(tables, path)


def _read(tables: dict[str, list[Path]], path: Path) -> Trace:
    builder = TraceBuilder()
    profile = ProfileTables(builder, path)
    files: list[tuple[str, ParquetFile]] = []
    problem: DamagedFileError | None = None
    for name, paths in tables.items():
        for part in paths:
            try:
                file = ParquetFile(part)
            except DamagedFileError as error:
                problem = problem or error
                builder.report.source_events += 1
                builder.report.left_out[f"file that is no Parquet: {part.name}"] += 1
            else:
                files.append((known_table(name, file.columns), file))
    for table, file in sorted(files, key=lambda item: item[0] not in _FIRST):
        read = 0
        try:
            for rows in file.batches():
                read += len(rows)
                profile.add(table, rows)
        except DamagedFileError as error:
            problem = problem or error
            builder.report.source_events += file.rows - read
            builder.report.left_out[f"row of {file.path.name} that cannot be read"] += file.rows - read
    if problem is not None and not builder.report.kept:
        raise problem
    entry, metadata = profile.finish()
    trace = builder.finish()
    span = trace.time_range_ns
    clock = "unix" if span and is_unix(span[1]) else "unknown"
    described = {"format": "neuron-parquet", "path": path.name, "clock": clock, **entry}
    return Trace.of(trace.pool, trace.tables(), metadata={"sources": [described], **metadata}, report=trace.report)
