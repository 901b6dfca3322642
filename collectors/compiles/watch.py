"""Watches the processes that this one starts for compilers."""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from collectors import audit_events
from collectors.base import Clock
from collectors.boundary import Boundary
from collectors.compiles.call import COMPILER, CompilerCall, is_compiler_call
from collectors.compiles.descendants import arguments, children, exit_code, process_stat, working_directory

_INTERVAL_S = 0.15
_MOST_OF_A_CORE = 0.005  # that passes take: with so many processes that one takes long, they become rare
_HURRY_S, _HURRIED_PASSES = 0.005, 100  # while a compiler is about to start
_YOUNG_NS = 10**9  # a process may yet become another program
_LAST_LOOK_NS = 10**9  # after the end of a process: by then its parent has asked for its exit code
_MOST_PROCESSES, _MOST_WATCHED = 10_000, 200  # compilers in a window; those whose end is waited for
_TICK_NS = 10 * 10**6
_SPAWNS = ("subprocess.Popen", "os.system", "os.posix_spawn")


@dataclass(slots=True)
class CompilerProcess:
    """One run of the compiler. Times are those of the window's clock.

    The end is -1 where it was not seen, the exit code None where nobody tells, and negative for a signal.
    `start_within_ns`: how far off the start may be.
    """

    call: CompilerCall
    pid: int
    start_ns: int
    end_ns: int = -1
    exit_code: int | None = None
    start_within_ns: int = _TICK_NS
    _pidfd: int = -1


@dataclass(frozen=True, slots=True)
class _Spawn:
    """A process that Python is about to start with a command that names the compiler."""

    ts_ns: int
    popen: Any = None  # the subprocess.Popen object, which knows its pid and exit code later
    call: CompilerCall | None = None  # None where what is started is a shell or the like


@dataclass(slots=True)
class CompilerWatch:
    """Looks every 150 ms at all descendants of this process, in a thread of its own.

    A pass takes about 150 us with ten of them. The start of a process is known to 10 ms, exactly where Python itself
    started it; its end is waited for.
    """

    clock: Clock
    found: list[CompilerProcess] = field(default_factory=list)
    left_out: int = 0  # runs beyond those that are kept
    boundary: Boundary = field(default_factory=Boundary)
    _spawns: list[_Spawn] = field(default_factory=list)
    _waiting: deque[_Spawn] = field(default_factory=deque)  # those of the compiler itself that no pass has seen yet
    _known: dict[tuple[int, int], str] = field(default_factory=dict)  # program by pid and start
    _running: dict[tuple[int, int], CompilerProcess] = field(default_factory=dict)
    _thread: threading.Thread | None = None
    _wake: int = -1
    _stopping: bool = False

    def start(self) -> None:
        """Begin to watch, where there is a Linux to ask."""
        if not hasattr(os, "pidfd_open") or not hasattr(os, "eventfd"):
            return
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._thread = threading.Thread(target=self._run, daemon=True, name="neuron_profile compilers")
        self._thread.start()
        audit_events.listen(self._spawning, _SPAWNS)

    def stop(self) -> None:
        self._stopping = True
        audit_events.unlisten(self._spawning)
        if self._thread is not None:
            os.eventfd_write(self._wake, 1)

    def finish(self) -> list[CompilerProcess]:
        """All compilers that were seen, in order of start."""
        if self._thread is not None:
            self._thread.join()
            os.close(self._wake)
            self._thread = None
        for process in self.found:
            self._place(process)
        return sorted(self.found, key=lambda process: process.start_ns)

    def _place(self, process: CompilerProcess) -> None:
        """Complete what is known of a process by what Python told when it started one."""
        tick_end_ns = process.start_ns + _TICK_NS
        for spawn in self._spawns:
            if spawn.popen is not None and getattr(spawn.popen, "pid", None) == process.pid:
                process.start_ns, process.start_within_ns = spawn.ts_ns, 0
                if process.exit_code is None:
                    process.exit_code = spawn.popen.returncode
                return
            if process.start_ns < spawn.ts_ns < tick_end_ns:  # what it comes from started within the same tick
                process.start_ns = spawn.ts_ns

    def _spawning(self, event: str, told: tuple[Any, ...]) -> None:
        with self.boundary.around("the start of a process"):
            command = told[1] if event == "subprocess.Popen" else told[-2] if event == "os.posix_spawn" else told[0]
            words = [command] if isinstance(command, str | bytes | os.PathLike) else list(command)
            argv = [os.fsdecode(word) for word in words]
            if any(COMPILER in word for word in argv) and len(self._spawns) < _MOST_PROCESSES:
                is_popen = event == "subprocess.Popen"
                popen, directory = (_popen(sys._getframe()), told[2]) if is_popen else (None, None)
                call = CompilerCall(tuple(argv), Path(directory or ".").absolute()) if is_compiler_call(argv) else None
                spawn = _Spawn(self.clock(), popen, call)
                self._spawns.append(spawn)
                if popen is not None and call is not None:
                    self._waiting.append(spawn)
                if not self._stopping:
                    os.eventfd_write(self._wake, 1)

    def _run(self) -> None:
        boot_ns = self.clock() - time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        events = select.poll()
        events.register(self._wake, select.POLLIN)
        hurried = 0
        while not self._stopping:
            begin_s = time.thread_time()
            before = len(self.found)
            self._pass(boot_ns, events)
            took_s = time.thread_time() - begin_s
            hurried = max(hurried - 1, 0) if len(self.found) == before else 0
            wait_s = _HURRY_S if hurried else max(_INTERVAL_S, took_s / _MOST_OF_A_CORE)
            for file, _ in events.poll(wait_s * 1000):
                if file == self._wake:
                    os.eventfd_read(file)
                    hurried = _HURRIED_PASSES
                else:
                    self._ended(file, events)
        self._pass(boot_ns, events)
        for process in self.found:
            self._last_look(process, self.clock() + _LAST_LOOK_NS)

    def _pass(self, boot_ns: int, events: select.poll) -> None:
        """Look at all descendants once; not at those of a compiler, which are its own parts."""
        now_ns = self.clock()
        started = self._started(now_ns)
        seen: set[tuple[int, int]] = set()
        parents = [os.getpid()]
        while parents:
            for pid in children(parents.pop()):
                stat = process_stat(pid)
                if stat is None:
                    continue
                key = pid, stat.start_ticks
                if stat.state == "Z" and key not in self._running:
                    continue
                seen.add(key)
                start_ns = stat.start_ns + boot_ns
                if key not in self._running and (self._known.get(key) != stat.command or now_ns - start_ns < _YOUNG_NS):
                    self._known[key] = stat.command
                    argv = arguments(pid)
                    if is_compiler_call(argv):
                        call = CompilerCall(tuple(argv), Path(working_directory(pid)))
                        self._add(key, CompilerProcess(call, pid, start_ns), events)
                if key not in self._running:
                    parents.append(pid)
        self._missed(self.clock(), started, {pid for pid, _ in seen})
        self._known = {key: command for key, command in self._known.items() if key in seen}
        for key, process in list(self._running.items()):
            if process._pidfd < 0 and process.end_ns < 0 and key not in seen:
                process.end_ns = now_ns
            if process.end_ns >= 0:
                self._last_look(process, now_ns)
                if process._pidfd < 0 and key not in seen:
                    del self._running[key]

    def _started(self, now_ns: int) -> list[_Spawn]:
        """The spawns that wait to be seen and whose process has started; those that could not start are let go."""
        started = []
        for spawn in [self._waiting.popleft() for _ in range(len(self._waiting))]:
            if getattr(spawn.popen, "pid", None) is not None:
                started.append(spawn)
            elif now_ns - spawn.ts_ns < _YOUNG_NS:
                self._waiting.append(spawn)
        return started

    def _missed(self, now_ns: int, started: list[_Spawn], alive: set[int]) -> None:
        """Note compilers that Python started and that ended before a pass, which saw the processes `alive`."""
        found = {process.pid for process in self.found} if started else set()
        for spawn in started:
            pid = spawn.popen.pid
            if pid in alive:
                self._waiting.append(spawn)
            elif spawn.call is not None and pid not in found:
                self.found.append(CompilerProcess(spawn.call, pid, spawn.ts_ns, now_ns))

    def _add(self, key: tuple[int, int], process: CompilerProcess, events: select.poll) -> None:
        self._running[key] = process
        if len(self.found) >= _MOST_PROCESSES:
            self.left_out += 1
            return
        self.found.append(process)
        if len(self._running) > _MOST_WATCHED:
            return
        try:
            process._pidfd = os.pidfd_open(process.pid)
        except OSError:  # it has just ended, or there is no more room
            return
        stat = process_stat(process.pid)
        if stat is None or stat.start_ticks != key[1]:
            os.close(process._pidfd)
            process._pidfd = -1
        else:
            events.register(process._pidfd, select.POLLIN)

    def _ended(self, pidfd: int, events: select.poll) -> None:
        events.unregister(pidfd)
        for process in self._running.values():
            if process._pidfd == pidfd:
                process.end_ns = self.clock()

    def _last_look(self, process: CompilerProcess, now_ns: int) -> None:
        """Ask for the exit code of one that ended, and let go of it once it is told or will not be any more."""
        if process._pidfd < 0:
            return
        process.exit_code = exit_code(process._pidfd)
        if process.exit_code is not None or now_ns - process.end_ns >= _LAST_LOOK_NS:
            os.close(process._pidfd)
            process._pidfd = -1


def _popen(frame: FrameType | None) -> Any:
    """The subprocess.Popen object that is starting a process, None where another does."""
    for _ in range(10):
        if frame is None:
            return None
        if frame.f_code.co_name == "_execute_child":
            return frame.f_locals.get("self")
        frame = frame.f_back
    return None
