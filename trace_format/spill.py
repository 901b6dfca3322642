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
        file = self._open()
        offset = self._end + -self._end % mmap.ALLOCATIONGRANULARITY
        at, rows = offset, 0
        for part in parts:  # which may come from this very file
            rest = np.ascontiguousarray(part, dtype).view(np.uint8).data
            file.seek(at)
            while rest:
                rest = rest[file.write(rest) :]
            at += len(part) * dtype.itemsize
            rows += len(part)
        self._end = at
        return Stored(offset, rows, dtype)

    def read(self, stored: Stored) -> Array:
        """The values in memory."""
        file = self._open()
        file.seek(stored.offset)
        return np.fromfile(file, stored.dtype, stored.rows)

    def column(self, parts: Iterable[Array], dtype: np.dtype[Any]) -> Array:
        """The parts as one read-only column that takes memory only while it is looked at (see `release`).

        Raises NeuronProfileError where there is no room.
        """
        try:
            stored = self.write(parts, dtype)
            if not stored.rows:
                return np.zeros(0, dtype)
            size = stored.rows * dtype.itemsize
            mapped = mmap.mmap(self._open().fileno(), size, access=mmap.ACCESS_READ, offset=stored.offset)
        except OSError as error:
            problem = f"no room for temporary data ({error.strerror}); set TMPDIR to a folder with more"
            raise NeuronProfileError(problem) from error
        return np.frombuffer(mapped, dtype)

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
        base: Any = column
        while isinstance(base, np.ndarray):
            base = base.base
        if isinstance(base, memoryview):
            base = base.obj
        if isinstance(base, mmap.mmap):
            base.madvise(mmap.MADV_DONTNEED)
