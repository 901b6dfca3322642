"""Tells clocks apart that were mixed in one file, and keeps each on a time axis that can be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.columns import Meaning
from trace_format.merge import append_trace
from trace_format.tables import Table
from trace_format.trace import Trace

Array = np.ndarray

_UNIX_NS = (10**18, 4 * 10**18)  # 2001 to 2096: what a clock that counts from 1970 says
_APART_NS = 3600 * 10**9
_TABLES = ("slices", "instants", "counters", "samples")


def is_unix(ts_ns: int) -> bool:
    """Whether a time is one that a clock counting from 1970 shows these days."""
    return _UNIX_NS[0] <= ts_ns < _UNIX_NS[1]


@dataclass(slots=True)
class _Line:
    """What is on one track and (unix or not) one kind of clock."""

    track: int
    unix: bool
    process: int
    first_ns: int
    last_ns: int
    rows: int


@dataclass(slots=True)
class _Domain:
    """Lines whose times can be compared."""

    lines: list[_Line]

    @property
    def unix(self) -> bool:
        return self.lines[0].unix

    @property
    def first_ns(self) -> int:
        return min(line.first_ns for line in self.lines)

    @property
    def rows(self) -> int:
        return sum(line.rows for line in self.lines)

    def shares_clock(self, others: list[_Line]) -> bool:
        """Whether these lines, more than an hour away, are on this clock: unix time is one clock, a process has one."""
        if self.unix != others[0].unix:
            return False
        return self.unix or bool({line.process for line in self.lines} & {line.process for line in others})


def split_clocks(trace: Trace) -> Trace:
    """The trace with every clock but its main one (that of most rows) moved to begin where the main one begins.

    Times are on different clocks where they lie more than an hour apart and either only one side is unix time, or
    neither is and no process is on both. How far each was moved stands under `clocks` of the first source; how many
    rows, in the report. A track with two clocks becomes two tracks. A trace with one clock comes back as it is.
    """
    span = trace.time_range_ns
    if span is None or span[1] - span[0] <= _APART_NS:
        return trace
    domains = _domains(_lines(trace))
    if len(domains) < 2:
        return trace
    domains.sort(key=lambda domain: -domain.rows)
    main, *others = domains
    shift = {(line.track, line.unix): main.first_ns - domain.first_ns for domain in others for line in domain.lines}
    kept = {line.track for line in main.lines}
    copies = {track: len(trace.tracks) + i for i, track in enumerate(sorted({t for t, _ in shift if t in kept}))}
    builder = TraceBuilder()
    append_trace(builder, trace, {name: _moved(getattr(trace, name), shift, copies) for name in _TABLES})
    _add_copies(builder, trace, copies)
    builder.report.repaired["on a clock that cannot be related to the others: shown from the start of the trace"] += (
        sum(domain.rows for domain in others)
    )
    metadata = dict(trace.metadata)
    sources = [dict(source) for source in metadata.get("sources", [{}])]
    sources[0]["clocks"] = [
        {
            "clock": "unix" if domain.unix else "unknown",
            "moved_by_ns": 0 if domain is main else main.first_ns - domain.first_ns,
            "tracks": sorted({copies.get(t, t) if domain is not main else t for t in (x.track for x in domain.lines)}),
        }
        for domain in domains
    ]
    sources[0]["clock"] = "unix" if main.unix else "unknown"
    return builder.finish(metadata={**metadata, "sources": sources})


def _lines(trace: Trace) -> list[_Line]:
    keys = np.concatenate([getattr(trace, name).track.astype(np.int64) * 2 + _unix(trace, name) for name in _TABLES])
    times = np.concatenate([getattr(trace, name).ts_ns for name in _TABLES])
    if not len(keys):
        return []
    order = np.argsort(keys, kind="stable")
    unique, first, counts = np.unique(keys[order], return_index=True, return_counts=True)
    times = times[order]
    low, high = np.minimum.reduceat(times, first), np.maximum.reduceat(times, first)
    parent = trace.tracks.parent.tolist()
    return [
        _Line(key // 2, bool(key % 2), parent[key // 2] if parent[key // 2] >= 0 else key // 2, a, b, n)
        for key, a, b, n in zip(unique.tolist(), low.tolist(), high.tolist(), counts.tolist(), strict=True)
    ]


def _unix(trace: Trace, name: str) -> Array:
    ts = getattr(trace, name).ts_ns
    return (ts >= _UNIX_NS[0]) & (ts < _UNIX_NS[1])


def _domains(lines: list[_Line]) -> list[_Domain]:
    clusters: list[list[_Line]] = []
    reached = 0
    for line in sorted(lines, key=lambda line: line.first_ns):
        if clusters and line.first_ns - reached <= _APART_NS:
            clusters[-1].append(line)
        else:
            clusters.append([line])
            reached = line.last_ns
        reached = max(reached, line.last_ns)
    domains: list[_Domain] = []
    for cluster in clusters:
        known = next((domain for domain in domains if domain.shares_clock(cluster)), None)
        if known is None:
            domains.append(_Domain(cluster))
        else:
            known.lines += cluster
    return domains


def _moved(table: Table, shift: dict[tuple[int, bool], int], copies: dict[int, int]) -> dict[str, Any]:
    """Time and track of the rows of a table, those on another clock moved."""
    if not len(table):
        return {}
    ts, track = table.ts_ns.copy(), table.track.astype(np.int64)
    unix = (ts >= _UNIX_NS[0]) & (ts < _UNIX_NS[1])
    for (number, is_unix_time), by in shift.items():
        mine = (table.track == number) & (unix == is_unix_time)
        ts[mine] += by
        track[mine] = copies.get(number, number)
    return {"ts_ns": ts, "track": track}


def _add_copies(builder: TraceBuilder, trace: Trace, copies: dict[int, int]) -> None:
    rows = list(copies)
    if rows:
        part = {name: values[rows] for name, values in trace.tracks.stored().items()}
        part["name"] = np.array([builder.string(f"{name} (another clock)") for name in _names(trace, rows)], np.int64)
        for name, column in trace.tracks.COLUMNS.items():
            if column.meaning is Meaning.STRING and name != "name":
                part[name] = np.array([builder.string(trace.pool.strings[v]) for v in part[name].tolist()], np.int64)
        builder["tracks"].append(len(rows), **{name: part[name] for name in trace.tracks.COLUMNS})


def _names(trace: Trace, rows: list[int]) -> list[str]:
    names = trace.tracks.text("name")
    return [names[row] for row in rows]
