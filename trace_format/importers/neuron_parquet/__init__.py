"""Neuron profiles as Parquet, as neuron-explorer writes them: a file for each table (`--output-format parquet`).

- `files`: which files of a folder hold which table.
- `batches`: the rows of one file.
- `device`, `system`: what the tables become. Tables and columns that are not known are carried along.

Needs pyarrow, which comes with the extra `parquet`.
"""

from trace_format.importers.neuron_parquet.importer import read_parquet, read_parquet_directory

__all__ = ["read_parquet", "read_parquet_directory"]
