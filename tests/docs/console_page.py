"""A page of the documentation as commands and what they are said to print."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?(?: (?:ns|µs|ms|s|%|[kMGT]?B(?:/s)?)(?!\w))?")
_WILDCARD = "…"
SERVES = "# Ctrl-C ends it"


@dataclass(frozen=True)
class Command:
    """A command as it is typed, lines that go on with it included, and the lines that it is said to print."""

    text: str
    expected: tuple[str, ...]


def commands(page: Path) -> list[Command]:
    """The commands in the blocks of a page ("$ " begins one, "> " goes on with it), in order."""
    found: list[Command] = []
    for block in _BLOCK.findall(page.read_text("utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(Command(line[2:], ()))
            elif line.startswith("> "):
                found[-1] = Command(f"{found[-1].text}\n{line[2:]}", ())
            else:
                found[-1] = Command(found[-1].text, (*found[-1].expected, line))
    return found


def missing(command: Command, printed: str, *, numbers: bool) -> str:
    """The first expected line that was not printed, in order; "" where all were.

    "…" stands for anything; unless `numbers`, so does a number, with its unit, for any other.
    """
    lines = iter(printed.splitlines())
    for expected in command.expected:
        pattern = _pattern(expected, numbers=numbers)
        if not any(pattern.search(_spaces(line)) for line in lines):
            return expected
    return ""


def _pattern(expected: str, *, numbers: bool) -> re.Pattern[str]:
    parts = []
    for part in _spaces(expected).split(_WILDCARD):
        part = part.strip() if _WILDCARD in expected else part
        pieces = [part] if numbers else _NUMBER.split(part)
        parts.append(_NUMBER.pattern.join(map(re.escape, pieces)))
    return re.compile(".*".join(parts))


def _spaces(line: str) -> str:
    """The line with runs of spaces, which depend on the widths of numbers, as one."""
    return re.sub(r" +", " ", line).strip()
