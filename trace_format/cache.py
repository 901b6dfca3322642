"""Keeps imported files as trace.pb in the user's cache folder, so that a large file is imported once.

`NPROF_CACHE_DIR` names another folder; `NPROF_CACHE_BYTES` how many bytes it may hold (default 10 GB, 0: none).
What others work out from a file may lie there too (see `place_for`).
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import stat
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import platformdirs

from trace_format.errors import NeuronProfileError
from trace_format.importers import load_file
from trace_format.importers.source import Progress
from trace_format.trace import Trace
from trace_format.trace_pb.reader import TraceReader
from trace_format.trace_pb.wire import MAGIC
from trace_format.trace_pb.writer import write_trace

FOLDER_VARIABLE, LIMIT_VARIABLE = "NPROF_CACHE_DIR", "NPROF_CACHE_BYTES"
_DEFAULT_LIMIT_BYTES = 10 * 10**9
_WORTH_KEEPING_BYTES = 2 << 20  # a file below this is imported in a fraction of a second, even if it is compressed
_ABANDONED_AFTER_S = 24 * 3600  # a temporary file this old belongs to no process that still writes it
_SUFFIXES = (".pb", ".lanes")
_OURS = re.compile(r"[0-9a-f]{40}\.(pb|lanes)(\.partial-.*)?")
_log = logging.getLogger(__name__)


def load_cached(path: str | os.PathLike[str], *, progress: Progress | None = None) -> Trace:
    """The trace in a file of any supported kind, as `load_file` gives it, from the cache where it lies there.

    An entry holds for one path, one file there (inode, size, times) and one version of the importers; one that is
    damaged is made anew. A trace.pb and a small file are read without the cache, and so is everything where the
    folder cannot be used. Raises what `load_file` raises, and NeuronProfileError for a limit that is no number.
    """
    limit = _limit_bytes()
    folder = _folder() if limit else None
    key = _key(Path(path)) if folder else None
    if folder is None or key is None:
        return load_file(path, progress=progress)
    entry = folder / f"{key}.pb"
    trace = _read(entry)
    if trace is None:
        trace = load_file(path, progress=progress)
        if key == _key(Path(path)):  # else the file was written to while it was read
            _keep(trace, entry)
            _evict(entry.parent, limit)
    return trace


def place_for(path: str | os.PathLike[str], suffix: str, version: str) -> Path | None:
    """Where something worked out from the trace in this one file may be kept; None where nothing is kept.

    The place holds for one path, one file there, one version of this package, and the given `version` of what makes
    it. `suffix` is one of those that the cache counts as its own. Whoever has kept something calls `make_room`.
    Raises NeuronProfileError for a limit that is no number.
    """
    limit = _limit_bytes()
    folder = _folder() if limit else None
    name = _name(Path(path), suffix, version) if folder else None
    return folder / f"{name}{suffix}" if folder is not None and name is not None else None


def make_room(kept: Path) -> None:
    """Remove what was not used for longest, until all in the folder of what was kept is within the limit."""
    _evict(kept.parent, _limit_bytes())


def _folder() -> Path | None:
    """The folder of the cache; None for a user without a home."""
    given = os.environ.get(FOLDER_VARIABLE)
    try:
        return Path(given or platformdirs.user_cache_dir("neuron-profile", appauthor=False))
    except RuntimeError:
        return None


def _limit_bytes() -> int:
    given = os.environ.get(LIMIT_VARIABLE)
    if not given:
        return _DEFAULT_LIMIT_BYTES
    if not given.isdecimal():
        raise NeuronProfileError(f"{LIMIT_VARIABLE} is {given!r}; set it to a number of bytes, 0 for no cache")
    return int(given)


def _key(path: Path) -> str | None:
    """The name under which an import of this file is kept; None for one that is not worth keeping, or not there."""
    try:
        found = path.stat()
        if found.st_size < _WORTH_KEEPING_BYTES or not path.is_file():
            return None
        with path.open("rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                return None
    except OSError:
        return None  # load_file says what is wrong with it
    return _name(path)


def _name(path: Path, *versions: str) -> str | None:
    """A name for what is worked out from the file that is there now; None where there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    file_there = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    parts = (os.path.abspath(path), *map(str, file_there), _importer_version(), *versions)
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()


def _importer_version() -> str:
    return code_digest(Path(__file__).parent)


@lru_cache
def code_digest(package: Path) -> str:
    """A digest of all that decides what a package works out: its code and its rules."""
    digest = hashlib.blake2b(digest_size=20)
    for file in sorted(p for p in package.rglob("*") if p.suffix in (".py", ".toml")):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(package).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _read(entry: Path) -> Trace | None:
    """The trace in an entry, which counts as used now; None where there is none that is whole."""
    if not entry.exists():
        return None
    try:
        with TraceReader(entry) as reader:
            trace = reader.trace()
            if reader.is_whole:
                with suppress(OSError):  # somebody else's, which we may only read
                    os.utime(entry)
                return trace
        _log.debug("%s is damaged and is made anew", entry)
    except (NeuronProfileError, OSError) as error:
        _log.debug("%s is not used: %s", entry, error)
    return None


def _keep(trace: Trace, entry: Path) -> None:
    try:
        entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_trace(trace, entry, force=True)
    except (NeuronProfileError, OSError) as error:
        _log.debug("nothing is kept: %s", error)


def _evict(folder: Path, limit_bytes: int) -> None:
    """Remove the entries that were not used for longest until the rest fits, and what killed processes left behind.

    One that alone is over the limit goes first. What is not ours stays.
    """
    entries = []
    for file in folder.glob("*"):
        if not _OURS.fullmatch(file.name):
            continue
        try:
            found = file.stat()
            if file.suffix in _SUFFIXES:
                entries.append((found.st_size <= limit_bytes, found.st_mtime_ns, found.st_size, file))
            elif found.st_mtime < time.time() - _ABANDONED_AFTER_S:
                file.unlink()
        except OSError:
            continue  # another process was faster, or has it open
    total = sum(size for _, _, size, _ in entries)
    for _, _, size, file in sorted(entries):
        if total <= limit_bytes:
            break
        try:
            file.unlink(missing_ok=True)
            total -= size
        except OSError as error:
            _log.debug("%s stays: %s", file, error)
