"""JSON text that arrives in pieces: a window on it that moves forward, and the ends of values in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|"|[{}\[\]]', re.DOTALL)
_NEXT_BRACKET = re.compile(rb'(?:[^"{}\[\]]|"(?:[^"\\]|\\.)*+")*+([{}\[\]])', re.DOTALL)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCALAR = re.compile(rb"[^,\]}\s]+")
_DEPTH = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}
_MEMBER = re.compile(rb"\s*:\s*(?=\{)")
_NOT_SPACE = re.compile(rb"[^ \t\r\n]")
_KEY_FOLLOWS = re.compile(rb"\s*:")
_LINE_END = re.compile(rb"\}[ \t\r]*\n(?=\s*\{)")


class Window:
    """The part of a text that is in memory: `data[at:]` is what has not been consumed yet."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._before = 0  # bytes of the text before `data`
        self.data = b""
        self.at = 0
        self.ended = False
        self._by_line = False

    @property
    def offset(self) -> int:
        """How many bytes of the text have been consumed."""
        return self._before + self.at

    def fill(self, wanted: int) -> None:
        """Get `wanted` unconsumed bytes into memory, fewer only where the text ends."""
        have = len(self.data) - self.at
        if have >= wanted or self.ended:
            return
        parts = [self.data[self.at :]]
        self._before += self.at
        self.at = 0
        while have < wanted:
            piece = next(self._pieces, None)
            if piece is None:
                self.ended = True
                break
            parts.append(piece)
            have += len(piece)
        self.data = b"".join(parts)
        if self._by_line:
            self.data = _with_commas(self.data)

    def take_lines(self) -> None:
        """Let a comma stand at the end of each line, from here on, if an object ends there and the next begins."""
        self._by_line = True
        self.data = _with_commas(self.data[self.at :])
        self._before += self.at
        self.at = 0

    def skip(self, start: bytes) -> None:
        """Consume `start` if the text goes on with it."""
        self.fill(len(start))
        if self.data.startswith(start, self.at):
            self.at += len(start)

    def seek(self, pattern: re.Pattern[bytes], overlap: int) -> bool:
        """Consume everything before the next match of `pattern`, which is no longer than `overlap` bytes.

        False where there is none: then the text is consumed to its end.
        """
        while True:
            found = pattern.search(self.data, self.at)
            if found:
                self.at = found.start()
                return True
            self.at = max(self.at, len(self.data) - overlap)
            if not self.grow():
                self.at = len(self.data)
                return False

    def insert(self, text: bytes) -> None:
        """Let the text go on as if this stood before the rest; offsets are still those of the text itself."""
        self.data = text + self.data[self.at :]
        self._before += self.at - len(text)
        self.at = 0

    def grow(self) -> bool:
        """Get more into memory, at least as much again; False where the text has ended."""
        before = len(self.data) - self.at
        self.fill(max(2 * before, 1 << 16))
        return len(self.data) - self.at > before

    def peek(self) -> bytes:
        """The next byte that is not white space, with everything before it consumed; b"" at the end."""
        while True:
            found = _NOT_SPACE.search(self.data, self.at)
            if found:
                self.at = found.start()
                return found[0]
            self.at = len(self.data)
            if not self.grow():
                return b""

    def value(self, limit: int) -> bytes | None:
        """The JSON value that starts here, consumed; None if the text ends inside it.

        Of one longer than `limit` bytes only the length is looked at: b"" is returned.
        """
        if self.peek() == b'"':
            return self._string(limit)
        if self.peek() in (b"{", b"["):
            return self._nested(limit)
        while True:
            found = _SCALAR.match(self.data, self.at)
            if found and (found.end() < len(self.data) or self.ended):
                self.at = found.end()
                return found[0]
            if not self.grow() and not found:
                return None

    def _string(self, limit: int) -> bytes | None:
        while True:
            found = _STRING.match(self.data, self.at)
            if found:
                self.at = found.end()
                return found[0] if len(found[0]) <= limit else b""
            if not self.grow():
                return None

    def _nested(self, limit: int) -> bytes | None:
        depth, looked, dropped = 0, 0, 0
        while True:
            start = self.at + looked
            looked = len(self.data) - self.at
            for token in _TOKEN.finditer(self.data, start):
                what = token[0]
                if what == b'"':  # a string whose end is not in memory yet
                    looked = token.start() - self.at
                    break
                depth += _DEPTH.get(what, 0)
                if depth == 0:
                    text = self.data[self.at : token.end()]
                    self.at = token.end()
                    return b"" if dropped + len(text) > limit else text
            if looked > limit:
                dropped += looked
                self.at += looked
                looked = 0
            if not self.grow():
                return None


def _with_commas(text: bytes) -> bytes:
    """The same with a comma in place of the line break between two objects."""
    text = text.replace(b"}\n{", b"},{")
    return _LINE_END.sub(lambda found: found[0][:-1] + b",", text) if _LINE_END.search(text) else text


def first_key(text: bytes, keys: Collection[bytes]) -> tuple[bytes, int]:
    """The first of these keys (in their quotes) at the top of the object that a text begins with, and the place after.

    b"" where the object has none of them, then with the place after the object; -1 where it does not end.
    """
    depth = 0
    for token in _TOKEN.finditer(text):
        what = token[0]
        if depth == 1 and what in keys and _KEY_FOLLOWS.match(text, token.end()):
            return what, token.end()
        depth += _DEPTH.get(what, 0)
        if depth == 0:
            return b"", token.end()
    return b"", -1


def member(text: bytes, key: bytes) -> bytes | None:
    """The object that a JSON object has under `key` (given in its quotes), as it is written; None if there is none."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += _DEPTH.get(token[0], 0)
        if depth == 1 and token[0] == key:
            start = _MEMBER.match(text, token.end())
            if start:
                end = value_end(text, start.end(), len(text))
                return text[start.end() : end] if end >= 0 else None
    return None


def value_end(text: bytes, low: int, high: int) -> int:
    """The place after the object or array that begins at `low`; -1 where it does not end before `high`."""
    depth, at = 0, low
    while bracket := _NEXT_BRACKET.match(text, at, high):
        depth += _DEPTH[bracket[1]]
        at = bracket.end()
        if depth <= 0:
            return at if depth == 0 else -1
    return -1
