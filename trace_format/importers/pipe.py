"""Keeps what comes through a pipe, for readers go back and forth in a file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trace_format.errors import LimitExceededError, TraceFileError

_LARGEST_BYTES = 8 << 30
_PIECE_BYTES = 1 << 20


@contextmanager
def saved_to_disk(path: Path) -> Iterator[Path]:
    """The path, or for a pipe (`/dev/stdin`, a named one) a file with all that came through it, gone afterwards.

    A pipe is read until its writer ends. Raises LimitExceededError for one that brings more than 8 GiB.
    """
    if not path.is_fifo():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="nprof-") as folder:
        copy = Path(folder, path.name)
        try:
            _copy(path, copy)
        except OSError as error:
            raise TraceFileError(f"cannot be read: {error.strerror}", path=path) from error
        yield copy


def _copy(pipe: Path, copy: Path) -> None:
    size = 0
    with pipe.open("rb") as stream, copy.open("wb") as file:
        while piece := stream.read(_PIECE_BYTES):
            size += len(piece)
            if size > _LARGEST_BYTES:
                raise LimitExceededError(f"brought more than {_LARGEST_BYTES:,} bytes; save it to disk", path=pipe)
            file.write(piece)
