"""Reads folders in which compiled programs are kept, as rows of compiles and NEFFs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trace_format.builder import TraceBuilder
from trace_format.errors import TraceFileError
from trace_format.importers.neff import read_neff_file
from trace_format.importers.neff.rows import add_neff
from trace_format.importers.neuronx_cc.compile_log import BACKEND, CompileLog, LoggedCompile, add_compile
from trace_format.importers.neuronx_cc.lines import text_lines
from trace_format.importers.neuronx_cc.messages import failure
from trace_format.importers.source import Source
from trace_format.trace import Trace

_MOST_FILES, _MOST_NESTED = 1 << 20, 12
_LONGEST_LOG_BYTES = 64 << 20
# AWS Neuron docs, Neuron Persistent Cache: <cache>/neuronxcc-<version>/MODULE_<hash>+<hash of flags>/model.neff,
# with model.done beside it once the compile has ended, and model.log.
_MODULE = re.compile(r"MODULE_\w+\+\w+")
_COMPILER = re.compile(r"neuronxcc-(?P<version>.+)")
_NEFF, _DONE, _LOG = "model.neff", "model.done", "model.log"
# torch-neuronx's own cache: <cache>/<2 digits>/<2 digits>/<hash>.neff
_SHARDED = re.compile(r"[0-9a-f]{2}/[0-9a-f]{2}/(?P<hash>[0-9a-f]{8,128})\.neff")
# vLLM's: <cache>/<32 digits>/, with a mark once the compile has ended (public issue aws-neuron/aws-neuron-sdk#1368)
_HASHED = re.compile(r"[0-9a-f]{32}")
_COMPLETE = ".compilation_complete"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One compile in a cache, or (layout "") a program that lies about in it.

    `done`: whether there is the mark of a compile that ended, None where its absence says nothing.
    """

    what: str
    layout: str
    neff: Path | None
    done: bool | None = None
    log: Path | None = None
    compiler_version: str = ""


def holds_compile_cache(folder: str | os.PathLike[str]) -> bool:
    """Whether there is a compile in one of the known layouts below a folder."""
    return any(entry.layout for entry in _entries(Path(folder)))


def read_compile_cache(folder: str | os.PathLike[str]) -> Trace:
    """The trace of a cache: a row of `compiles` for each entry, of `neffs` for each program, slices from its logs.

    `exit_status` is 0 for a program that is whole, that of the compiler for one that failed, and -1 where the compile
    goes on or was cut off. The cache does not tell who had a hit. The report counts entries, programs and lines of
    logs. Raises TraceFileError where there is no such folder.
    """
    root = Path(folder)
    if not root.is_dir():
        raise TraceFileError("is no folder; name the root of a compile cache", path=root)
    builder = TraceBuilder()
    entries = sorted(_entries(root), key=lambda entry: (entry.layout, entry.what))
    for entry in entries:
        neff = -1 if entry.neff is None else _add_neff(builder, entry.neff, root)
        if entry.layout:
            builder.report.source_events += 1
            logged, failed = _logged(builder, entry)
            compile_ = LoggedCompile(
                what=entry.what,
                slice=logged.slice if logged else -1,
                exit_status=_exit_status(entry, neff, logged, failed),
                phases_ns=logged.phases_ns if logged else {},
            )
            add_compile(builder, compile_, neff=neff)
    described = {
        "format": "neuronx-cc-cache",
        "path": root.name,
        "producer": BACKEND,
        "clock": "unix" if builder["slices"].rows else "unknown",
        "layouts": sorted({entry.layout for entry in entries if entry.layout}),
        "compiler_versions": sorted({entry.compiler_version for entry in entries if entry.compiler_version}),
    }
    return builder.finish(metadata={"sources": [described]})


def _entries(root: Path) -> Iterator[_Entry]:
    """The entries below a folder, links to folders not followed; only so many files are looked at."""
    seen = 0
    for at, folders, files in os.walk(root):
        seen += len(files) + len(folders)
        here = Path(at)
        if seen > _MOST_FILES or len(here.relative_to(root).parts) >= _MOST_NESTED:
            folders.clear()
        folders.sort()
        if _MODULE.fullmatch(here.name):
            folders.clear()
            yield _module(here, files)
            continue
        whole = _HASHED.fullmatch(here.name) is not None
        for name in sorted(name for name in files if name.endswith(".neff")):
            file = here / name
            sharded = _SHARDED.fullmatch("/".join(file.parts[-3:]))
            if whole:
                yield _Entry(here.name, "vllm", file, True if _COMPLETE in files else None)
            elif sharded:
                yield _Entry(sharded["hash"], "torch-neuronx", file)
            else:
                yield _Entry("", "", file)


def _module(folder: Path, files: list[str]) -> _Entry:
    compiler = _COMPILER.fullmatch(folder.parent.name)
    return _Entry(
        what=folder.name,
        layout="xla",
        neff=folder / _NEFF if _NEFF in files else None,
        done=_DONE in files,
        log=folder / _LOG if _LOG in files else None,
        compiler_version=compiler["version"] if compiler else "",
    )


def _add_neff(builder: TraceBuilder, file: Path, root: Path) -> int:
    """The row of a NEFF, -1 where it cannot be read."""
    builder.report.source_events += 1
    try:
        contents = read_neff_file(file)
    except TraceFileError as error:
        why = str(error).removeprefix(f"{error.path}: ")
        builder.report.left_out[f"NEFF that cannot be read: {why}"] += 1
        return -1
    for problem in contents.problems:
        builder.report.repaired[f"NEFF: {problem}"] += 1
    for cause, names in contents.refused.items():
        builder.report.repaired[f"NEFF: member of the archive not read, {cause}"] += len(names)
    return add_neff(builder, contents, file.relative_to(root).as_posix())


def _logged(builder: TraceBuilder, entry: _Entry) -> tuple[LoggedCompile | None, int | None]:
    """The last compile in the log of an entry, and the exit code of the failure that it tells of, None for none."""
    if entry.log is None or entry.log.stat().st_size > _LONGEST_LOG_BYTES:
        return None, None
    log = CompileLog(builder)
    failed: list[int] = []
    with Source(entry.log) as source:
        log.take(_noting_failures(text_lines(source.pieces()), failed))
    log.finish()
    return log.compiles[-1] if log.compiles else None, failed[0] if failed else None


def _noting_failures(lines: Iterator[str], failed: list[int]) -> Iterator[str]:
    for line in lines:
        code = failure(line)
        if code is not None:
            failed.append(code)
        yield line


def _exit_status(entry: _Entry, neff: int, logged: LoggedCompile | None, failed: int | None) -> int:
    if logged and logged.exit_status >= 0:
        return logged.exit_status
    if failed is not None:
        return failed
    if neff >= 0 and entry.done is not False:
        return 0
    return 1 if entry.done else -1
