"""Samples that name their stack by a frame of a shared tree (`stackFrames`, "sf")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.json_object import json_object
from trace_format.pool import Pool
from trace_format.trace_events.tracks import TrackRegistry

Array = np.ndarray

_NS_PER_US = 1000
WITHOUT_A_TIME = "sample without a time: left out"
_LARGEST_NS = 2**62
_MOST_DIGITS = 19  # of an int64


class StackFrames:
    """The tree of frames a trace describes once; `frames` maps a frame's id to its name and its parent's id."""

    def __init__(self, frames: Any, pool: Pool) -> None:
        self._frames: Mapping[str, Any] = frames if isinstance(frames, Mapping) else {}
        self._pool = pool
        self._stacks: dict[str, int] = {}

    def stack(self, frame: Any) -> int:
        """The stack whose innermost frame this is; 0 for a frame that is not described."""
        key = str(frame)
        found = self._stacks.get(key)
        if found is None:
            found = self._stacks[key] = self._pool.stack_id(self._names(key))
        return found

    def _names(self, key: str) -> list[str]:
        names: list[str] = []
        seen: set[str] = set()
        while key in self._frames and key not in seen:
            seen.add(key)
            said = self._frames[key]
            if not isinstance(said, Mapping):
                break
            names.append(str(said.get("name", "")))
            key = str(said.get("parent"))
        return names[::-1]


class Samples:
    """Collects sample events until the frames they name are known, which may be after the last event."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._waiting: list[tuple[Array, Array, Sequence[str], Sequence[bytes]]] = []

    def add(self, ts_ns: Array, track: Array, names: Sequence[str], args: Sequence[bytes]) -> None:
        """Add sample events; one that names no frame is a stack of its own name."""
        if len(ts_ns):
            self._waiting.append((ts_ns, track, names, args))

    def finish(self, frames: StackFrames, beside: Sequence[Any], tracks: TrackRegistry) -> None:
        """Add a row for each to the samples table, and one for each sample that stood beside the events."""
        pool = self._builder.pool
        for ts_ns, track, names, args in self._waiting:
            found = [frames.stack(sf) if (sf := _frame(said)) is not None else 0 for said in args]
            stack = [a or pool.stack_id([name] if name else []) for a, name in zip(found, names, strict=True)]
            self._builder["samples"].append(len(ts_ns), ts_ns=ts_ns, track=track, stack=stack)
        self._waiting.clear()
        for said in beside:
            self._add_one(said, frames, tracks)

    def _add_one(self, said: Any, frames: StackFrames, tracks: TrackRegistry) -> None:
        report = self._builder.report
        when = _nanoseconds(said.get("ts")) if isinstance(said, Mapping) else None
        if when is None:
            report.repaired[WITHOUT_A_TIME] += 1
            return
        pid, tid = (_key(said.get(name, 0)) for name in ("pid", "tid"))
        weight = _number(said.get("weight"))
        self._builder["samples"].append(
            ts_ns=when,
            track=tracks.threads(tracks.lines([pid], [tid]), np.zeros(1, np.int64), np.zeros(1, np.int64)),
            stack=frames.stack(said.get("sf")),
            weight=1 if weight is None or abs(weight) >= _LARGEST_NS else int(weight),
        )


def _frame(args: bytes) -> Any:
    if b'"sf"' not in args:
        return None
    return json_object(args).get("sf")


def _key(value: Any) -> int | str:
    return value if isinstance(value, int | str) else str(value)


def _number(value: Any) -> Decimal | None:
    try:
        found = Decimal(value if isinstance(value, int | str | Decimal) else "NaN")
    except ArithmeticError:
        return None
    return found if found.is_finite() else None


def _nanoseconds(value: Any) -> int | None:
    number = _number(value)
    if number is None or number.adjusted() > _MOST_DIGITS:
        return None
    ns = int((number * _NS_PER_US).to_integral_value())
    return ns if abs(ns) < _LARGEST_NS else None
