"""The tables of a profile in Parquet, device and system, become one trace."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Any

from trace_format.builder import TraceBuilder
from trace_format.importers.neuron_device_tables import instructions, packets
from trace_format.importers.neuron_device_tables.carried import Carried
from trace_format.importers.neuron_device_tables.names import BY_PARQUET_TABLE
from trace_format.importers.neuron_device_tables.part import Part, Row
from trace_format.importers.neuron_device_tables.profile import DeviceProfile
from trace_format.importers.neuron_parquet import system
from trace_format.importers.neuron_parquet.system import SystemTables

_FLOWS = "Flow"  # edges between rows of other tables, by their ids
_LINKED = {"Instruction": instructions.TABLE, "DmaPacket": packets.TABLE}
# By what columns a table is known where the name of its file says nothing: no other table has them all.
_KNOWN_BY = {
    "Instruction": {"opcode", "operands", "pc", "engine", "start_ts"},
    "DmaPacket": {"packet_idx", "engine_idx", "transfer_bytes", "start_ts"},
    "Throttle": {"timestamp", "duration", "k", "n"},
    "ActiveTime": {"start_ts", "end_ts", "engine", "pcore_idx", "duration_ns"},
    system.EVENTS: {"trace_event_source", "process_id", "start_ts", "name"},
}


def known_table(name: str, columns: Collection[str]) -> str:
    """The table of this name; where none is known by it, the one that has such columns, else `name`."""
    if name in BY_PARQUET_TABLE or name in system.TABLES or name == _FLOWS:
        return name
    return next((table for table, needed in _KNOWN_BY.items() if needed <= set(columns)), name)


class ProfileTables:
    """Takes the rows of the tables one after the other; `path` names the file or folder.

    Times of a device profile are relative to its start. Beside a system profile it begins where that one's events do.
    """

    def __init__(self, builder: TraceBuilder, path: Path) -> None:
        self._builder, self._path, self._carried = builder, path, Carried(builder)
        self._has_device = self._has_system = False
        self._zero_ns = 0

    @cached_property
    def _device(self) -> DeviceProfile:
        self._has_device = True
        return DeviceProfile(self._builder, self._path, self._carried, zero_ns=self._zero_ns)

    @cached_property
    def _system(self) -> SystemTables:
        self._has_system = True
        return SystemTables(self._builder, self._carried)

    def add(self, table: str, rows: list[Row]) -> None:
        """Add some rows, those of a system profile first; all are counted in the report."""
        names = BY_PARQUET_TABLE.get(table)
        if names is not None:
            self._device.add(Part(names.table, [names.row(row) for row in rows]))
        elif table in system.TABLES:
            self._system.add(table, rows)
            self._zero_ns = self._system.first_ns
        else:
            self._builder.report.source_events += len(rows)
            if table == _FLOWS:
                self._add_flows(rows)
            else:
                self._carried.rows(table, rows)

    def finish(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The entry for `sources` (without `clock` where only the times tell) and the metadata of the trace."""
        if self._has_system:
            self._system.finish()
        if not self._has_device:
            return {}, {}
        entry = self._device.finish()
        if self._zero_ns:  # nothing relates the two clocks
            entry |= {"clock": "unix", "device_moved_by_ns": self._zero_ns}
        return entry, {"device_time_zero_ns": self._zero_ns, **self._device.facts.metadata()}

    def _add_flows(self, rows: list[Row]) -> None:
        """Edges between instructions and packets become flows, others are carried along."""
        linked: dict[tuple[str, str, str], list[Row]] = {}
        others = []
        for row in rows:
            cause, effect = _LINKED.get(str(row.get("in_table"))), _LINKED.get(str(row.get("out_table")))
            if cause is None or effect is None:
                others.append(row)
            else:
                linked.setdefault((cause, effect, str(row.get("dependency_type") or "")), []).append(row)
        for (cause, effect, kind), edges in linked.items():
            causes, effects = [row.get("in_id") for row in edges], [row.get("out_id") for row in edges]
            self._device.join(kind, causes, effects, tables=(cause, effect))
        self._carried.rows(_FLOWS, others)
