"""Mends the text of one value that is almost JSON, the way its writer meant it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

_STRING = r'"(?:[^"\\]|\\.)*"'
_NOT_A_NUMBER = re.compile(
    _STRING + r"|(?<=[:,\[])(\s*)[-+]?(?:nan(?:\([^)]*\))?|inf(?:inity)?|1\.#\w+)(?=\s*[,}\]])",
    re.IGNORECASE | re.DOTALL,
)
_NOT_AVAILABLE = re.compile(_STRING + r"|(?<=[:,\[])(\s*)(N/A)(?=\s*[,}\]])", re.DOTALL)
_NO_VALUE = re.compile(_STRING + r"|(:)(?=\s*[,}])", re.DOTALL)
_LAST_COMMA = re.compile(_STRING + r"|,(\s*[}\]])", re.DOTALL)
_BACKSLASH = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(\\)', re.DOTALL)


def _outside_strings(pattern: re.Pattern[str], put: Callable[[re.Match[str]], str]) -> Callable[[str], str]:
    return lambda text: pattern.sub(lambda found: found[0] if found[0][0] == '"' else put(found), text)


# Cause, and the change that mends it, in the order in which they are tried, one on top of the other.
_MENDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("NaN or infinity in place of a value: shown as unknown",
     _outside_strings(_NOT_A_NUMBER, lambda found: found[1] + "null")),
    ("value missing: shown as unknown", _outside_strings(_NO_VALUE, lambda found: ":null")),
    ("N/A without quotes", _outside_strings(_NOT_AVAILABLE, lambda found: f'{found[1]}"{found[2]}"')),
    ("comma too many", _outside_strings(_LAST_COMMA, lambda found: found[1])),
    ("backslash not doubled",
     lambda text: _BACKSLASH.sub(lambda found: "\\\\" if found[1] else found[0], text)),
)  # fmt: skip


def mended(text: bytes) -> tuple[Any, list[str]] | None:
    """The value of `text` and the causes of what had to be mended (none: it was JSON); None if that is not enough.

    Numbers with a fraction come as `Decimal`. Text of a lone surrogate is kept. Raises RecursionError where it is
    nested too deeply to be read.
    """
    causes = []
    try:
        whole = text.decode()
    except UnicodeDecodeError:
        whole = text.decode("utf-8", "replace")
        causes.append("bytes that are not UTF-8 replaced")
    value = _loaded(whole, strict=True)
    if value is not _NOTHING:
        return value, causes
    value = _loaded(whole, strict=False)
    if value is not _NOTHING:
        return value, [*causes, "control character not escaped"]
    for cause, mend in _MENDS:
        changed = mend(whole)
        if changed != whole:
            whole = changed
            causes.append(cause)
            value = _loaded(whole, strict=False)
            if value is not _NOTHING:
                return value, causes
    return None


_NOTHING = object()


def _loaded(text: str, *, strict: bool) -> Any:
    try:
        return json.loads(text, strict=strict, parse_float=Decimal, parse_constant=_refuse)
    except ValueError:
        return _NOTHING


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def dumped(value: Any) -> bytes:
    """A value that `mended` returned as JSON text in ASCII."""
    return json.dumps(value, default=as_float).encode("ascii")


def as_float(number: Decimal) -> float | str:
    """A number that `mended` returned, as text where no float is that large."""
    value = float(number)
    return value if math.isfinite(value) else str(number)
