"""Finds the sessions in a folder: which files belong to one process (and window), and what each of them is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path

from trace_format.errors import TraceFileError, UnsupportedFormatError
from trace_format.importers.format import Format
from trace_format.importers.neuron_session import layout
from trace_format.importers.recognition import recognise
from trace_format.importers.source import Source

MOST_FILES = 4096
_HOST_FORMATS = (Format.TRACE_PB, Format.TRACE_EVENT_JSON)
_NEURON_JSON = (
    Format.NEURON_DEVICE_JSON, Format.NEURON_SYSTEM_JSON, Format.NEURON_RUNTIME_JSON, Format.NEURON_MONITOR,
    Format.NEURONX_CC_METRICS,
)  # fmt: skip
_READABLE = ("ntffs", "neffs", "parquet_folders", "compile_caches", "cached_neffs", "logs")
_LISTS = ("hosts", *_READABLE, "unread", "lost")


@dataclass(slots=True)
class Session:
    """The files of one process and window, or what lies in a folder that names none, by what they are.

    `unread` are files of the runtime without a public schema, `cached_neffs` those of a compile cache, `lost` what
    could not be told or read.
    """

    folder: Path
    rank: int | None = None
    hosts: list[Path] = field(default_factory=list)
    ntffs: list[Path] = field(default_factory=list)
    neffs: list[Path] = field(default_factory=list)
    json: dict[Format, list[Path]] = field(default_factory=dict)
    parquet_folders: list[Path] = field(default_factory=list)
    compile_caches: list[Path] = field(default_factory=list)
    cached_neffs: list[Path] = field(default_factory=list)
    logs: list[Path] = field(default_factory=list)
    unread: list[Path] = field(default_factory=list)
    lost: list[TraceFileError] = field(default_factory=list)

    @property
    def pid(self) -> int | None:
        """The process, where a folder names it."""
        whole = self.folder.absolute()
        found = next((m for f in (whole, whole.parent) if (m := layout.PROCESS_FOLDER.fullmatch(f.name))), None)
        return int(found["pid"]) if found else None

    @property
    def is_of_neuron(self) -> bool:
        """Whether there is anything here beside traces that programs wrote."""
        return bool(self.json) or any(getattr(self, name) for name in _LISTS if name not in ("hosts", "lost"))

    @property
    def is_of_a_process(self) -> bool:
        """Whether it can stand alone: with a trace of the host or of a device, or in a folder of a process."""
        return bool(self.hosts or self.ntffs or self.pid is not None or self.json.get(Format.NEURON_DEVICE_JSON))

    @property
    def readable(self) -> list[Path]:
        """The files, and folders that are read as one, whose content comes beside the host's into a trace."""
        paths = [path for name in _READABLE for path in getattr(self, name)]
        return paths + [path for of_kind in self.json.values() for path in of_kind]

    @property
    def size_bytes(self) -> int:
        """What there is to read, without NEFFs and the logs of the compiler. Raises OSError for a file that is gone."""
        files = [*self.ntffs, *(path for of_kind in self.json.values() for path in of_kind)]
        files += [path for folder in self.parquet_folders for path in folder.glob(f"*{layout.PARQUET_SUFFIX}")]
        return sum(path.stat().st_size for path in files)

    def leave_out(self, paths: Set[Path]) -> None:
        """Take these files for none of the session's."""
        for name in _READABLE:
            setattr(self, name, [path for path in getattr(self, name) if path not in paths])
        left = {kind: [path for path in of_kind if path not in paths] for kind, of_kind in self.json.items()}
        self.json = {kind: of_kind for kind, of_kind in left.items() if of_kind}

    def join(self, other: Session) -> None:
        """Take the files of `other` as one's own."""
        for name in _LISTS:
            getattr(self, name).extend(getattr(other, name))
        for kind, paths in other.json.items():
            self.json.setdefault(kind, []).extend(paths)


def find_sessions(directory: Path) -> list[Session]:
    """The sessions below a directory in order of path; [] where no file in it is of AWS's tools.

    Raises TraceFileError for more files than a job can have.
    """
    files = list(_files(directory))
    if not any(file.is_of_neuron for file in files):
        return []
    roots = _Roots(directory, files)
    found: dict[tuple[Path, int | None], Session] = {}
    for file in files:
        root = roots.of(file.path)
        file.put_into(found.setdefault((root, file.rank), Session(root, file.rank)))
    return _without_rank_joined(found)


@dataclass(frozen=True, slots=True)
class _File:
    """A file (or a folder that is read as one) and what it is; `error` says why that could not be told."""

    path: Path
    kind: Format | str = ""
    error: TraceFileError | None = None
    rank: int | None = None

    @property
    def is_of_neuron(self) -> bool:
        return self.error is None and self.kind not in _HOST_FORMATS

    def put_into(self, session: Session) -> None:
        """Add it to the files of its kind."""
        if self.error is not None:
            session.lost.append(self.error)
        elif isinstance(self.kind, Format) and self.kind in _NEURON_JSON:
            session.json.setdefault(self.kind, []).append(self.path)
        else:
            lists: dict[Format | str, list[Path]] = {
                Format.NTFF: session.ntffs, Format.NEFF: session.neffs, Format.PARQUET: session.parquet_folders,
                Format.NEURONX_CC_LOG: session.logs, "cache": session.compile_caches,
                "cached NEFF": session.cached_neffs, "unread": session.unread,
            }  # fmt: skip
            lists.get(self.kind, session.hosts).append(self.path)


def _files(directory: Path) -> Iterator[_File]:
    seen = 0
    shards: set[Path] = set()
    for folder, subfolders, names in os.walk(directory):
        subfolders.sort()
        here = Path(folder)
        modules = [name for name in subfolders if layout.MODULE_FOLDER.fullmatch(name)]
        if modules or (layout.MODULE_FOLDER.fullmatch(here.name) and any(n.startswith("model.") for n in names)):
            yield _File(here, "cache")
            yield from (_File(neff, "cached NEFF") for neff in sorted(here.rglob("*.neff")))
            subfolders[:] = []
            continue
        if any(name.endswith(layout.PARQUET_SUFFIX) for name in names):
            yield _File(here, Format.PARQUET)
        for name in sorted(names):
            path = here / name
            found = _file(path)
            if found is None:
                continue
            seen += 1
            if seen > MOST_FILES:
                message = f"has more than {MOST_FILES:,} files that may be traces; name the ones to open"
                raise TraceFileError(message, path=directory)
            root = layout.shard_root(path) if found.kind is Format.NEFF else None
            if root is None or not root.is_relative_to(directory):
                yield found
            else:
                if root not in shards:
                    shards.add(root)
                    yield _File(root, "cache")
                yield _File(path, "cached NEFF")


def _file(path: Path) -> _File | None:
    """What a file is, by its name first and then by its content; None for one that is none of a session's."""
    name = path.name
    if name in layout.UNREAD:
        return _File(path, "unread")
    if name.endswith(layout.NTFF_SUFFIX):
        return _File(path, Format.NTFF, rank=layout.ntff_facts(name).rank)
    if name.endswith(layout.NEFF_SUFFIX):
        return _File(path, Format.NEFF)
    if name in layout.COMPILER_LOGS:
        return _File(path, Format.NEURONX_CC_LOG)
    if not name.endswith((*layout.JSON_SUFFIXES, ".pb")):
        return None
    try:
        with Source(path) as source:
            head = source.head()
            kind = recognise(head, path)
    except UnsupportedFormatError as error:
        return _File(path, "", error) if not path.stat().st_size else None
    except TraceFileError as error:
        return _File(path, "", error)
    if kind is Format.TRACE_EVENT_JSON and not (layout.is_framework_trace(path) or layout.may_be_trace(head)):
        return None
    return _File(path, kind, rank=layout.framework_rank(name)) if kind in (*_HOST_FORMATS, *_NEURON_JSON) else None


class _Roots:
    """Which folder the session of a file is rooted in.

    That of its process and window; else the nearest one with a trace of the host, where there are several; else all.
    """

    def __init__(self, directory: Path, files: list[_File]) -> None:
        self._directory = directory
        hosts = {file.path.parent for file in files if file.error is None and file.kind in _HOST_FORMATS}
        self._hosts = hosts if len(hosts) > 1 else set()

    def of(self, path: Path) -> Path:
        below = path.relative_to(self._directory).parts[:-1]
        folders = [self._directory, *(self._directory.joinpath(*below[: i + 1]) for i in range(len(below)))]
        names = [self._directory.absolute().name, *below]
        for place in range(len(folders) - 1, -1, -1):
            if layout.PROCESS_FOLDER.fullmatch(names[place]):
                has_window = place + 1 < len(folders) and layout.WINDOW_FOLDER.fullmatch(names[place + 1])
                return folders[place + 1] if has_window else folders[place]
        return next((folder for folder in reversed(folders) if folder in self._hosts), self._directory)


def _without_rank_joined(found: dict[tuple[Path, int | None], Session]) -> list[Session]:
    """The sessions in order of path and rank; what names no rank joins the first rank of its folder."""
    sessions: dict[Path, list[Session]] = {}
    for (root, _), session in sorted(found.items(), key=lambda item: (str(item[0][0]), item[0][1] or 0)):
        sessions.setdefault(root, []).append(session)
    for alike in sessions.values():
        unranked = next((session for session in alike if session.rank is None), None)
        ranked = [session for session in alike if session.rank is not None]
        if unranked is not None and ranked:
            ranked[0].join(unranked)
            alike.remove(unranked)
    return [session for alike in sessions.values() for session in alike]
