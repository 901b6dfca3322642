"""The parts of a session put together: one trace on one clock, each part's rows where they belong in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.importers.neuron_session.alignment import Alignment, align
from trace_format.importers.neuron_session.device_profiles import DeviceProfile
from trace_format.importers.neuron_session.links import REQUEST, RUN, request_links
from trace_format.limits import LATEST_NS
from trace_format.merge import append_trace
from trace_format.tables import TABLES, TRACK_KINDS
from trace_format.trace import Trace

_ANNOTATION = TRACK_KINDS.index("device_annotation")
_TIMED = tuple(name for name, kind in TABLES.items() if "ts_ns" in kind.COLUMNS)
_NOT_RELATED = "clock of {} cannot be related to the others': shown from the start of the trace"


@dataclass
class Parts:
    """What was read of a session. `tables` have no times that count: compiles, NEFFs."""

    host: Trace | None = None
    system: list[Trace] = field(default_factory=list)
    devices: list[DeviceProfile] = field(default_factory=list)
    tables: list[Trace] = field(default_factory=list)
    sources: list[dict[str, Any]] = field(default_factory=list)  # of files that another one stands for

    @property
    def count(self) -> int:
        return (self.host is not None) + len(self.system) + len(self.devices) + len(self.tables)


@dataclass(slots=True)
class _Placed:
    """A part in the trace that is built: where its slices begin, and how far its times were moved."""

    first_row: int
    moved_by_ns: int


class Joiner:
    """Joins the parts of one session. `begin_ns`: where a device is shown that nothing relates to the host."""

    def __init__(self, parts: Parts, *, begin_ns: int | None = None) -> None:
        self._parts = parts
        self._builder = TraceBuilder()
        self._notes: Counter[str] = Counter()
        self._sources: list[dict[str, Any]] = []
        timed = [*([parts.host] if parts.host else []), *parts.system]
        with_clock = [trace for trace in timed if trace.time_range_ns]
        self._reference = next((t for t in with_clock if clock_of(t) == "unix"), with_clock[0] if with_clock else None)
        if self._reference is not None:
            begin_ns = (self._reference.time_range_ns or (0, 0))[0]
        self._begin_ns = begin_ns

    def trace(self) -> Trace:
        """The trace of all parts."""
        parts = self._parts
        host = None if parts.host is None else self._add_timed(parts.host, {})
        system_moves = [self._move_of(trace) for trace in parts.system]
        alignments = [align(profile, parts.system) for profile in parts.devices]
        system = []
        for number, trace in enumerate(parts.system):
            links = self._requests(trace, system_moves[number])
            placed = self._add_timed(trace, _hidden(trace, number, alignments) | _unrelated(trace, links))
            system.append(placed)
            if host is not None and links is not None:
                self._link(links[0] + host.first_row, links[1] + placed.first_row, REQUEST)
        metadata: dict[str, Any] = {}
        for profile, found in zip(parts.devices, alignments, strict=True):
            by_ns = found.moved_by_ns + system_moves[found.host_trace] if found else self._fallback_ns(profile)
            placed = self._add_device(profile, found, by_ns)
            zero_ns = profile.trace.metadata.get("device_time_zero_ns")
            if isinstance(zero_ns, int):
                metadata.setdefault("device_time_zero_ns", zero_ns + by_ns)
            if found:
                runs = [row for row, _ in profile.runs]
                self._link(np.array(found.host_rows) + system[found.host_trace].first_row,
                           np.array(runs) + placed.first_row, RUN)  # fmt: skip
        for trace in parts.tables:
            self._add(trace, 0, {}, {"clock": None})  # nothing in it has a time
        self._builder.report.repaired.update(self._notes)
        return self._builder.finish(metadata=self._metadata() | metadata)

    def _requests(self, trace: Trace, by_ns: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The calls of the framework that a trace of the runtime answers; None where their numbers are no answer."""
        host = self._parts.host
        none = np.zeros(0, np.int64)
        return (none, none) if host is None else request_links(host, trace, by_ns - self._move_of(host))

    def _add_timed(self, trace: Trace, instead: dict[str, dict[str, Any]]) -> _Placed:
        by_ns = self._move_of(trace)
        if not by_ns:
            return self._add(trace, 0, instead, None)
        names = ", ".join(str(source.get("path")) for source in trace.metadata.get("sources", []))
        self._notes[_NOT_RELATED.format(names)] += 1
        return self._add(trace, by_ns, instead, {"moved_by_ns": by_ns})

    def _move_of(self, trace: Trace) -> int:
        """How far a trace of the host is moved: not at all on the clock of the reference."""
        span, reference = trace.time_range_ns, self._reference
        if span is None or reference is None or trace is reference or clock_of(trace) == clock_of(reference) == "unix":
            return 0
        return (self._begin_ns or 0) - span[0]

    def _add_device(self, profile: DeviceProfile, found: Alignment | None, by_ns: int) -> _Placed:
        if found is not None and self._reference is not None:
            said = {"clock": clock_of(self._reference), "moved_by_ns": by_ns, "aligned_by": "nc_exec_running",
                    "clock_residual_ns": found.residual_ns}  # fmt: skip
            return self._add(profile.trace, by_ns, {}, said)
        if self._begin_ns is None:  # nothing else tells a time: this one begins where it says
            self._begin_ns = _zero_ns(profile.trace)
            return self._add(profile.trace, 0, {}, {"moved_by_ns": 0})
        self._notes[_NOT_RELATED.format(profile.path.name)] += 1
        return self._add(profile.trace, by_ns, {}, {"clock": "device", "moved_by_ns": by_ns})

    def _fallback_ns(self, profile: DeviceProfile) -> int:
        return 0 if self._begin_ns is None else self._begin_ns - _zero_ns(profile.trace)

    def _add(
        self, trace: Trace, by_ns: int, instead: dict[str, dict[str, Any]], said: dict[str, Any] | None
    ) -> _Placed:
        first_row = self._builder["slices"].rows
        first_ns, last_ns = trace.time_range_ns or (0, 0)
        if max(abs(first_ns + by_ns), abs(last_ns + by_ns)) > LATEST_NS:
            self._notes["times that no clock shows: not moved to the host's"] += 1
            by_ns, said = 0, None
        if by_ns:
            for name in _TIMED:
                table = getattr(trace, name)
                if len(table):
                    instead = instead | {name: {**instead.get(name, {}), "ts_ns": table.ts_ns + np.int64(by_ns)}}
        append_trace(self._builder, trace, instead)
        self._sources += [{**source, **(said or {})} for source in trace.metadata.get("sources", [])]
        return _Placed(first_row, by_ns)

    def _link(self, causes: np.ndarray, effects: np.ndarray, kind: str) -> None:
        if len(causes):
            self._builder["flows"].append(
                len(causes), from_slice=causes, to_slice=effects, kind=self._builder.string(kind)
            )

    def _metadata(self) -> dict[str, Any]:
        parts = self._parts
        traces: Sequence[Trace] = [
            *([parts.host] if parts.host else []), *parts.system, *(d.trace for d in parts.devices), *parts.tables,
        ]  # fmt: skip
        together: dict[str, Any] = {}
        for trace in traces:
            together |= {key: value for key, value in trace.metadata.items() if together.get(key) is None}
        together.pop("device_time_zero_ns", None)
        return {**together, "sources": [*self._sources, *parts.sources]}


def _unrelated(trace: Trace, links: object) -> dict[str, dict[str, Any]]:
    """Without the numbers of requests where those are not the framework's: else both would be taken for one."""
    return {"slices": {"correlation": -1}} if links is None and len(trace.slices) else {}


def clock_of(trace: Trace) -> str:
    """The clock of a trace: that of its first source with times."""
    clocks = (source.get("clock", "unknown") for source in trace.metadata.get("sources", []))
    return next((str(clock) for clock in clocks if clock is not None), "unknown")


def _zero_ns(trace: Trace) -> int:
    zero_ns = trace.metadata.get("device_time_zero_ns")
    return zero_ns if isinstance(zero_ns, int) else (trace.time_range_ns or (0, 0))[0]


def _hidden(trace: Trace, number: int, alignments: Sequence[Alignment | None]) -> dict[str, dict[str, Any]]:
    """The kinds of the tracks, with those of executions that device profiles show in full as annotations.

    Else the time of an execution would count as work next to the engines' own.
    """
    shown = {
        track for found in alignments if found is not None and found.host_trace == number
        for track in found.covered_tracks
    }  # fmt: skip
    if not shown:
        return {}
    kinds = trace.tracks.kind.copy()
    kinds[sorted(shown)] = _ANNOTATION
    return {"tracks": {"kind": kinds}}
