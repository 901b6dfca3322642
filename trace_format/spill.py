"""Columns that are too large for memory, in a temporary file without a name."""

from __future__ import annotations

import io
import mmap
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trace_format.errors import NeuronProfileError

Array = np.ndarray

# Where the system keeps large temporary files (Filesystem Hierarchy Standard 5.15); its /tmp may be memory itself.
_FOR_LARGE_FILES = Path("/var/tmp")  # noqa: S108 - the file gets no name in it


@dataclass(frozen=True, slots=True)
class Stored:
    """`rows` values of a column at a place in the file."""

    offset: int
    rows: int
    dtype: np.dtype[Any]

    def head(self, rows: int) -> Stored:
        return Stored(self.offset, rows, self.dtype)


class Spill:
    """A temporary file of columns; it needs no cleaning up: it goes with the last array that shows a part of it.

    `TMPDIR` names another folder for it. `write` raises OSError where there is no room.
    """

    def __init__(self) -> None:
        self._file: io.FileIO | None = None
        self._end = 0

    def write(self, parts: Iterable[Array], dtype: np.dtype[Any]) -> Stored:
        """Append a column given in parts, one after the other."""
        offset = self._next_offset()
        at, rows = offset, 0
        for part in parts:  # which may come from this very file
            at = self._write(at, np.ascontiguousarray(part, dtype))
            rows += len(part)
        self._end = at
        return Stored(offset, rows, dtype)

    def reserve(self, rows: int, dtype: np.dtype[Any]) -> Stored:
        """A place for a column, to be filled with `put`."""
        offset = self._next_offset()
        self._end = offset + rows * dtype.itemsize
        return Stored(offset, rows, dtype)

    def put(self, stored: Stored, first: int, values: Array) -> None:
        """Write the rows of a column from `first` on. Raises OSError where there is no room."""
        self._write(stored.offset + first * stored.dtype.itemsize, np.ascontiguousarray(values, stored.dtype))

    def read(self, stored: Stored) -> Array:
        """The values in memory, as far as they were written."""
        file = self._open()
        file.seek(stored.offset)
        return np.fromfile(file, stored.dtype, stored.rows)

    def show(self, stored: Stored) -> Array:
        """A column that was written whole, read-only; it takes memory only while it is looked at (see `release`).

        Raises OSError where the system has no place for it.
        """
        if not stored.rows:
            return np.zeros(0, stored.dtype)
        size = stored.rows * stored.dtype.itemsize
        mapped = mmap.mmap(self._open().fileno(), size, access=mmap.ACCESS_READ, offset=stored.offset)
        return np.frombuffer(mapped, stored.dtype)

    def column(self, parts: Iterable[Array], dtype: np.dtype[Any]) -> Array:
        """The parts as one read-only column that takes memory only while it is looked at (see `release`).

        Raises NeuronProfileError where there is no room.
        """
        try:
            return self.show(self.write(parts, dtype))
        except OSError as error:
            problem = f"no room for temporary data ({error.strerror}); set TMPDIR to a folder with more"
            raise NeuronProfileError(problem) from error

    def _next_offset(self) -> int:
        return self._end + -self._end % mmap.ALLOCATIONGRANULARITY

    def _write(self, at: int, values: Array) -> int:
        """Where the file goes on after the values."""
        file, rest = self._open(), values.view(np.uint8).data
        file.seek(at)
        while rest:
            rest = rest[file.write(rest) :]
        return at + values.nbytes

    def _open(self) -> io.FileIO:
        if self._file is None:
            large = _FOR_LARGE_FILES if "TMPDIR" not in os.environ and os.access(_FOR_LARGE_FILES, os.W_OK) else None
            # without a buffer, which would go on failing after one failure
            self._file = tempfile.TemporaryFile(prefix="neuron-profile-", dir=large, buffering=0)  # noqa: SIM115
        return self._file


def release(columns: Iterable[Array]) -> None:
    """Give back the memory of those columns that lie in a file; they are read from it again when looked at."""
    if not hasattr(mmap, "MADV_DONTNEED"):  # Windows, which takes such memory back by itself
        return
    for column in columns:
        mapped = _mapping(column)
        if mapped is not None:
            mapped.madvise(mmap.MADV_DONTNEED)


def lies_in_a_file(column: Array) -> bool:
    """Whether a column, or the one it is a part of, was spilled."""
    return _mapping(column) is not None


def _mapping(column: Array) -> mmap.mmap | None:
    base: Any = column
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return base if isinstance(base, mmap.mmap) else None
