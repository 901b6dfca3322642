"""One line of what neuronx-cc and its wrapper print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

# As they stand in public logs and in issues of aws-neuron/aws-neuron-sdk. The compiler's own log (log-neuron-cc.txt),
# the backend's lines with the core and subgraph they are about; and, without all that, what the compiler prints:
#     2024-08-15T14:51:13Z INFO 3835 [sg0000/Tensorizer/BirCodeGenLoop]: BirCodeGenLoop finished after 8.984 seconds
#     2026-04-12T23:07:50Z USER 1411721 (nc00/sg00) [ModuleForkPass]: Running do_nothing
_COMPILER = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z +"
    r"(?:(?P<level>[A-Z]+) +(?P<pid>\d{1,9}) +(?:\((?P<scope>[^)]{1,64})\) +)?\[(?P<logger>[^\]]*)\]: ?)?(?P<text>.*)"
)
# Its first stage, which writes into the same log:
#     2026-01-19 05:12:33.022634: I hilo/hlo_passes/HloMacCount.cc:21] [INFO] HloMacCount has found 8589934592
_HILO = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.(?P<fraction>\d{6}): [IWEF] (?P<logger>\S+:\d+)\] "
    r"(?:\[(?P<level>[A-Z]+)\] )?(?P<text>.*)"
)
# The wrapper of PyTorch and JAX, with the dots behind which it waits in front:
#     .2024-05-08 00:46:45.000120:  185  INFO ||NEURON_CC_WRAPPER||: Using a cached neff at /var/tmp/...
_WRAPPER = re.compile(
    r"[^|]*?(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.(?P<fraction>\d{6}): +(?:(?P<pid>\d{1,9}) +)?(?P<level>[A-Z]+) +"
    r"\|\|(?P<logger>[A-Z_]+)\|\|: ?(?P<text>.*)"
)
_SUBGRAPH = re.compile(r"sg\d+(?=/)")
_LONGEST = 1 << 14  # characters of a line that are looked at
_LONGEST_BYTES = 1 << 20  # of a line that are kept until its end comes
_FIRST_YEAR, _LAST_YEAR = 2000, 2199


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line with a time. `pid` is -1, the texts are "" where the line does not tell them."""

    ts_ns: int  # since 1970
    text: str
    level: str = ""
    pid: int = -1
    scope: str = ""  # the core or subgraph it is about
    logger: str = ""
    is_wrapper: bool = False


def log_line(text: str) -> LogLine | None:
    """The line, None where it has no time of this grammar.

    The compiler tells UTC to the second; the other two do not tell their time zone, and are taken to be in UTC as well.
    """
    text = text[:_LONGEST]
    for pattern, ns in ((_COMPILER, 0), (_HILO, 1000), (_WRAPPER, 10**6)):
        found = pattern.match(text)
        ts_ns = _unix_ns(found["time"]) if found else None
        if found and ts_ns is not None:
            told = found.groupdict(default="")
            # Worked out from data: the wrapper's fraction runs from 000000 to 000999, so it counts milliseconds.
            fraction = int(told["fraction"]) % (10**9 // ns) if ns else 0
            subgraph = _SUBGRAPH.match(told["logger"])
            return LogLine(
                ts_ns=ts_ns + fraction * ns,
                text=told["text"],
                level=told["level"],
                pid=int(told.get("pid") or -1),
                scope=told.get("scope") or (subgraph[0] if subgraph else ""),
                logger=told["logger"],
                is_wrapper=pattern is _WRAPPER,
            )
    return None


def text_lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """The lines of a text that comes in pieces; of one that is longer than a megabyte, the end is left out."""
    pending = b""
    for piece in pieces:
        *whole, pending = (pending + piece).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace").rstrip("\r")
        pending = pending[:_LONGEST_BYTES]
    if pending:
        yield pending.decode("utf-8", "replace").rstrip("\r")


def _unix_ns(time: str) -> int | None:
    """Nanoseconds since 1970 of "2024-08-15T14:51:13" or "2024-08-15 14:51:13"; None for no such moment."""
    try:
        found = datetime.fromisoformat(time).replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(found.timestamp()) * 10**9 if _FIRST_YEAR <= found.year <= _LAST_YEAR else None
