"""The processes that this one started, and those that they did, as Linux tells of them."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass

# linux/pidfd.h: PIDFD_GET_INFO, of a struct pidfd_info of 64 bytes; its first field is what is asked for and told.
_GET_INFO = 3 << 30 | 64 << 16 | 0xFF << 8 | 11
_INFO_EXIT = 1 << 3
_MOST_BYTES = 1 << 17  # of a command line: as many as Linux takes for one argument (MAX_ARG_STRLEN)


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """What /proc/<pid>/stat tells. `start_ticks`: since the machine started, see `start_ns`."""

    command: str  # the first 15 characters of the program's name
    state: str
    start_ticks: int

    @property
    def start_ns(self) -> int:
        """Nanoseconds on CLOCK_BOOTTIME; true to a tick, which is 10 ms."""
        return self.start_ticks * 10**9 // os.sysconf("SC_CLK_TCK")


def children(pid: int) -> Iterator[int]:
    """The processes that a process started, one thread after another; none where it has ended.

    Linux tells them where it was built with CONFIG_PROC_CHILDREN, as it is everywhere but on small devices.
    """
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        yield from map(int, _read(f"/proc/{pid}/task/{thread}/children").split())


def process_stat(pid: int) -> ProcessStat | None:
    """None for a process that has gone."""
    before, _, after = _read(f"/proc/{pid}/stat").rpartition(b")")
    fields = after.split()
    if len(fields) < 20:
        return None
    return ProcessStat(before.partition(b"(")[2].decode("utf-8", "replace"), fields[0].decode(), int(fields[19]))


def arguments(pid: int) -> list[str]:
    """Its command line; empty for one that has gone or is a zombie."""
    text = _read(f"/proc/{pid}/cmdline").decode("utf-8", "surrogateescape")
    return text.removesuffix("\0").split("\0") if text else []


def working_directory(pid: int) -> str:
    """The directory it runs in; empty for one that has gone."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def exit_code(pidfd: int) -> int | None:
    """The exit code (negative: the signal that killed it) of an ended process; None where Linux does not tell.

    Linux tells it since 6.15, and only once the parent of the process has asked for it.
    """
    import fcntl  # which other systems than Linux may not have

    info = bytearray(64)
    struct.pack_into("=Q", info, 0, _INFO_EXIT)
    try:
        fcntl.ioctl(pidfd, _GET_INFO, info)
    except OSError:
        return None
    told, status = struct.unpack_from("=Q52xi", info)
    return os.waitstatus_to_exitcode(status) if told & _INFO_EXIT else None


def _read(path: str) -> bytes:
    """The beginning of a file of /proc; empty where it has gone."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, _MOST_BYTES)
    except OSError:  # the process ended meanwhile
        return b""
    finally:
        os.close(file)
