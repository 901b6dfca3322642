"""A file being written under a temporary name, compressed if its name says so."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from types import TracebackType
from typing import IO

from trace_format.errors import TraceFileError

_GZIP = 16 + zlib.MAX_WBITS
_LEVEL = 4  # 6 takes twice the time for 4 % fewer bytes on event text


class Sink:
    """Use it in a `with` block: leaving it normally gives the file its name, an error leaves nothing behind."""

    def __init__(self, path: str | os.PathLike[str], *, force: bool) -> None:
        self.path = Path(path)
        if self.path.exists() and not force:
            raise TraceFileError("exists already; choose another name, or overwrite with force (--force)", path=path)
        self._partial = self.path.with_name(f"{self.path.name}.partial-{os.getpid()}")
        self._deflater = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP) if self.path.suffix.lower() == ".gz" else None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Sink:
        try:
            self._file = self._partial.open("wb")
        except OSError as error:
            raise self._failed(error) from error
        return self

    def write(self, text: str) -> None:
        """Append text. Raises TraceFileError where the disk does not take it."""
        self._put(text.encode("utf-8", "replace"))

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        if self._file is None:
            return
        try:
            with self._file:
                if kind is None:
                    self._put(b"", last=True)
                    self._file.flush()
                    os.fsync(self._file.fileno())
            if kind is None:
                self._partial.replace(self.path)
        except OSError as error:
            raise self._failed(error) from error
        finally:
            self._partial.unlink(missing_ok=True)

    def _put(self, data: bytes, *, last: bool = False) -> None:
        if self._file is None:
            raise ValueError("a Sink is written to inside its with statement")
        if self._deflater is not None:
            data = self._deflater.compress(data) + (self._deflater.flush() if last else b"")
        try:
            self._file.write(data)
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> TraceFileError:
        return TraceFileError(f"cannot be written ({error.strerror}); choose another place", path=self.path)
