"""Opens a file for an importer: whole bytes for the recognition, pieces of text for streaming, decompressed."""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import zstandard

from trace_format.errors import TraceFileError, UnsupportedFormatError

GZIP_MAGIC, ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_STEP_BYTES = 1 << 10
_PIECE_BYTES = 1 << 20
_GZIP_WINDOW = 16 + zlib.MAX_WBITS

Progress = Callable[[int, int], None]


class Source:
    """A file that is read once from start to end, in pieces, decompressed if it is gzip or zstandard.

    `damage` says afterwards, in plain words, what kept the file from being read to its end; "" if nothing did.
    Raises TraceFileError on entry for a path that names no readable file.
    """

    def __init__(self, path: str | os.PathLike[str], progress: Progress | None = None) -> None:
        self.path = Path(path)
        self.damage = ""
        self._progress = progress
        self._file: IO[bytes] | None = None
        self._total = 0

    def __enter__(self) -> Source:
        try:
            found = self.path.stat()
            if stat.S_ISDIR(found.st_mode):
                raise UnsupportedFormatError("is a directory; name one trace file in it", path=self.path)
            if not stat.S_ISREG(found.st_mode):
                raise UnsupportedFormatError("is no regular file; save it to disk first", path=self.path)
            self._total = found.st_size
            self._file = self.path.open("rb")
        except FileNotFoundError as error:
            raise TraceFileError("no such file; check the path", path=self.path) from error
        except PermissionError as error:
            raise TraceFileError("may not be read; check its permissions", path=self.path) from error
        except OSError as error:
            raise TraceFileError(f"cannot be read: {error.strerror}", path=self.path) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()

    @property
    def is_compressed(self) -> bool:
        file = self._open()
        file.seek(0)
        magic = file.read(4)
        return magic[:2] == GZIP_MAGIC or magic == ZSTD_MAGIC

    def head(self) -> bytes:
        """The first bytes, at most a piece, decompressed; reading starts over afterwards."""
        head = next(self.pieces(), b"")
        self.damage = ""
        return head

    def pieces(self) -> Iterator[bytes]:
        """The content from its start, in pieces of about a megabyte; none for an empty file."""
        file = self._open()
        file.seek(0)
        magic = file.read(4)
        file.seek(0)
        if magic[:2] == GZIP_MAGIC:
            yield from self._inflated(file)
        elif magic == ZSTD_MAGIC:
            yield from self._unzstd(file)
        else:
            yield from self._raw(file)

    def _open(self) -> IO[bytes]:
        if self._file is None:
            raise ValueError("a Source is read inside its with statement")
        return self._file

    def _raw(self, file: IO[bytes]) -> Iterator[bytes]:
        while piece := self._read(file):
            yield piece

    def _read(self, file: IO[bytes]) -> bytes:
        try:
            piece = file.read(_PIECE_BYTES)
        except OSError as error:
            self.damage = f"the disk failed: {error.strerror}"
            return b""
        if self._progress is not None and piece:
            self._progress(min(file.tell(), self._total), self._total)
        return piece

    def _inflated(self, file: IO[bytes]) -> Iterator[bytes]:
        inflater = zlib.decompressobj(_GZIP_WINDOW)
        pending = b""
        while True:
            pending = pending or self._read(file)
            if not pending:
                if not inflater.eof:
                    self.damage = f"the gzip stream ends early (byte {self._total})"
                return
            if inflater.eof:  # a further member; anything else after the first is padding
                if pending[:2] != GZIP_MAGIC:
                    return
                inflater = zlib.decompressobj(_GZIP_WINDOW)
            before = inflater.copy()
            try:
                piece = inflater.decompress(pending, _PIECE_BYTES)
            except zlib.error:
                self.damage = f"the gzip stream is damaged (before byte {file.tell()})"
                yield from _up_to_the_damage(before, pending)
                return
            pending = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            if piece:
                yield piece

    def _unzstd(self, file: IO[bytes]) -> Iterator[bytes]:
        # a file cut off in mid-frame reads as if it ended there; the JSON then ends early, which is reported
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=False)
        while True:
            try:
                piece = reader.read(_PIECE_BYTES)
            except zstandard.ZstdError:
                self.damage = f"the zstandard stream is damaged (before byte {file.tell()})"
                return
            if not piece:
                return
            if self._progress is not None:
                self._progress(min(file.tell(), self._total), self._total)
            yield piece


def _up_to_the_damage(inflater: Any, pending: bytes) -> Iterator[bytes]:
    """What the compressed bytes hold before the first that cannot be inflated."""
    for at in range(0, len(pending), _STEP_BYTES):
        before = inflater.copy()
        try:
            yield inflater.decompress(pending[at : at + _STEP_BYTES])
        except zlib.error:
            for place in range(at, at + _STEP_BYTES):
                try:
                    yield before.decompress(pending[place : place + 1])
                except zlib.error:
                    return
