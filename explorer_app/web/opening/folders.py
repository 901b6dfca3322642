"""The folders from which files may be opened, and what is in them. Nothing outside them is told or opened."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from explorer_app.web.notes.keeping import SUFFIX
from trace_format import NeuronProfileError

MOST_ENTRIES = 2000


class NotBelowError(NeuronProfileError):
    """A path is not below a folder from which files may be opened, or is not there."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in a folder. `path` names it for `Folders.find`; size_bytes is -1 for a folder."""

    name: str
    path: str
    is_folder: bool
    size_bytes: int
    modified_s: float


class Folders:
    """The folders below which files may be opened: those given, and of a file given the one that it is in."""

    def __init__(self, given: Iterable[Path]) -> None:
        paths = [path.resolve() for path in given if path.exists()]
        folders = [path if path.is_dir() else path.parent for path in paths if path.is_dir() or path.is_file()]
        self.roots = tuple(dict.fromkeys(folders))

    def find(self, text: str) -> Path:
        """The file or folder of this path, links followed. Raises NotBelowError."""
        try:
            path = Path(text).resolve(strict=True)
        except (OSError, RuntimeError, ValueError) as error:  # no such file, a loop of links, a null byte
            raise NotBelowError(f"nothing is at {text[:200]!r}: choose from the list") from error
        if not any(path.is_relative_to(root) for root in self.roots):
            raise NotBelowError(
                f"{text[:200]!r} is not below a folder given on the command line: start neuron-explorer with its folder"
            )
        return path

    def entries(self, folder: Path) -> tuple[list[Entry], int]:
        """What is in a folder, folders first, by name, hidden ones and notes left out; and how many more there are."""
        found = []
        with os.scandir(folder) as listed:
            for item in listed:
                left_out = item.name.startswith(".") or item.name.endswith(SUFFIX)
                if not left_out and (entry := self._entry(item)) is not None:
                    found.append(entry)
        found.sort(key=lambda entry: (not entry.is_folder, entry.name.casefold(), entry.name))
        return found[:MOST_ENTRIES], max(len(found) - MOST_ENTRIES, 0)

    def _entry(self, item: os.DirEntry[str]) -> Entry | None:
        """None for what is gone, is neither file nor folder, or leads out of the folders."""
        try:
            path = self.find(item.path)
            told, is_folder = path.stat(), path.is_dir()
        except (NotBelowError, OSError):
            return None
        if not is_folder and not path.is_file():
            return None
        return Entry(item.name, item.path, is_folder, -1 if is_folder else told.st_size, told.st_mtime)
