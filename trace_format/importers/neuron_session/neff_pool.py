"""The NEFFs that lie about, by the UUID in their headers, and which of them an NTFF file was recorded of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from trace_format.errors import TraceFileError
from trace_format.importers.source import Source

if TYPE_CHECKING:
    from trace_format.importers.neff import NeffContents

_SHORTEST_PREFIX = 3  # bytes of a UUID that are enough to tell the programs of a session apart


@dataclass
class NeffPool:
    """NEFFs by UUID, in bytes. `used`: those an NTFF file was paired with; `lost`: those that could not be read."""

    paths: dict[bytes, Path] = field(default_factory=dict)
    used: set[Path] = field(default_factory=set)
    lost: list[TraceFileError] = field(default_factory=list)
    _latest: tuple[Path, NeffContents] | None = None

    @classmethod
    def of(cls, paths: Iterable[Path]) -> NeffPool:
        """The pool of these files; of copies of one program the first is kept."""
        from trace_format.importers.neff.header import HEADER_BYTES, NeffHeader

        pool = cls()
        for path in paths:
            try:
                with Source(path) as source:
                    head = source.read_at(0, HEADER_BYTES)
            except TraceFileError as error:
                pool.lost.append(error)
                continue
            if len(head) == HEADER_BYTES:
                pool.paths.setdefault(bytes.fromhex(NeffHeader.of(head).uuid), path)
            else:
                pool.lost.append(TraceFileError(f"is no NEFF: it has {len(head)} bytes; copy it again", path=path))
        return pool

    def of_program(self, uuid: bytes) -> Path | None:
        """The NEFF with this UUID, or the only one whose UUID begins with it; None for none.

        Before version 6 an NTFF file has the UUID only up to its first zero byte.
        """
        if len(uuid) < _SHORTEST_PREFIX:
            return None
        alike = [path for known, path in self.paths.items() if known.startswith(uuid)]
        return alike[0] if len(alike) == 1 else None

    def read(self, path: Path) -> NeffContents:
        """What a NEFF says; it counts as used. Raises TraceFileError where it cannot be read."""
        from trace_format.importers.neff import read_neff_file

        if self._latest is None or self._latest[0] != path:
            self._latest = (path, read_neff_file(path))
        self.used.add(path)
        return self._latest[1]

    @property
    def unused(self) -> list[tuple[bytes, Path]]:
        """The NEFFs that no NTFF file was paired with, with their UUIDs, in the order they were found in."""
        return [(uuid, path) for uuid, path in self.paths.items() if path not in self.used]
