"""What one rank's entries in a structured log say, as a trace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.importers.torch_trace.compiles import Compile, compiles_table, innermost_frame
from trace_format.importers.torch_trace.entries import Entry
from trace_format.importers.trace_event_json.decode import batch_of, decode_event, usual_event
from trace_format.importers.trace_event_json.repair import mended
from trace_format.trace import Trace
from trace_format.trace_events import NO_DURATION, EventBatch, TraceEventAssembler

_METRICS, _START, _STRING = "compilation_metrics", "dynamo_start", "str"
# Keys that say what an entry is about; its one other key says what kind of entry it is.
_ABOUT = (
    "rank", "frame_id", "frame_compile_id", "attempt", "compiled_autograd_id", "has_payload", "timestamp",
    "pathname", "lineno", "thread", "process",
)  # fmt: skip
_LOG_TID = "compile log"
_AT_A_TIME = 10_000


class RankLog:
    """Takes in the entries of one rank. `payload_bytes`: of payloads that are no events, which are left out."""

    def __init__(self, rank: int | None) -> None:
        self.rank = rank
        self.payload_bytes = 0
        self._builder = TraceBuilder()
        self._assembler = TraceEventAssembler(self._builder)
        self._events: list[dict[str, Any]] = []
        self._others: list[tuple[int, int | None, str, bytes]] = []  # local time, zone, name, arguments
        self._strings: dict[int, str] = {}
        self._compiles: list[Compile] = []
        self._triggers: dict[str, str] = {}

    def take_event(self, entry: Entry) -> int | None:
        """Take in a compile phase. Returns its time; None where its payload cannot be read."""
        event = self._event(entry.payload)
        if event is None:
            self.lose("chromium event whose payload is no valid JSON")
            return None
        self._events.append(event)
        ts_ns = int(batch_of([event]).ts_ns[0])
        if len(self._events) >= _AT_A_TIME:
            self._add_events()
        return ts_ns

    def _event(self, payload: bytes) -> dict[str, Any] | None:
        try:
            return decode_event(payload)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            pass
        try:
            value, causes = mended(payload) or (None, [])
            event = usual_event(value, None) if isinstance(value, dict) and "ph" in value else None
        except RecursionError:
            return None
        self._builder.report.repaired.update(causes if event else [])
        return event

    def take(self, entry: Entry, said: dict[str, Any], zone_ns: int | None) -> None:
        """Take in an entry of another kind. `zone_ns` is added to its local time; None: not known yet."""
        kind = next((key for key in said if key not in _ABOUT), "entry")
        value = said.get(kind)
        if kind == _STRING:
            if isinstance(value, list) and len(value) == 2 and isinstance(value[1], int):
                self._strings[value[1]] = str(value[0])
        elif kind == _START and isinstance(value, Mapping):
            self._triggers[_compile_id(said)] = innermost_frame(value.get("stack"), self._strings)
        elif kind == _METRICS and isinstance(value, Mapping):
            self._compiles.append(Compile.of(value, _compile_id(said), self._triggers.get(_compile_id(said), "")))
        self.payload_bytes += entry.payload_bytes
        name = kind
        if isinstance(value, Mapping) and isinstance(value.get("name"), str):
            name = f"{kind} {value['name']}"
        self._others.append((entry.since_new_year_ns, zone_ns, name, json.dumps(said).encode("ascii")))
        if zone_ns is not None and len(self._others) >= _AT_A_TIME:
            self._add_others(zone_ns)

    def lose(self, cause: str) -> None:
        """Count an entry that cannot be read."""
        self._builder.report.source_events += 1
        self._builder.report.left_out[cause] += 1

    def finish(self, zone_ns: int | None) -> Trace:
        """The trace of all entries, without metadata. `zone_ns` is that of entries for which none was known."""
        self._add_events()
        self._add_others(zone_ns or 0)
        self._assembler.finish(rank=-1 if self.rank is None else self.rank)
        trace = self._builder.finish()
        tables = trace.tables() | {"compiles": compiles_table(trace, self._compiles)}
        return Trace.of(trace.pool, tables, report=trace.report)

    def _add_events(self) -> None:
        if self._events:
            self._assembler.add(batch_of(self._events))
            self._events = []

    def _add_others(self, zone_ns: int) -> None:
        if not self._others:
            return
        local_ns, zones_ns, names, args = zip(*self._others, strict=True)
        count = len(names)
        shifts_ns = [zone_ns if given is None else given for given in zones_ns]
        self._assembler.add(
            EventBatch(
                ph=["i"] * count,
                name=names,
                cat=["torch_trace"] * count,
                ts_ns=np.array(local_ns, np.int64) + np.array(shifts_ns, np.int64),
                dur_ns=np.full(count, NO_DURATION, np.int64),
                pid=[0] * count,
                tid=[_LOG_TID] * count,
                args=args,
            )
        )
        self._others = []


def _compile_id(said: Mapping[str, Any]) -> str:
    """The id torch prints for a compile: frame and how often it was compiled before."""
    return f"{said.get('frame_id')}/{said.get('frame_compile_id')}"
