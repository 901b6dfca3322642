"""Opens a file for an importer: whole bytes for the recognition, pieces of text for streaming, decompressed."""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import zstandard

from trace_format.errors import DamagedFileError, LimitExceededError, TraceFileError, UnsupportedFormatError
from trace_format.report import ImportReport

_GZIP_MAGIC = (b"\x1f\x8b",)
# a frame, or one of those that decoders skip (RFC 8878, 3.1.2)
_ZSTD_MAGIC = (b"\x28\xb5\x2f\xfd", *(bytes([0x50 + n]) + b"\x2a\x4d\x18" for n in range(16)))
_MAGIC_BYTES = 4
_STEP_BYTES = 1 << 10
_PIECE_BYTES = 1 << 20
_GZIP_WINDOW = 16 + zlib.MAX_WBITS

Progress = Callable[[int, int], None]


class Source:
    """A file that is read once from start to end, in pieces, decompressed if it is gzip or zstandard.

    `damage` says afterwards, in plain words, what kept the file from being read to its end, `trailing` what stood
    behind the compressed data and was not read; "" if nothing did.
    Raises TraceFileError on entry for a path that names no readable file.
    """

    def __init__(self, path: str | os.PathLike[str], progress: Progress | None = None) -> None:
        self.path = Path(path)
        self.damage = ""
        self.trailing = ""
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
        return file.read(_MAGIC_BYTES).startswith(_GZIP_MAGIC + _ZSTD_MAGIC)

    def head(self) -> bytes:
        """The first bytes, about a piece at most, decompressed; reading starts over afterwards.

        Raises DamagedFileError where there is something, but nothing of it can be read.
        """
        head = next(self.pieces(), b"")
        if not head and self.damage:
            raise DamagedFileError(f"holds nothing that can be read: {self.damage}; get it anew", path=self.path)
        return head

    def note_in(self, report: ImportReport) -> None:
        """Count in a report what kept the file from being read whole; to be called when it has been read."""
        for cause in filter(None, (self.damage, self.trailing)):
            report.repaired[cause] += 1

    @property
    def size_bytes(self) -> int:
        """The size of the file as it lies on disk."""
        return self._total

    def read_at(self, offset: int, size: int) -> bytes:
        """`size` bytes of the file from `offset` on, not decompressed; fewer where it ends before."""
        file = self._open()
        size = min(size, self._total - offset)
        if size <= 0:
            return b""
        try:
            file.seek(offset)
            found = file.read(size)
        except OSError as error:
            self.damage = f"the disk failed: {error.strerror}"
            return b""
        if self._progress is not None:
            self._progress(min(offset + len(found), self._total), self._total)
        return found

    def pieces(self) -> Iterator[bytes]:
        """The content from its start, in pieces of about a megabyte; none for an empty file."""
        self.damage = self.trailing = ""
        file = self._open()
        file.seek(0)
        magic = file.read(_MAGIC_BYTES)
        file.seek(0)
        if magic.startswith(_GZIP_MAGIC):
            yield from self._inflated(file)
        elif magic.startswith(_ZSTD_MAGIC):
            yield from self._unzstd(file)
        else:
            yield from self._raw(file)

    def whole(self, most_bytes: int, too_large: str) -> bytes:
        """The content in one. Raises LimitExceededError, which says `too_large`, for more than `most_bytes`."""
        parts, size = [], 0
        for piece in self.pieces():
            size += len(piece)
            if size > most_bytes:
                raise LimitExceededError(too_large, path=self.path)
            parts.append(piece)
        return b"".join(parts)

    def _open(self) -> IO[bytes]:
        if self._file is None:
            raise ValueError("a Source is read inside its with statement")
        return self._file

    def _raw(self, file: IO[bytes]) -> Iterator[bytes]:
        while piece := self._read(file, _PIECE_BYTES):
            self._tell(file)
            yield piece

    def _read(self, file: IO[bytes], size: int) -> bytes:
        try:
            return file.read(size)
        except OSError as error:
            self.damage = f"the disk failed: {error.strerror}"
            return b""

    def _tell(self, file: IO[bytes]) -> None:
        if self._progress is not None:
            self._progress(min(file.tell(), self._total), self._total)

    def _inflated(self, file: IO[bytes]) -> Iterator[bytes]:
        inflater = zlib.decompressobj(_GZIP_WINDOW)
        pending = b""
        while pending := pending or self._read(file, _PIECE_BYTES):
            if inflater.eof:
                pending = self._next_stream(file, pending, _GZIP_MAGIC, "gzip")
                inflater = zlib.decompressobj(_GZIP_WINDOW) if pending else inflater
                continue
            before = inflater.copy()
            try:
                piece = inflater.decompress(pending, _PIECE_BYTES)
            except zlib.error:
                good = yield from _up_to_the_damage(before, pending)
                self.damage = f"the gzip stream is damaged (byte {file.tell() - len(pending) + good})"
                return
            pending = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            if piece:
                self._tell(file)
                yield piece
        self._note_early_end(inflater, "gzip")

    def _unzstd(self, file: IO[bytes]) -> Iterator[bytes]:
        # a step of input is at most some thirty megabytes of output: a block of 128 KB takes four bytes at least
        reader = zstandard.ZstdDecompressor().decompressobj()
        pending, held, held_bytes = b"", list[bytes](), 0
        while pending := pending or self._read(file, _STEP_BYTES):
            if reader.eof:
                pending = self._next_stream(file, pending, _ZSTD_MAGIC, "zstandard")
                reader = zstandard.ZstdDecompressor().decompressobj() if pending else reader
                continue
            try:
                held.append(reader.decompress(pending))
            except zstandard.ZstdError:
                self.damage = f"the zstandard stream is damaged (before byte {file.tell()})"
                break
            pending = reader.unused_data
            held_bytes += len(held[-1])
            if held_bytes >= _PIECE_BYTES:
                self._tell(file)
                yield b"".join(held)
                held, held_bytes = [], 0
        if held_bytes:
            self._tell(file)
            yield b"".join(held)
        self._note_early_end(reader, "zstandard")

    def _note_early_end(self, stream: Any, packing: str) -> None:
        if not stream.eof and not self.damage:
            self.damage = f"the {packing} stream ends early (byte {self._total})"

    def _next_stream(self, file: IO[bytes], pending: bytes, magic: tuple[bytes, ...], packing: str) -> bytes:
        """The bytes to go on with where another stream follows; b"" else, and what follows instead is noted.

        Zeros are padding, as gzip(1) has it.
        """
        pending += self._read(file, max(_MAGIC_BYTES - len(pending), 0))
        if pending.startswith(magic):
            return pending
        at = file.tell() - len(pending)
        while pending and not pending.strip(b"\0"):
            pending = self._read(file, _PIECE_BYTES)
        if pending:
            self.trailing = f"{self._total - at} bytes after the end of the {packing} stream: not read"
        file.seek(0, os.SEEK_END)
        return b""


def _up_to_the_damage(inflater: Any, pending: bytes) -> Generator[bytes, None, int]:
    """What the compressed bytes hold before the first that cannot be inflated. Returns how many those were."""
    for at in range(0, len(pending), _STEP_BYTES):
        before = inflater.copy()
        try:
            piece = inflater.decompress(pending[at : at + _STEP_BYTES])
        except zlib.error:
            for place in range(at, at + _STEP_BYTES):
                try:
                    piece = before.decompress(pending[place : place + 1])
                except zlib.error:
                    return place
                if piece:
                    yield piece
        else:
            if piece:
                yield piece
    return len(pending)
