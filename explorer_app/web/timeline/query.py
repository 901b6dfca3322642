"""What is looked for on the timeline: a line of terms, all of which must hold.

    gemm  "void gemm"       the name contains it, whatever the case
    =gemm  ="void gemm"     the name is exactly it
    /ge(mm|lu)/             a regular expression finds something in the name, whatever the case
    cat:compute,memcpy      the category is one of these
    track:"stream 7"        the name of the track, or of what it belongs to, contains it; = and /…/ as for names
    >1ms  <=2.5s            so long; ns, us, ms, s, min, h
    10us..50us              so long, both ends included

Within quotes a backslash stands before a quote or a backslash.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from explorer_app.web.timeline.request import BadRequestError
from trace_format import CATEGORIES

MOST_TERMS: Final = 32
MOST_EXPRESSIONS: Final = 3  # each may take seconds (see `regex`)
LONGEST_NS: Final = (1 << 63) - 1

_UNITS_NS: Final = {
    "ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9,
}  # fmt: skip
_NUMBER = r"\d{1,19}(?:\.\d{1,9})?"
_UNIT = "|".join(_UNITS_NS)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(?=\s|$)')
_REGEX = re.compile(r"/((?:[^\\]|\\.)+?)/(?=\s|$)")
_WORD = re.compile(r"\S+")
_BOUND = re.compile(rf"(>=|<=|>|<)({_NUMBER})({_UNIT})", re.ASCII)
_RANGE = re.compile(rf"({_NUMBER})({_UNIT})?\.\.({_NUMBER})({_UNIT})", re.ASCII)
_NO_UNIT = re.compile(rf"(>=|<=|>|<){_NUMBER}|{_NUMBER}\.\.{_NUMBER}", re.ASCII)


# What other tools call these terms.
_CATEGORY_TERM = re.compile(r"(?:category|categories):(\S*)", re.IGNORECASE)
_DURATION_TERM = re.compile(r"(?:dur|duration|time)(?:_?ns)?:?([<>]=?\S*)", re.IGNORECASE)


class QueryError(BadRequestError):
    """A query cannot be meant."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a text must be like."""

    how: Literal["contains", "is", "matches"]
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """What a slice must be like. `least_ns` to `most_ns`: how long, both included.

    Where `asks_duration`, one whose duration is unknown is not like it.
    """

    names: tuple[Pattern, ...] = ()
    tracks: tuple[Pattern, ...] = ()
    categories: frozenset[int] | None = None
    least_ns: int = 0
    most_ns: int = LONGEST_NS

    @property
    def asks_duration(self) -> bool:
        """Whether it matters how long a slice is."""
        return (self.least_ns, self.most_ns) != (0, LONGEST_NS)


def parse(text: str) -> Query:
    """The query of a line. Raises QueryError for what cannot be meant, and for too many terms."""
    names: list[Pattern] = []
    tracks: list[Pattern] = []
    categories: frozenset[int] | None = None
    least_ns, most_ns = 0, LONGEST_NS
    at, terms = 0, 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        terms += 1
        if terms > MOST_TERMS:
            raise QueryError(f"more than {MOST_TERMS} terms: look for less")
        word = _word(text, at)
        if word.startswith("cat:"):
            found = _categories(word.removeprefix("cat:"))
            categories = found if categories is None else categories & found
            at += len(word)
        elif word.startswith("track:"):
            pattern, at = _pattern(text, at + len("track:"))
            tracks.append(pattern)
        elif (limits := _duration(word)) is not None:
            least_ns, most_ns = max(least_ns, limits[0]), min(most_ns, limits[1])
            at += len(word)
        else:
            _hint(word)
            pattern, at = _pattern(text, at)
            names.append(pattern)
    if sum(pattern.how == "matches" for pattern in (*names, *tracks)) > MOST_EXPRESSIONS:
        raise QueryError(f"more than {MOST_EXPRESSIONS} regular expressions: join them with |")
    return Query(tuple(names), tuple(tracks), categories, least_ns, most_ns)


def _hint(word: str) -> None:
    """Raise QueryError with the right words for a term in those of other tools."""
    if found := _CATEGORY_TERM.fullmatch(word):
        raise QueryError(f"categories are looked for with cat: write cat:{found[1][:40] or 'compute'}")
    if found := _DURATION_TERM.fullmatch(word):
        raise QueryError(f"durations stand alone: write {found[1][:40] if found[1][-1].isalnum() else '>1ms'}")


def _word(text: str, at: int) -> str:
    found = _WORD.match(text, at)
    return found[0] if found else ""


def _pattern(text: str, at: int) -> tuple[Pattern, int]:
    """The pattern that begins here, and where it ends."""
    word = _word(text, at)
    if not word:
        raise QueryError('nothing stands behind "track:": write track:"stream 7"')
    is_exact = word.startswith("=") and len(word) > 1
    begin = at + is_exact
    if quoted := _QUOTED.match(text, begin):
        inner = re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL)
        return Pattern("is" if is_exact else "contains", inner), quoted.end()
    if not is_exact and (regex := _REGEX.match(text, begin)):
        return Pattern("matches", regex[1]), regex.end()
    return Pattern("is" if is_exact else "contains", word[is_exact:]), at + len(word)


def _categories(text: str) -> frozenset[int]:
    asked = [part.strip().casefold().replace(" ", "_") for part in text.strip('"').split(",")]
    unknown = [name for name in asked if name not in CATEGORIES]
    if unknown:
        raise QueryError(f'"{unknown[0][:40]}" is no category: cat: takes {", ".join(CATEGORIES)}')
    return frozenset(CATEGORIES.index(name) for name in asked)


def _duration(word: str) -> tuple[int, int] | None:
    """The least and the most nanoseconds that a term allows; None for a term that is about something else."""
    if bound := _BOUND.fullmatch(word):
        sign, ns = bound[1], _ns(bound[2], bound[3])
        if sign == ">":
            return math.floor(ns) + 1, LONGEST_NS
        if sign == ">=":
            return math.ceil(ns), LONGEST_NS
        return 0, math.ceil(ns) - 1 if sign == "<" else math.floor(ns)
    if both := _RANGE.fullmatch(word):
        low, high = _ns(both[1], both[2] or both[4]), _ns(both[3], both[4])
        if low > high:
            raise QueryError(f"{word[:60]} ends before it begins: write the shorter duration first")
        return math.ceil(low), math.floor(high)
    if _NO_UNIT.fullmatch(word):
        raise QueryError(f"{word[:60]} has no unit: write {word[:60]}us, ms or s; in quotes it is a name")
    return None


def _ns(number: str, unit: str) -> Decimal:
    return min(Decimal(number) * _UNITS_NS[unit], Decimal(LONGEST_NS - 1))
