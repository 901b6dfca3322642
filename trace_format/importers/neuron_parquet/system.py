"""The tables of a system profile: events of framework, runtime and hardware, use of CPUs and memory."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from trace_format.builder import TraceBuilder
from trace_format.importers.neuron_device_tables.carried import Carried
from trace_format.importers.neuron_device_tables.names import TableNames
from trace_format.importers.neuron_device_tables.part import Row, encoded
from trace_format.importers.neuron_system.system_profile import add_events
from trace_format.importers.neuron_system.tracks import HostTracks
from trace_format.importers.neuron_system.usage import add_usage

EVENTS, METADATA = "SystemProfileEvents", "SystemProfileMetadata"
# What the system profile's JSON calls the tables and columns. AWS Neuron docs, profile schema reference 7.4.0.
_USAGE = {
    "CpuUsage": TableNames("cpu_util", {"util_percent": "util"}),
    "HostMemUsage": TableNames("mem_usage", {"used_bytes": "usage", "used_percent": "percent_usage"}),
    "SystemProfileHbmUsage": TableNames("device_mem_usage"),
}
_EVENT = TableNames(EVENTS, {"start_ts": "timestamp", "duration_ns": "duration", "pcore_idx": "device_core_idx",
                             "framework_stream_id": "stream_id"})  # fmt: skip
_PROFILES = "DeviceProfileList"
TABLES = (EVENTS, METADATA, _PROFILES, *_USAGE)
# An EC2 instance id identifies an account's machine and is not shown.
_EC2_INSTANCE = re.compile(r"\bm?i-[0-9a-f]{8,}")
_FRAMEWORK, _FRAMEWORK_TYPE = "framework", 99999  # the source of an event, and what JSON says in its place
_MORE = "extra_attributes_json"


class SystemTables:
    """Takes the rows of a system profile's tables; its tracks are those of the JSON reader."""

    def __init__(self, builder: TraceBuilder, carried: Carried) -> None:
        self._carried = carried
        self._builder, self._tracks = builder, HostTracks(builder)
        self._events: list[bytes] = []
        self.first_ns = 0  # when the first event began; 0 where there is none
        self.instances: set[str] = set()

    def add(self, table: str, rows: list[Row]) -> None:
        """Add some rows; all are counted in the report."""
        self._builder.report.source_events += len(rows)
        if table == EVENTS:
            self._events += [encoded(_event(row)) for row in rows]  # joined by their ids when all are there
            starts = [row["start_ts"] for row in rows if isinstance(row.get("start_ts"), int)]
            self.first_ns = min([*starts, *([self.first_ns] if self.first_ns else [])], default=0)
        elif table == METADATA:
            self._carried.rows(table, rows)
        elif table == _PROFILES:
            self._carried.rows(table, [{name: _unnamed(value) for name, value in row.items()} for row in rows])
        else:
            names = _USAGE[table]
            add_usage(self._builder, self._tracks, names.table, [_about(table, names.row(row)) for row in rows])

    def finish(self) -> None:
        """Add the events, and the flows between those that share an id."""
        add_events(self._builder, self._tracks, self._events, self.instances)


def _unnamed(value: Any) -> Any:
    return _EC2_INSTANCE.sub("instance", value) if isinstance(value, str) else value


def _event(row: Row) -> Row:
    event = _EVENT.row(row)
    more = event.pop(_MORE, None)
    event.pop("end_ts", None)
    source = event.pop("trace_event_source", "")
    if source == _FRAMEWORK:
        event["type"] = _FRAMEWORK_TYPE
    elif source == "neuron_hw":
        event.setdefault("nc_start_timestamp_ns", event.get("timestamp"))
    return _attributes(more) | event


def _attributes(text: Any) -> Row:
    """What has no column of its own yet, as the event's JSON text has it."""
    if not isinstance(text, str) or not text:
        return {}
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {_MORE: text}
    return found if isinstance(found, dict) else {_MORE: text}


def _about(table: str, row: Row) -> Row:
    """HBM stacks are numbered within their device; here the number of the device stands before theirs."""
    if table != "SystemProfileHbmUsage" or "device_idx" not in row:
        return row
    stack = f"{row['device_idx']}:{row.get('hbm_idx', '?')}"
    return {name: value for name, value in row.items() if name != "device_idx"} | {"hbm_idx": stack}
