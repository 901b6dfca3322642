"""Which Parquet files of a folder hold which table of a profile."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

SUFFIX = ".parquet"
# Instruction_0, Instruction.1, Instruction-00001-of-00004, Instruction.part-2, Instruction_part_0003: parts of a table.
_NUMBER = re.compile(r"(?:[._-]?part)?[._-](\d{1,9})(?:[._-]of[._-]\d{1,9})?$", re.IGNORECASE)
# Within a folder named for its table, parts go by number alone: 0.parquet, part-0.parquet, data_3.parquet.
_NUMBERED = re.compile(r"(?:part|data|file|chunk)?[._-]?\d{1,9}(?:[._-].*)?$", re.IGNORECASE)


def tables_in(folder: Path) -> dict[str, list[Path]]:
    """The files of each table, parts in the order of their numbers; those of folders within named for the table too."""
    found: dict[str, list[tuple[int, Path]]] = {}
    for path in _parquet_files(folder):
        name, number = table_and_number(path)
        found.setdefault(name, []).append((number, path))
    for inner in sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()):
        for path in _parquet_files(inner):
            if _NUMBERED.match(path.stem):
                found.setdefault(inner.name.removesuffix(SUFFIX), []).append((table_and_number(path)[1], path))
    return {name: [path for _, path in sorted(parts)] for name, parts in sorted(found.items())}


def table_and_number(path: Path) -> tuple[str, int]:
    """The table that a file is a part of by its name, and which part; -1 for a file that is the whole of it."""
    stem = path.name[: -len(SUFFIX)] if path.name.lower().endswith(SUFFIX) else path.name
    number = _NUMBER.search(stem)
    return (stem[: number.start()], int(number[1])) if number and number.start() else (stem, -1)


def _parquet_files(folder: Path) -> Iterable[Path]:
    return sorted(path for path in folder.iterdir() if path.name.lower().endswith(SUFFIX) and path.is_file())
