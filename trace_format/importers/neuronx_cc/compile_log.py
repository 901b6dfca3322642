"""Compiles and their passes from the lines of a log."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trace_format.builder import TraceBuilder
from trace_format.importers.neuronx_cc import messages as says
from trace_format.importers.neuronx_cc.lines import LogLine, log_line
from trace_format.importers.neuronx_cc.passes import PassLane
from trace_format.tables import CACHE_RESULTS, CATEGORIES

BACKEND = "neuronx-cc"
_COMPILE = CATEGORIES.index("compile")
_TOLD = ("WARNING", "ERROR", "CRITICAL", "FATAL", "USER")  # levels whose messages are kept as instants
_LONGEST_NAME, _LONGEST_COMMAND = 200, 4096
_MOST_OPEN = 1024  # compiles under way at once; a big machine has a hundred
_LONGEST_NS = 10**9 * 10**7  # a third of a year: no pass takes longer


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCompile:
    """One compile, as the columns of `compiles` have it. Phases that lie inside others count in both."""

    what: str
    slice: int = -1  # the row that `builder["slices"].append` returned
    cache: str = "unknown"
    exit_status: int = -1
    phases_ns: Mapping[str, int] = field(default_factory=dict)


def add_compile(builder: TraceBuilder, compile_: LoggedCompile, *, neff: int = -1) -> None:
    """Add a row to `compiles`."""
    builder["compiles"].append(
        1,
        slice=compile_.slice,
        what=builder.string(compile_.what),
        backend=builder.string(BACKEND),
        cache=CACHE_RESULTS.index(compile_.cache),
        neff=neff,
        exit_status=compile_.exit_status,
        phases=_arg_set(builder, compile_.phases_ns),
    )


@dataclass(slots=True)
class _Compile:
    """A compile that is under way."""

    pid: int
    ts_ns: int
    last_ns: int
    command: str = ""
    cache: str = "unknown"
    hlo_macs: int | None = None
    exit_status: int = -1  # may be told before it is told when
    phases_ns: Counter[str] = field(default_factory=Counter)
    main_lane: tuple[int, str] | None = None  # process and scope that share the track of the compile itself
    lanes: dict[tuple[int, str], PassLane] = field(default_factory=dict)
    what: str = field(init=False)

    def __post_init__(self) -> None:
        self.what = says.what_is_made(self.command)


class CompileLog:
    """Takes lines of a log one by one; each is counted as kept, or left out by cause, in the builder's report.

    `compiles`: those that ended so far, whose slices are in the builder.
    """

    def __init__(self, builder: TraceBuilder) -> None:
        self.compiles: list[LoggedCompile] = []
        self._builder = builder
        self._open: dict[int, _Compile] = {}  # by the process that the compile began with
        self._of_worker: dict[int, int] = {}  # that process, by one that it started
        self._tracks: dict[tuple[int, str], int] = {}

    def take(self, lines: Iterable[str]) -> None:
        report = self._builder.report
        for text in lines:
            report.source_events += 1
            line = log_line(text)
            cause = self._untimed(text) if line is None else self._timed(line)
            if cause:
                report.left_out[cause] += 1

    def finish(self) -> None:
        """Close what is still open: such compiles did not end before the log did."""
        for pid in list(self._open):
            self._close(pid, None)

    def _untimed(self, text: str) -> str:
        """Use a line without a time; why it is left out, "" if it is not."""
        status, macs = says.STATUS.search(text), says.MACS.search(text)
        if status is None and macs is None:
            return "line without a time that is known here" if text.strip(". \t") else "progress dots or empty line"
        waiting = [compile_ for compile_ in self._open.values() if compile_.exit_status < 0]
        if len(waiting) != 1:
            return "line without a time that belongs to none, or to one of several compiles"
        if macs:
            waiting[0].hlo_macs = int(macs["count"])
        elif status:
            waiting[0].exit_status = 0 if status["status"] == "PASS" else 1  # a line that tells when may follow
        return ""

    def _timed(self, line: LogLine) -> str:
        return self._wrapper(line) if line.is_wrapper else self._compiler(line)

    def _wrapper(self, line: LogLine) -> str:
        failed = says.failure(line.text) if says.FAILED.match(line.text) else None
        if failed is not None or says.COMPLETED.match(line.text):
            pid = self._pid_of(line)
            if pid is None:
                return "end of a compile whose begin is not in the log"
            self._open[pid].exit_status = failed or 0
            self._close(pid, line.ts_ns)
            return ""
        waiting = self._open.get(line.pid)
        if waiting is not None and waiting.exit_status >= 0:
            self._close(line.pid, None)  # what comes now is about another
        called = says.CALL.match(line.text)
        if called:
            self._close(line.pid, None)
            self._begin(_Compile(line.pid, line.ts_ns, line.ts_ns, called["command"], "miss"))
            return ""
        for pattern, status in ((says.CACHED, 0), (says.CACHED_FAILURE, 1)):
            found = pattern.match(line.text)
            if found:
                hit = _Compile(line.pid, line.ts_ns, line.ts_ns, found["path"], "hit", exit_status=status)
                self._add(hit, 0)
                return ""
        return self._told(line, line.pid)

    def _pid_of(self, line: LogLine) -> int | None:
        """The process whose compile a line of the wrapper is about."""
        module = says.MODULE.search(line.text)
        named = [pid for pid, compile_ in self._open.items() if module and compile_.what == module[0]]
        return named[0] if named else line.pid if line.pid in self._open else None

    def _compiler(self, line: LogLine) -> str:
        compile_ = self._compile_of(line)
        compile_.last_ns = max(compile_.last_ns, line.ts_ns)
        exited, finished = says.EXITED.search(line.text), says.FINISHED.match(line.text)
        if exited:
            compile_.exit_status = says.exit_status(int(exited["code"]))
            self._close(compile_.pid, line.ts_ns)
            return ""
        if finished:
            return self._pass_ended(compile_, line, finished["name"], round(float(finished["seconds"]) * 10**9))
        job_ended = says.JOB_ENDED.match(line.text)
        if job_ended:
            return self._pass_ended(compile_, line, job_ended["name"], None)
        began, macs = says.RUNNING.match(line.text) or says.JOB_BEGAN.match(line.text), says.MACS.search(line.text)
        if began:
            self._lost_passes(self._lane(compile_, line)[0].begin(began["name"], line.ts_ns))
            return ""
        if macs:
            compile_.hlo_macs = int(macs["count"])
            return ""
        if not compile_.command and says.is_command(line.text):
            compile_.command, compile_.what = line.text, says.what_is_made(line.text)
            return ""
        return self._told(line, compile_.pid)

    def _compile_of(self, line: LogLine) -> _Compile:
        """The compile that a line of the compiler belongs to; a new one where none is under way.

        The process that is called starts others, which write most of the log: who is seen first belongs to the compile
        that began last.
        """
        pid = line.pid if line.pid in self._open else self._of_worker.get(line.pid, -1)
        found = self._open.get(pid)
        is_command = line.logger == "root" and says.is_command(line.text)
        if found is None and self._open and not is_command and (line.pid >= 0 or len(self._open) == 1):
            found = self._open[next(reversed(self._open))]
            self._of_worker[line.pid] = found.pid
        if found is not None and (found.exit_status >= 0 or (is_command and found.command)):
            self._close(found.pid, None)  # the log goes on with the next compile
            found = None
        return found or self._begin(_Compile(line.pid, line.ts_ns, line.ts_ns))

    def _begin(self, compile_: _Compile) -> _Compile:
        if len(self._open) >= _MOST_OPEN:
            self._close(next(iter(self._open)), None)
        self._open[compile_.pid] = compile_
        return compile_

    def _pass_ended(self, compile_: _Compile, line: LogLine, name: str, dur_ns: int | None) -> str:
        if dur_ns is not None and (dur_ns > _LONGEST_NS or dur_ns > line.ts_ns):
            return "duration beyond any compile"
        lane, track = self._lane(compile_, line)
        found = lane.end(name, line.ts_ns, dur_ns)
        if found is None:
            return "end of a pass whose begin is not in the log"
        start_ns, dur_ns, abandoned = found
        self._lost_passes(abandoned)
        compile_.ts_ns = min(compile_.ts_ns, start_ns)
        compile_.last_ns = max(compile_.last_ns, start_ns + dur_ns)
        compile_.phases_ns[name] += dur_ns
        self._slice(start_ns, dur_ns, track, name, line.logger)
        return ""

    def _lost_passes(self, count: int) -> None:
        if count:
            self._builder.report.left_out["begin of a pass whose end is not in the log"] += count

    def _lane(self, compile_: _Compile, line: LogLine) -> tuple[PassLane, int]:
        """The passes of a process about a core or subgraph, and their track.

        The first process, about the whole and about the first subgraph, shares the track of the compile itself.
        """
        if compile_.main_lane is None or (compile_.main_lane == (line.pid, "") and "/" not in line.scope):
            compile_.main_lane = (line.pid, line.scope)
        is_main = line.pid == compile_.main_lane[0] and line.scope in ("", compile_.main_lane[1])
        lane = compile_.lanes.setdefault((compile_.pid, "") if is_main else (line.pid, line.scope), PassLane())
        return lane, self._track(compile_.pid, "") if is_main else self._track(line.pid, line.scope)

    def _told(self, line: LogLine, pid: int) -> str:
        """Keep a message as an instant if its level says that it matters."""
        if line.level not in _TOLD:
            return f"message of level {line.level or 'none'} that tells of no pass"
        if not line.text.strip():
            return "empty message"
        strings = self._builder.string
        self._builder["instants"].append(
            1,
            ts_ns=line.ts_ns,
            track=self._track(pid, ""),
            name=strings(line.text[:_LONGEST_NAME]),
            category=_COMPILE,
            source_category=strings(line.level),
        )
        return ""

    def _close(self, pid: int, end_ns: int | None) -> None:
        """End the compile of a process, if there is one; None: no line tells when."""
        compile_ = self._open.pop(pid, None)
        if compile_ is None:
            return
        if self._of_worker:
            self._of_worker = {worker: of for worker, of in self._of_worker.items() if of != pid}
        if end_ns is None and compile_.exit_status >= 0 and compile_.last_ns > compile_.ts_ns:
            end_ns = compile_.last_ns  # of its last pass
        did_work = bool(compile_.command or compile_.phases_ns)
        for (worker, scope), lane in compile_.lanes.items():
            unfinished = lane.unfinished()
            if compile_.exit_status == 0:
                self._lost_passes(len(unfinished))
                continue
            for name, ts_ns in unfinished:
                did_work = True
                self._slice(ts_ns, -1, self._track(worker, scope), name, "")
        if did_work:
            self._add(compile_, -1 if end_ns is None else max(end_ns, compile_.last_ns) - compile_.ts_ns)
        elif compile_.exit_status >= 0:
            self._builder.report.left_out["exit of a call that compiled nothing"] += 1

    def _add(self, compile_: _Compile, dur_ns: int) -> None:
        name = compile_.what
        args = {
            "command": compile_.command[:_LONGEST_COMMAND] or None,
            "exit_status": compile_.exit_status if compile_.exit_status >= 0 else None,
            "cache": compile_.cache,
            "hlo_macs": compile_.hlo_macs,
        }
        track = self._track(compile_.pid, "")
        row = self._slice(compile_.ts_ns, dur_ns, track, name or BACKEND, "compile", args)
        self.compiles.append(
            LoggedCompile(
                what=name,
                slice=row,
                cache=compile_.cache,
                exit_status=compile_.exit_status,
                phases_ns=compile_.phases_ns,
            )
        )

    def _slice(
        self, ts_ns: int, dur_ns: int, track: int, name: str, source: str, args: dict[str, Any] | None = None
    ) -> int:
        builder = self._builder
        return builder["slices"].append(
            1,
            ts_ns=ts_ns,
            dur_ns=dur_ns,
            track=track,
            name=builder.string(name),
            category=_COMPILE,
            source_category=builder.string(source),
            args=_arg_set(builder, {key: value for key, value in (args or {}).items() if value is not None}),
        )

    def _track(self, pid: int, scope: str) -> int:
        row = self._tracks.get((pid, scope))
        if row is None:
            name = f"{BACKEND} {scope}".rstrip()
            row = self._tracks[pid, scope] = self._builder.track(name, kind="compile", pid=pid)
        return row


def _arg_set(builder: TraceBuilder, args: Mapping[str, Any]) -> int:
    return builder.pool.arg_sets.id(json.dumps(dict(args)).encode()) if args else 0
