"""What a profile says about itself: where and how it was made, and the metrics that AWS's tool worked out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from trace_format.importers.neuron_device.clocks import family
from trace_format.importers.neuron_device.execution import Execution
from trace_format.importers.neuron_device_tables.cores import Cores
from trace_format.importers.neuron_device_tables.part import Part, Row, text_of

# The tables with facts; each has one or a few rows.
TABLES = ("model_info", "nc_mem_usage", "metadata", "profile_info", "summary", "neff_header", "warnings")
_MOST_ROWS = 4096  # of one of them that are looked at; all are carried along
_MOST_INSTRUCTIONS = 1 << 40  # a larger count is damaged
_PICOSECONDS = 10**12


@dataclass
class Facts:
    """The rows of the tables with facts, by table."""

    rows: dict[str, list[Row]] = field(default_factory=dict)

    def add(self, part: Part) -> None:
        known = self.rows.setdefault(part.name, [])
        known += part.rows[: _MOST_ROWS - len(known)]

    def cores(self) -> Cores:
        numbers = (self._integer("neuroncore_idx", "metadata"), self._integer("nc_idx", "summary"))
        single = self._integer("num_physical_cores", "metadata") == 1
        only = next((number for number in numbers if number is not None), -1) if single else -1
        return Cores.told_by(self.rows.get("model_info", []), self.rows.get("nc_mem_usage", []), only)

    def device(self) -> int:
        """The Neuron device, -1 where the profile does not tell."""
        found = self._device()
        return -1 if found is None or not 0 <= found < 2**31 else found

    def title(self, otherwise: str) -> str:
        return self.text("network_name") or self.text("profile_name") or otherwise

    def text(self, name: str) -> str:
        """The first text of this name in any of the tables; "" where there is none."""
        found = (row[name] for row in self._all() if isinstance(row.get(name), str) and row[name])
        return _plain(next(found, ""))

    def metadata(self) -> dict[str, Any]:
        """What the whole trace can say of itself because of this profile."""
        of = {"device_model": family(self.text("instance_type"))}
        return {name: value for name, value in of.items() if value}

    def versions(self) -> dict[str, Any]:
        """The versions of what wrote the profile, for its entry under `sources`."""
        out: dict[str, Any] = {
            name: self.text(name)
            for name in ("profiler_version", "explorer_version", "profile_schema_version")
            if self.text(name)
        }
        ntff = self._integer("ntff_version", "metadata")
        return out if ntff is None else out | {"ntff_version": ntff}

    def execution(self, *, end_ns: int, knows_transposes: bool) -> Execution:
        """The facts of the run; `end_ns` is how long it took where the profile itself does not tell."""
        cores = self.cores()
        model_flops = self._integer("model_flops", "summary")
        return Execution(
            total_time_ps=self._total_time_ps(end_ns),
            neff=self.text("network_name"),
            neff_uuid=self.text("uuid"),
            nd_idx=self._device(),
            physical_cores=list(cores.numbers),
            instance_type=self.text("instance_type"),
            ntff_version=self._integer("ntff_version", "metadata"),
            runtime_version=self.text("runtime_version"),
            driver_version=self.text("driver_version"),
            collectives_version=self.text("collectives_version"),
            compiler_version=self.text("compiler_version"),
            profiler_version=self.text("profiler_version") or self.text("explorer_version"),
            pe_rows=self._integer("pe_num_rows", "metadata"),
            pe_cols=self._integer("pe_num_cols", "metadata"),
            pe_clock_ghz=self._real("pe_clock_freq", "metadata"),
            others_clock_ghz=self._real("pe_clock_others", "metadata"),
            hbm_bytes_per_s=self._real("hbm_ddr_bandwidth", "metadata"),
            dma_bytes_per_s=self._real("dma_ddr_bandwidth", "metadata"),
            event_count=self._integer("event_count", "summary"),
            weight_size_bytes=self._integer("weight_size_bytes", "summary"),
            inputs_and_weights_size_bytes=self._integer("inputs_and_weights_size_bytes", "summary"),
            inputs_outputs_weights_size_bytes=self._integer("inputs_outputs_weights_size_bytes", "summary"),
            hlo_macs=model_flops // 2 if model_flops else None,  # AWS: 0 where the NEFF has no HLO statistics
            knows_transposes=knows_transposes,
            reported=_reported(self._first("summary")),
            warnings=self._warnings(),
        )

    def instructions(self, engine: str) -> int:
        """How many instructions of an engine all cores ran, by the profile's own count; 0 where it has none."""
        told = Part("model_info", self.rows.get("model_info", []))
        counts = told.integers(f"{engine.lower()}_engine_instruction_count")
        return int(counts[(counts > 0) & (counts < _MOST_INSTRUCTIONS)].sum())

    def _warnings(self) -> list[str]:
        told = Part("warnings", self.rows.get("warnings", []))
        return [_plain(text) for text in told.texts("message") if text]

    def _total_time_ps(self, end_ns: int) -> int:
        total = self._real("total_time", "summary")  # seconds
        if total is not None and 0 <= total < 2**20:
            return round(total * _PICOSECONDS)
        first, last = self._integer("first_hw_timestamp", "metadata"), self._integer("last_hw_timestamp", "metadata")
        if first is not None and last is not None and 0 <= last - first < 2**50:
            return (last - first) * 1000
        return end_ns * 1000

    def _device(self) -> int | None:
        for name, table in (
            ("nd_idx", "model_info"),
            ("nd_idx", "summary"),
            ("neuron_device_idx", "metadata"),
            ("nd", "nc_mem_usage"),
        ):
            found = self._integer(name, table)
            if found is not None:
                return found
        return None

    def _first(self, table: str) -> Row:
        return next(iter(self.rows.get(table, [])), {})

    def _integer(self, name: str, table: str) -> int | None:
        number = int(Part(table, [self._first(table)]).integers(name)[0])
        return None if number < 0 else number

    def _real(self, name: str, table: str) -> float | None:
        number = float(Part(table, [self._first(table)]).reals(name)[0])
        return number if number >= 0 else None

    def _all(self) -> list[Row]:
        return [
            row for table in ("summary", "metadata", "profile_info", "neff_header") for row in self.rows.get(table, [])
        ]


def _plain(text: str) -> str:
    """The text without what no UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()


def _reported(summary: Row) -> dict[str, Any]:
    """The metrics of the summary, numbers exact; what no JSON with 64-bit numbers can hold as text."""
    told = {_plain(name): value for name, value in summary.items() if value is not None}
    try:
        msgspec.json.encode(told)
    except (UnicodeEncodeError, OverflowError):
        return {name: value if isinstance(value, float) else _plain(text_of(value)) for name, value in told.items()}
    return told
