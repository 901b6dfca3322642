"""What the lines of neuronx-cc and its wrapper say, as they stand in public logs and in AWS's documentation."""

from __future__ import annotations

import re

FINISHED = re.compile(r"(?P<name>\S.{0,199}?) finished after (?P<seconds>\d{1,8}(?:\.\d{1,12})?) seconds")
RUNNING = re.compile(r"Running (?P<name>\S{1,200})\Z")
JOB_BEGAN, JOB_ENDED = (
    re.compile(r"Starting job (?P<name>job\.\S{1,100})"),
    re.compile(r"Finished job (?P<name>job\.\S{1,100})"),
)
EXITED = re.compile(r"Subcommand returned with exitcode=(?P<code>-?\d{1,9})")
MACS = re.compile(r"HloMacCount has found (?P<count>\d{1,18})")
CALL = re.compile(r"Call compiler with cmd: (?P<command>.*)", re.IGNORECASE)
CACHED = re.compile(r"Using a cached neff at (?P<path>\S+?)(?:\. |\Z)", re.IGNORECASE)
CACHED_FAILURE = re.compile(r"Got a cached failed neff at (?P<path>\S+?)(?:\. |\Z)", re.IGNORECASE)
COMPLETED = re.compile(r"Compilation (?:Successfully )?Completed for ", re.IGNORECASE)
FAILED = re.compile(r"Failed compilation|Compilation failed", re.IGNORECASE)
STATUS = re.compile(r"Compiler status (?P<status>[A-Z]+)")
MODULE = re.compile(r"MODULE_\w+\+\w+")

_OUTPUT = re.compile(r"--output[ =',\"]+(?P<path>[^\s'\",]+)")
_CODE = re.compile(r"exit ?(?:code|status)[ =:]+(?P<code>\d{1,9})|failed with (?P<other>\d{1,9})", re.IGNORECASE)


def is_command(text: str) -> bool:
    """Whether a line shows how the compiler was called."""
    return "neuronx-cc" in text and " compile" in text and ("--output" in text or "--framework" in text)


def what_is_made(command: str) -> str:
    """The module that a command compiles, else the file that it makes, else ""."""
    module, output = MODULE.search(command), _OUTPUT.search(command)
    return module[0] if module else output["path"].replace("\\", "/").rsplit("/", 1)[-1] if output else ""


def failure(text: str) -> int | None:
    """The exit code of the failure that a line tells of, 1 where it tells none; None for any other line."""
    if FAILED.search(text) is None:
        return None
    found = _CODE.search(text)
    return exit_status(int(found["code"] or found["other"])) or 1 if found else 1


def exit_status(code: int) -> int:
    """An exit code as a shell has it: Python's -9 for a process that signal 9 killed is 137."""
    return code if 0 <= code < 2**31 else 128 - code if -128 < code < 0 else 1
