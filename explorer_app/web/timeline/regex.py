"""Regular expressions that a reader wrote, matched where they cannot hang the server.

Python's engine tries every way to match, which for some expressions takes longer than anyone lives, and cannot be
interrupted. So each expression is matched by a process of its own (`string_matcher`) that is ended after a while.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from explorer_app.web.timeline.query import QueryError

Array = np.ndarray

LONGEST_S: Final = 5.0
MOST_CHARACTERS: Final = 1 << 26
_MOST_AT_ONCE = 2
_PROGRAM = Path(__file__).with_name("string_matcher.py")
_turns = threading.BoundedSemaphore(_MOST_AT_ONCE)


def matching(expression: str, strings: Sequence[str], *, longest_s: float = LONGEST_S) -> Array:
    """Which of the strings an expression finds something in, whatever the case, `(n,) bool`.

    Raises QueryError for what is no expression, for one that takes longer than `longest_s`, and for strings of more
    than `MOST_CHARACTERS` together.
    """
    if not strings:
        return np.zeros(0, bool)
    if sum(map(len, strings)) > MOST_CHARACTERS:
        raise QueryError("the names of this trace are too long for regular expressions: look for a text")
    if not _turns.acquire(timeout=longest_s):
        raise QueryError("other regular expressions are being matched: try again in a few seconds")
    try:
        ran = subprocess.run(
            [sys.executable, "-I", "-S", str(_PROGRAM)],
            input=json.dumps([expression, strings]).encode(),
            capture_output=True,
            timeout=longest_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise QueryError(
            f"/{_shown(expression)}/ takes longer than {longest_s:g} s: write it without nested repetition"
        ) from error
    except OSError as error:
        raise QueryError(f"regular expressions cannot be matched here ({error.strerror}): look for a text") from error
    finally:
        _turns.release()
    found = np.frombuffer(ran.stdout, np.uint8)
    if ran.stdout.startswith(b"!"):
        raise QueryError(
            f"/{_shown(expression)}/ is no regular expression: {ran.stdout[1:].decode('utf-8', 'replace')}"
        )
    if ran.returncode or len(found) != len(strings):
        raise QueryError(f"/{_shown(expression)}/ could not be matched: write it more simply")
    return found == ord("1")


def _shown(expression: str) -> str:
    """An expression in a line, not too long."""
    line = " ".join(expression.split())
    return line if len(line) <= 60 else f"{line[:59]}…"
