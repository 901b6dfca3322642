"""Turns the tables of one device profile into a trace."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from trace_format.builder import TraceBuilder
from trace_format.importers.neuron_device.engines import ENGINES
from trace_format.importers.neuron_device.execution import add_execution
from trace_format.importers.neuron_device.tracks import DeviceTracks
from trace_format.importers.neuron_device_tables import facts, instructions, packets
from trace_format.importers.neuron_device_tables.carried import Carried
from trace_format.importers.neuron_device_tables.collectives import add_collectives
from trace_format.importers.neuron_device_tables.context import Context
from trace_format.importers.neuron_device_tables.counters import (
    add_active_share,
    add_activity,
    add_pending,
    add_throughput,
    add_usage,
)
from trace_format.importers.neuron_device_tables.facts import Facts
from trace_format.importers.neuron_device_tables.instructions import add_instructions
from trace_format.importers.neuron_device_tables.packets import add_packets
from trace_format.importers.neuron_device_tables.part import Part
from trace_format.importers.neuron_device_tables.program import add_layers, add_neff, add_tensors
from trace_format.importers.neuron_device_tables.updates import add_semaphores, add_throttling

_ROWS: dict[str, Callable[[Context, Part], None]] = {
    instructions.TABLE: add_instructions,
    packets.TABLE: add_packets,
    "semaphore_update": add_semaphores,
    "ham": add_throttling,
    "pending_dma": add_pending,
    "dma_throughput": add_throughput,
    "instruction_usage": add_usage,
    "active_time": add_activity,
    "layer_summary": add_layers,
    "cc_ops": add_collectives,
    "cc_op": add_collectives,
}
# One row with a value for each of some hundred names.
_DICTIONARIES = ("terminology", "summary_groups", "summary_group_order")
_TENSORS = "neff_node"
# All tables that are known, by the names of JSON.
KNOWN_TABLES = (*facts.TABLES, *_ROWS, *_DICTIONARIES, _TENSORS, "dma_queues_info")


class DeviceProfile:
    """Takes the parts of the tables of one device profile, those with facts first.

    `path` names its file, and the profile where it does not name itself; `zero_ns` the `ts_ns` of its time 0.
    """

    FACTS_FIRST = facts.TABLES

    def __init__(self, builder: TraceBuilder, path: Path, carried: Carried | None = None, *, zero_ns: int = 0) -> None:
        self.facts = Facts()
        self._builder, self._path, self._zero_ns = builder, path, zero_ns
        self._carried = carried or Carried(builder)
        self._neff, self._has_summary = -1, False

    @cached_property
    def context(self) -> Context:
        """What the rows need to find their tracks: known once the tables with facts have been added."""
        cores, device = self.facts.cores(), self.facts.device()
        first = cores.numbers[0] if cores.numbers else -1
        title = self.facts.title(self._path.name.split(".")[0])
        tracks = DeviceTracks(self._builder, title, device=device, first_core=first)
        return Context(self._builder, tracks, cores, self._carried, self._path, zero_ns=self._zero_ns)

    def add(self, part: Part) -> None:
        """Add some rows of a table; all are counted in the report, as kept or by the cause why not."""
        self._builder.report.source_events += len(part)
        if part.name in facts.TABLES:
            self.facts.add(part)
        if part.name in _ROWS:
            _ROWS[part.name](self.context, part)
        elif part.name == _TENSORS:
            add_tensors(self._builder, part, self._neff_row())
            self._carried.rows(part.name, part.rows)
        elif part.name in _DICTIONARIES:
            self._carried.pairs(part.name, part.rows)
        elif part.name == "summary":  # the first one is in the facts of the run
            self._carried.rows(part.name, part.rows if self._has_summary else part.rows[1:])
            self._has_summary = True
        else:
            self._carried.rows(part.name, part.rows)

    def join(self, kind: str, causes: list[object], effects: list[object], *, tables: tuple[str, str]) -> None:
        """The rows with the ids `causes` come before those of `effects`; see `links.Links`."""
        self.context.unjoined += self.context.links.join(kind, causes, effects, tables=tables)

    def finish(self) -> dict[str, Any]:
        """Add what needs all rows; returns the profile's entry for `sources`, without format and path."""
        report = self._builder.report
        execution = self.facts.execution(end_ns=self.context.end_ns, knows_transposes=self.context.knows_transposes)
        add_active_share(self.context, execution.total_time_ps // 1000)
        add_execution(self._builder, self.context.tracks, execution, start_ns=self._zero_ns)
        self._neff_row()
        self._name_lost_instructions()
        unjoined = self.context.unjoined + self.context.links.add_flows(self._builder)
        if unjoined:
            report.repaired["predecessor that is not in the file"] += unjoined
        entry = {"clock": "device", **self.facts.versions()}
        return entry if self.context.cores.numbers else entry | {"cores": "numbered from 0"}

    def _name_lost_instructions(self) -> None:
        """Say how many instructions the profile counts and does not list: AWS's tool loses a row now and then."""
        listed = self.context.listed
        lost = sum(max(self.facts.instructions(engine) - listed[engine], 0) for engine in ENGINES)
        if listed and lost:
            self._builder.report.repaired["instruction that the file counts (model_info) and does not list"] += lost

    def _neff_row(self) -> int:
        if self._neff < 0:
            header = Part("neff_header", self.facts.rows.get("neff_header", []))
            self._neff = add_neff(self._builder, header, self.facts.text("compiler_version"))
        return self._neff
