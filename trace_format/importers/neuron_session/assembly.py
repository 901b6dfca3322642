"""Reads the files of one session and makes one trace of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from trace_format.errors import TraceFileError, UnsupportedFormatError
from trace_format.importers.format import Format
from trace_format.importers.neuron_session.aws_tool import AwsToolError, aws_tool, converted
from trace_format.importers.neuron_session.device_profiles import read_converted, read_ntff_with_neff
from trace_format.importers.neuron_session.discovery import Session
from trace_format.importers.neuron_session.joined import Joiner, Parts, clock_of
from trace_format.importers.neuron_session.layout import OWN_TRACE, UNREAD, is_framework_trace
from trace_format.importers.neuron_session.live_part import HELD, LIVE, described, live_part
from trace_format.importers.neuron_session.neff_pool import NeffPool
from trace_format.importers.recognition import recognise
from trace_format.importers.source import Source
from trace_format.instance_id import without_instance_ids
from trace_format.trace import Trace

Read = Callable[[Path], Trace]

_SYSTEM = (Format.NEURON_SYSTEM_JSON, Format.NEURON_RUNTIME_JSON, Format.NEURON_MONITOR)


class SessionReader:
    """Reads one session: first its device profiles, so that all sessions can share their NEFFs, then all else.

    `read` opens a file of any kind. What cannot be read is passed over and named in the report. What the host's trace
    holds already (see `HELD`) is not read.
    """

    def __init__(
        self, session: Session, pool: NeffPool, read: Read, below: Path | None = None, *, live: Trace | None = None
    ) -> None:
        """`below`: the folder that was asked for; the report names files from there on.

        `live`: the trace of the host, where it is recorded in this process; then its files are not looked for, and
        AWS's viewer, which takes its time, is not asked.
        """
        self.session = session
        self._live = live
        self._held_kinds: set[Format] = set()  # of the files whose content the host's trace has
        self._pool = pool
        self._below = "" if below is None else f"{below}{os.sep}"
        self._read = read
        self._parts = Parts(host=live)
        self._lost = list(session.lost)
        self._notes: Counter[str] = Counter()

    def read_profiles(self) -> None:
        """Read the NTFF files, each with the NEFF of its program, unless the host's trace has them."""
        if self._live is None:
            self._read_host()
        for path in self.session.ntffs:
            with self._passing_over():
                self._parts.devices.append(read_ntff_with_neff(path, self._pool, self._read))

    def trace(self, *, begin_ns: int | None = None) -> Trace | None:
        """The trace of the session; None where nothing of it could be read (see `lost`).

        `begin_ns`: where a device is shown that nothing relates to a host's clock.
        """
        session, parts = self.session, self._parts
        for kind in _SYSTEM:
            parts.system += self._traces(session.json.get(kind, []))
        for path in session.json.get(Format.NEURON_DEVICE_JSON, []):
            self._take_converted(path, self._read)
        for folder in session.parquet_folders:
            self._take_converted(folder, _read_parquet)
        with ExitStack() as stack:
            self._ask_aws_tool(stack)
        parts.system += self._traces(session.logs)
        parts.tables += self._traces(session.json.get(Format.NEURONX_CC_METRICS, []))
        parts.tables += self._traces(session.compile_caches, _read_cache)
        known = set() if parts.host is None else set(parts.host.neffs.text("uuid"))
        unpaired = [path for uuid, path in self._pool.unused if path in session.neffs and uuid.hex() not in known]
        parts.tables += self._traces(unpaired)
        if not parts.count:
            return None
        trace = Joiner(parts, begin_ns=begin_ns).trace()
        notes = [*self._notes.elements()]
        notes += [passed_over(error, self._below) for error in self._lost]
        # what was said when a live trace was joined with the session is in its report
        trace.report.repaired.update(note for note in notes if not self._was_said(note))
        metadata = {**trace.metadata, **self._named(trace.metadata)}
        if self._live is not None:
            metadata |= {HELD: self._read_names(), LIVE: described(self._live, trace)}
        return Trace.of(trace.pool, trace.tables(), metadata=metadata, report=trace.report)

    @property
    def lost(self) -> list[TraceFileError]:
        """What could not be read so far."""
        return self._lost

    def _was_said(self, note: str) -> bool:
        host = self._parts.host
        return host is not None and HELD in host.metadata and note in host.report.repaired

    def _read_names(self) -> list[str]:
        """The files of the session that were read, by their names from its folder on."""
        lost = {str(error.path) for error in self._lost}
        folder = self.session.folder
        paths = [path for path in self.session.readable if path.is_relative_to(folder) and str(path) not in lost]
        return sorted({path.relative_to(folder).as_posix() for path in paths})

    def _named(self, metadata: Any) -> dict[str, Any]:
        """What the names of files and folders tell and no file does: rank and process."""
        told: dict[str, Any] = {}
        if self.session.rank is not None and metadata.get("rank") is None:
            told |= {"rank": self.session.rank, "rank_from": "file name"}
        if self.session.pid is not None and metadata.get("pid") is None:
            told["pid"] = self.session.pid
        return told

    def _read_host(self) -> None:
        """Read the trace of the framework or of this project: the first of these that can be read."""
        paths = sorted(self.session.hosts, key=lambda p: (p.name != OWN_TRACE, not is_framework_trace(p)))
        for place, path in enumerate(paths):
            found = self._traces([path])
            if found:
                self._parts.host = self._without_held(found[0], path.parent)
                for other in paths[place + 1 :]:
                    if not _is_export_of(other, path):
                        self._notes[f"{other.name} is a further trace of the host: not shown, open it alone"] += 1
                return

    def _without_held(self, host: Trace, folder: Path) -> Trace:
        """The trace of the host, such that nothing is read twice of what it holds of the files in its folder.

        They are left out; or what it holds of them is, where AWS's viewer may tell now when the device ran.
        """
        names = host.metadata.get(HELD)
        if not isinstance(names, list):
            return host
        session = self.session
        held = {folder / name for name in names if isinstance(name, str)}
        kinds = {kind for kind, paths in session.json.items() if held & {*paths}}
        kinds |= {Format.NTFF} if held & {*session.ntffs} else set()
        if Format.NTFF in kinds and not kinds & {*_SYSTEM} and session.unread and held <= {*session.readable}:
            part = live_part(host) if aws_tool() is not None else None
            if part is not None:
                return part
        self._held_kinds = kinds
        session.leave_out(held)
        return host

    def _take_converted(self, path: Path, read: Read) -> None:
        """Take what AWS's tool made of a device profile: its metrics where its NTFF file is here, else all of it."""
        with self._passing_over():
            profile = read_converted(path, read)
            if profile.has_host_tracks and clock_of(profile.trace) == "unix":  # a store of the system's events
                self._parts.system.append(profile.trace)
                return
            for place, known in enumerate(self._parts.devices):
                if known.has_runs_of(profile):
                    self._parts.devices[place] = known.with_reported(profile)
                    self._parts.sources += [
                        {**source, "clock": None, "same_run_as": known.path.name}
                        for source in profile.trace.metadata.get("sources", [])
                    ]
                    return
            self._parts.devices.append(profile)

    def _ask_aws_tool(self, stack: ExitStack) -> None:
        """Have AWS's viewer read what has no public schema; name it where that is not possible."""
        unread = self.session.unread
        if not unread or (self._parts.system and self.session.json.get(Format.NEURON_SYSTEM_JSON)):
            return
        if self._held_kinds & {*_SYSTEM}:
            return
        tool = aws_tool() if self._live is None else None
        if tool is not None:
            try:
                made = stack.enter_context(converted(tool, self.session.folder))
                if self._take_made(made):
                    return
                self._notes[f"{tool} was asked for the runtime's files and wrote nothing that can be read"] += 1
            except AwsToolError as error:
                self._notes[str(error)] += 1
        for name, what in UNREAD.items():
            if any(path.name == name for path in unread):
                self._notes[
                    f"{name} ({what}) is here and not read: not public; AWS's neuron-explorer can convert it"
                ] += 1

    def _take_made(self, made: Iterable[Path]) -> bool:
        """Take the files that AWS's viewer wrote; False where none is a system profile."""
        found = False
        for path in made:
            with self._passing_over():
                kind = _format(path)
                if kind in _SYSTEM:
                    self._parts.system.append(self._read(path))
                    found = True
                elif kind is Format.NEURON_DEVICE_JSON and Format.NTFF not in self._held_kinds:
                    self._take_converted(path, self._read)
        return found

    def _traces(self, paths: Iterable[Path], read: Read | None = None) -> list[Trace]:
        found = []
        for path in paths:
            with self._passing_over():
                found.append((read or self._read)(path))
        return found

    @contextmanager
    def _passing_over(self) -> Iterator[None]:
        try:
            yield
        except UnsupportedFormatError as error:
            # a folder holds files of other kinds too
            if not Path(error.path).is_file() or not Path(error.path).stat().st_size or _is_named_ours(error.path):
                self._lost.append(error)
        except TraceFileError as error:
            self._lost.append(error)


def passed_over(error: TraceFileError, below: str) -> str:
    """What the report says of a file that could not be read, by its name from the folder `below` on."""
    return f"file passed over: {without_instance_ids(str(error).removeprefix(below))}"


def _is_named_ours(path: str) -> bool:
    return path.endswith((".ntff", ".neff", ".parquet"))


def _is_export_of(path: Path, trace: Path) -> bool:
    """Whether a file is, by its name, an export of the trace beside it."""
    return path.parent == trace.parent and path.name.split(".json")[0] == trace.name.removesuffix(".pb")


def _format(path: Path) -> Format:
    with Source(path) as source:
        return recognise(source.head(), path)


def _read_parquet(folder: Path) -> Trace:
    from trace_format.importers.neuron_parquet import read_parquet_directory

    return read_parquet_directory(folder)


def _read_cache(folder: Path) -> Trace:
    from trace_format.importers.neuronx_cc import read_compile_cache

    return read_compile_cache(folder)
