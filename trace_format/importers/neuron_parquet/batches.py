"""The rows of a Parquet file, some thousand at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from trace_format.errors import DamagedFileError, LimitExceededError, UnsupportedFormatError

_ROWS_AT_A_TIME = 1 << 14
_MOST_ROWS = 1 << 28
_MOST_COLUMNS = 4096  # the widest published table has 101
_LARGEST_GROUP_BYTES = 4 << 30  # of a row group when it is unpacked; writers aim at some hundred megabytes
_LONGEST_FOOTER_BYTES = 64 << 20


class ParquetFile:
    """A Parquet file whose footer was read and found to be within limits.

    Raises DamagedFileError where it is none, LimitExceededError where it asks for too much, UnsupportedFormatError
    where pyarrow is missing.
    """

    def __init__(self, path: Path) -> None:
        self._arrow, self._parquet = _pyarrow(path)
        self.path = path
        try:
            with self._open() as file:
                footer = file.metadata
                self.rows = int(footer.num_rows)
                groups = [footer.row_group(i).total_byte_size for i in range(footer.num_row_groups)]
                self.columns = list(file.schema_arrow.names)
        except (self._arrow.ArrowException, OSError, ValueError) as error:
            message = f"cannot be read as Parquet: {_one_line(error)}; write or copy it again"
            raise DamagedFileError(message, path=path) from error
        if not 0 <= self.rows <= _MOST_ROWS or len(self.columns) > _MOST_COLUMNS:
            raise LimitExceededError(f"has {self.rows} rows of {len(self.columns)} columns; the limits are "
                                     f"{_MOST_ROWS} and {_MOST_COLUMNS}", path=path)  # fmt: skip
        if any(not 0 <= size <= _LARGEST_GROUP_BYTES for size in groups):
            raise LimitExceededError(f"has a row group of more than {_LARGEST_GROUP_BYTES >> 30} GiB", path=path)

    def batches(self) -> Iterator[list[dict[str, Any]]]:
        """The rows as dicts, in order. Raises DamagedFileError where they cannot be read from one on."""
        try:
            with self._open() as file:
                for batch in file.iter_batches(batch_size=_ROWS_AT_A_TIME, use_threads=False):
                    yield self._rows(batch)
        except (self._arrow.ArrowException, OSError, ValueError) as error:
            raise DamagedFileError(f"is damaged: {_one_line(error)}", path=self.path) from error

    def _open(self) -> Any:
        limits = {
            "thrift_string_size_limit": _LONGEST_FOOTER_BYTES,
            "thrift_container_size_limit": _LONGEST_FOOTER_BYTES,
        }
        return self._parquet.ParquetFile(self.path, **limits)

    def _rows(self, batch: Any) -> list[dict[str, Any]]:
        types = self._arrow.types
        columns: dict[str, list[Any]] = {}
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if types.is_timestamp(column.type) or types.is_duration(column.type):
                column = column.cast(self._arrow.int64())
            columns[name] = column.to_pylist()
        names = list(columns)
        return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _pyarrow(path: Path) -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UnsupportedFormatError(
            "is Parquet, which needs pyarrow; pip install 'neuron-profile[parquet]'", path=path
        ) from error
    return pyarrow, pyarrow.parquet


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
