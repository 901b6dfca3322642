"""The traces that one explorer has open."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trace_format import NeuronProfileError, Trace

_KEY_LETTERS = 8


class NotOpenError(NeuronProfileError):
    """An address names a trace that is not open."""


def key_of(source: str) -> str:
    """The key of the trace from this source."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_LETTERS]


@dataclass(frozen=True, eq=False)
class Opened:
    """An open trace. `key` names it in addresses, `title` for the reader; `paths` are what it was opened from."""

    key: str
    title: str
    trace: Trace
    paths: tuple[Path, ...] = ()


@dataclass(eq=False)
class Library:
    """The open traces by their keys; the first is the one that an address without a key means."""

    _opened: dict[str, Opened] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def holding(cls, trace: Trace, *, title: str) -> Library:
        """A library of one trace."""
        library = cls()
        library.add(trace, title=title)
        return library

    def add(self, trace: Trace, *, title: str, source: str = "", paths: Sequence[Path] = ()) -> Opened:
        """Put a trace in, in place of one from the same source. The same source has the same key at every start."""
        opened = Opened(key_of(source or title), title, trace, tuple(paths))
        with self._lock:
            self._opened[opened.key] = opened
        return opened

    @property
    def first(self) -> Opened:
        """The trace that the explorer was started with."""
        return next(iter(self._opened.values()))

    def all(self) -> list[Opened]:
        """The open traces in the order in which they were opened."""
        with self._lock:
            return list(self._opened.values())

    def get(self, key: str) -> Opened:
        """The trace of this key; the first for "". Raises NotOpenError."""
        opened = self._opened.get(key) if key else self.first
        if opened is None:
            raise NotOpenError("the trace that this address names is not open here: open its file again")
        return opened
