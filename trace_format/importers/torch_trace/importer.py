"""Reads a structured compile log into a trace: compile phases as slices, compiles, everything else as instants."""

from __future__ import annotations

from collections import Counter
from typing import Any

from trace_format.builder import TraceBuilder
from trace_format.errors import DamagedFileError
from trace_format.importers.clocks import is_unix
from trace_format.importers.source import Source
from trace_format.importers.torch_trace.entries import Entry, entries
from trace_format.importers.torch_trace.rank_log import RankLog
from trace_format.limits import LATEST_NS
from trace_format.merge import append_trace
from trace_format.trace import Trace

_EVENT = "chromium_event"
_QUARTER_HOUR_NS = 900 * 10**9  # every time zone is a multiple of it away from UTC
_HOUR_NS = 3600 * 10**9
_MOST_RANKS = 1024  # in one file


class _Zone:
    """From the headers' time, which is local and has no year, to the clock of the events."""

    def __init__(self) -> None:
        self.ns: int | None = None
        self._unix = False

    def note(self, entry: Entry, ts_ns: int) -> None:
        """Learn from an event. New Year, 29 February and daylight saving time change the zone within a log."""
        if abs(ts_ns) > LATEST_NS or (self._unix and not is_unix(ts_ns)):
            return
        told = round((ts_ns - entry.since_new_year_ns) / _QUARTER_HOUR_NS) * _QUARTER_HOUR_NS
        if self.ns is None or self._unix != is_unix(ts_ns) or abs(told - self.ns) >= _HOUR_NS:
            self.ns, self._unix = told, is_unix(ts_ns)


def read_torch_trace(source: Source) -> Trace:
    """The trace in a structured log (`TORCH_TRACE`), whose report counts every entry of it.

    Compile phases (chromium events) become slices; metrics become rows of `compiles`; every other entry is an instant
    that carries its metadata, but not its payload (graphs, generated code). Entries of several ranks in one file are
    told apart. Raises DamagedFileError where there is no entry.
    """
    logs: dict[int | None, RankLog] = {}
    zone, repaired = _Zone(), Counter[str]()
    for entry in entries(source.pieces()):
        if entry is None:
            repaired["line that belongs to no entry: not read"] += 1
            continue
        log = _log_of(logs, entry)
        if entry.said is None:
            log.lose("entry that is no valid JSON")
            continue
        repaired.update(entry.mends)
        if _EVENT in entry.said:
            ts_ns = log.take_event(entry)
            if ts_ns is not None:
                zone.note(entry, ts_ns)
        else:
            log.take(entry, entry.said, zone.ns)
    if not logs:
        raise DamagedFileError(f"holds no whole entry: {source.damage or 'it ends too early'}", path=source.path)
    traces = [log.finish(zone.ns) for log in logs.values()]
    trace = traces[0] if len(traces) == 1 else _joined(traces)
    trace.report.repaired.update(repaired)
    source.note_in(trace.report)
    return Trace.of(trace.pool, trace.tables(), metadata=_metadata(source, trace, logs), report=trace.report)


def _log_of(logs: dict[int | None, RankLog], entry: Entry) -> RankLog:
    """The log that an entry belongs to. One process does not name its rank before it knows it."""
    rank = (entry.said or {}).get("rank")
    if not isinstance(rank, int) or isinstance(rank, bool) or not 0 <= rank < 2**31:
        rank = next(iter(logs)) if len(logs) == 1 else None
    elif list(logs) == [None]:
        logs[rank] = logs.pop(None)
        logs[rank].rank = rank
    elif rank not in logs and len(logs) >= _MOST_RANKS:
        rank = None
    if rank not in logs:
        logs[rank] = RankLog(rank)
    return logs[rank]


def _joined(traces: list[Trace]) -> Trace:
    builder = TraceBuilder()
    for trace in traces:
        append_trace(builder, trace, {})
    return builder.finish()


def _metadata(source: Source, trace: Trace, logs: dict[int | None, RankLog]) -> dict[str, Any]:
    first = trace.time_range_ns[0] if trace.time_range_ns else 0
    described: dict[str, Any] = {
        "format": "torch-structured-log",
        "path": source.path.name,
        "producer": "torch.compile (TORCH_TRACE)",
        "clock": "unix" if is_unix(first) else "unknown",
        "payload_bytes_left_out": sum(log.payload_bytes for log in logs.values()),
    }
    ranks = [rank for rank in logs if rank is not None]
    if len(ranks) > 1:
        described["ranks"] = ranks
    metadata: dict[str, Any] = {"sources": [described]}
    if len(logs) == 1 and ranks:
        metadata["rank"] = ranks[0]
    return metadata
