"""A file that has another name until it is whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from trace_format.errors import TraceFileError


class PartialFile:
    """Bytes on their way to `path`: `write`, then `finish` or `abandon`. Every failure is a one-line TraceFileError.

    A symbolic link is followed, so that what it points to is written. Raises TraceFileError where `path` exists
    and `force` is not given, where it is no regular file, and where it cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        self.path = Path(path)
        self._target = Path(os.path.realpath(path))
        if self._target.exists() and not self._target.is_file():
            raise TraceFileError("is not a regular file; name a file to write", path=path)
        if os.path.lexists(path) and not force:
            raise TraceFileError("exists already; choose another name, or overwrite with force (--force)", path=path)
        self._partial = self._target.with_name(f"{self._target.name}.partial-{os.getpid()}")
        try:
            self._file: IO[bytes] = self._partial.open("wb")
        except OSError as error:
            raise self._failed(error, "choose another place") from error

    def write(self, data: bytes) -> None:
        """Append bytes."""
        try:
            self._file.write(data)
        except OSError as error:
            raise self._failed(error, "is the disk full?") from error

    def finish(self) -> None:
        """Flush to disk and give the file its name; where that fails, nothing is left."""
        try:
            with self._file:
                self._file.flush()
                os.fsync(self._file.fileno())
            self._partial.replace(self._target)
        except OSError as error:
            self._partial.unlink(missing_ok=True)
            raise self._failed(error, "is the disk full?") from error

    def abandon(self) -> None:
        """Remove what was written; nothing is removed once it is finished."""
        try:
            self._file.close()
        except OSError:
            pass  # what could not be flushed is not wanted
        self._partial.unlink(missing_ok=True)

    def _failed(self, error: OSError, cure: str) -> TraceFileError:
        return TraceFileError(f"cannot be written ({error.strerror}); {cure}", path=self.path)
