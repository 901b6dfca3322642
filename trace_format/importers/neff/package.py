"""The file that a NEFF is: a header, and a gzipped tar archive that the header has the hash of."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trace_format.errors import DamagedFileError, UnsupportedFormatError
from trace_format.importers.neff.archive import Archive, read_archive
from trace_format.importers.neff.header import HEADER_BYTES, NeffHeader
from trace_format.importers.source import Source

_HASHED_PACKAGE = 2  # the version of the package whose hash is the MD5 of its archive
_MD5_BYTES = 16
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Package:
    """A NEFF before anything in its archive is understood."""

    header: NeffHeader
    archive: Archive
    hash_ok: bool | None  # None: the package is of a version whose hash is not known, or has none
    size_bytes: int

    def problems(self) -> Iterator[str]:
        """What is wrong with it, each in one line."""
        header, follows = self.header, self.size_bytes - HEADER_BYTES
        if self.archive.damage:
            yield self.archive.damage
        if header.header_size != HEADER_BYTES:
            yield f"the header says that it is {header.header_size} bytes long; {HEADER_BYTES} are read"
        if header.data_size != follows:
            yield f"the header says that {header.data_size} bytes follow it; {follows} do"
        if self.hash_ok is False:
            yield "the hash in the header is not that of the archive: the file was changed or damaged"


def read_package(source: Source, most_bytes: Callable[[str], int]) -> Package:
    """The NEFF in `source`, up to where its archive is damaged; `most_bytes` as for `read_archive`.

    Raises DamagedFileError where not even the header is there, UnsupportedFormatError where no gzipped archive follows,
    LimitExceededError where the archive is a bomb.
    """
    file = _HashedFile(source.pieces())
    if len(file.head) < HEADER_BYTES:
        raise DamagedFileError(f"ends inside the header of a NEFF, after {len(file.head)} bytes", path=source.path)
    if not _GZIP_MAGIC.startswith(file.begins[: len(_GZIP_MAGIC)]):
        raise UnsupportedFormatError(
            f"is no NEFF: no gzipped archive follows its first {HEADER_BYTES} bytes; name a .neff file",
            path=source.path,
        )
    header = NeffHeader.of(file.head)
    archive = read_archive(file.payload, most_bytes, path=source.path)
    for _ in file.payload:
        pass  # what nobody read belongs to the hash too
    if source.damage:
        archive.damage = source.damage
    return Package(header, archive, _hash_ok(header, file.md5.digest()), file.size_bytes)


class _HashedFile:
    """A file whose header is read, and what follows is hashed while it is read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        head = b""
        while len(head) < HEADER_BYTES and (piece := next(pieces, b"")):
            head += piece
        self.head, self.begins = head[:HEADER_BYTES], head[HEADER_BYTES:] or next(pieces, b"")
        self.size_bytes = len(self.head)
        self.md5 = hashlib.md5(usedforsecurity=False)
        self.payload = self._hashed(pieces)

    def _hashed(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        piece = self.begins
        while piece:
            self.md5.update(piece)
            self.size_bytes += len(piece)
            yield piece
            piece = next(pieces, b"")


def _hash_ok(header: NeffHeader, digest: bytes) -> bool | None:
    """Whether the hash in the header is that of the archive, in one of the two byte orders in which it is written."""
    if header.package_version != _HASHED_PACKAGE or not int(header.hash, 16):
        return None
    in_words = b"".join(digest[at : at + 4][::-1] for at in range(0, _MD5_BYTES, 4))
    return bytes.fromhex(header.hash) in (digest, in_words)
