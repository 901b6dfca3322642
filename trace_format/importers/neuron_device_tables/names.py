"""What Parquet calls the tables and columns of a device profile that AWS's JSON names otherwise.

Source: AWS Neuron docs, Neuron Explorer profile schema reference, schema 7.4.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trace_format.importers.neuron_device_tables.part import Row

_TIMES = {"start_ts": "timestamp", "duration_ns": "duration"}


@dataclass(frozen=True)
class TableNames:
    """A table as JSON calls it, its columns that Parquet calls otherwise, and what is the same for all its rows."""

    table: str
    columns: Mapping[str, str] = field(default_factory=dict)
    always: Mapping[str, Any] = field(default_factory=dict)

    def row(self, row: Row) -> Row:
        """A row of the Parquet table by the names of JSON; what it does not say is left out."""
        renamed = {self.columns.get(name, name): value for name, value in row.items() if value is not None}
        return renamed | dict(self.always) if self.always else renamed


_PACKETS = _TIMES | {
    "engine_idx": "dma_engine", "queue_idx": "dma_queue", "queue_name": "subgroup", "read_bytes": "read_size",
    "write_bytes": "write_size", "transfer_bytes": "transfer_size", "throughput": "transfer_rate",
}  # fmt: skip
_SBUF = {"avg_util_percent": "usage_avg"} | {
    f"partition_{first}_util_percent": f"partition_{first}_usage" for first in (0, 32, 64, 96)
}
_PSUM = {"avg_util_percent": "usage_avg"} | {f"bank_{bank}_util_percent": f"bank_{bank}_usage" for bank in range(8)}

BY_PARQUET_TABLE = {
    "ActiveTime": TableNames("active_time"),
    "CcOp": TableNames("cc_ops", _TIMES),
    "DmaPacket": TableNames("dma", _PACKETS),
    "DmaPacketAggregated": TableNames("dma", _PACKETS, {"aggregated": "yes"}),
    "DmaQueuesInfo": TableNames("dma_queues_info", {
        "name": "q_name", "type": "q_type", "idx": "q_idx", "engine_idx": "q_eng_idx", "axi_port": "q_axi_port",
        "dram_channel": "q_dram_channel",
    }),
    "DmaUsage": TableNames("dma_throughput", {"current_throughput": "transfer_rate"}),
    "FrameworkNode": TableNames("layer_summary", {"node_name": "name", "start_ts": "start", "end_ts": "end"}),
    "HbmUsage": TableNames("dma_throughput", {
        "current_throughput": "hbm_transfer_rate", "total_transfer_bytes": "hbm_total_transfer_bytes",
    }),
    "HbmUsageSummaryByType": TableNames("nc_mem_usage", {
        "neuron_device_idx": "nd", "neuroncore_idx": "nc", "usage_bytes": "amount_bytes",
    }),
    "Instruction": TableNames("instruction", _TIMES | {
        "engine": "subgroup", "timeline_track": "label", "evt_wait_time_ns": "evt_wait_time",
        "tensor_elements": "elements", "tensor_instruction_type": "instruction_type",
        "scalar_activation_fn": "activation_fn",
    }),
    "Metadata": TableNames("metadata", {
        "tensor_engine_num_rows": "pe_num_rows", "tensor_engine_num_cols": "pe_num_cols",
        "tensor_engine_clock_freq": "pe_clock_freq", "neuroncore_clock_freq": "pe_clock_others",
    }),
    "NeffHeader": TableNames("neff_header", {
        "logical_neuroncore_count": "number_of_logical_neuroncores",
        "pcore_count_per_lnc": "number_of_neuroncores_per_lnc",
    }),
    "PendingDma": TableNames("pending_dma"),
    "PsumUsage": TableNames("instruction_usage", _PSUM, {"type": "psum"}),
    "SbufUsage": TableNames("instruction_usage", _SBUF, {"type": "sb"}),
    "SemaphoreUpdate": TableNames("semaphore_update"),
    "Summary": TableNames("summary"),
    "TensorInfo": TableNames("neff_node"),
    "Throttle": TableNames("ham"),
    "Warning": TableNames("warnings"),
}  # fmt: skip
