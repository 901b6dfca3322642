"""Writes a device profile's JSON as the Parquet files that AWS's schema reference (7.4.0) describes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Rows = list[dict[str, Any]]
ENGINES = ("Tensor", "Vector", "Scalar", "GpSimd", "Sync")


def write_table(folder: Path, table: str, rows: Rows, *, row_group_size: int = 1000) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{table}.parquet"
    columns = list(dict.fromkeys(name for row in rows for name in row))
    arrays = {name: pa.array([row.get(name) for row in rows]) for name in columns}
    pq.write_table(pa.table(arrays), path, row_group_size=row_group_size)
    return path


def tables_of(document: dict[str, Rows]) -> dict[str, Rows]:
    """The tables of a profile of two physical cores, by the names and types of the schema."""
    place = {"sg00": 0, "sg01": 1}

    def core(row: dict[str, Any]) -> dict[str, Any]:
        return {"pcore_idx": place[row["subgraph"]]} if "subgraph" in row else {}

    def times(row: dict[str, Any]) -> dict[str, Any]:
        start, lasts = row["timestamp"], row["duration"]
        return {"start_ts": start, "end_ts": start + lasts, "duration_ns": lasts}

    same = (
        "opcode", "operands", "compiler_opcode", "compiler_operands", "id", "pc", "compiler_pc", "penguin_id",
        "raw_penguin_id", "bir_id", "raw_bir_id", "bir_instruction_name", "crc_in", "crc_out", "hlo_attrs", "hlo_name",
        "layer", "hbm_read_bytes", "hbm_write_bytes", "sbuf_read_bytes", "sbuf_write_bytes", "psum_read_bytes",
        "psum_write_bytes", "psum_read_sbuf_write_bytes",
    )  # fmt: skip
    instructions = [
        times(row) | core(row) | {name: row.get(name) for name in same} | {
            "engine": row["subgroup"], "timeline_track": row["label"], "evt_wait_time_ns": row["evt_wait_time"],
            "tensor_elements": row.get("elements"), "tensor_instruction_type": row["instruction_type"],
            "scalar_activation_fn": row["activation_fn"],
            "raw_flops": 2 * row["elements"] if "elements" in row else None,
        }
        for row in document["instruction"]
    ]  # fmt: skip
    packets = [
        times(row) | core(row) | {
            "id": row["id"], "packet_idx": row["packet_idx"], "packet_aggregation_id": row["packet_aggregation_id"],
            "engine_idx": int(row["dma_engine"]), "queue_idx": int(row["dma_queue"]), "queue_name": row["subgroup"],
            "queue_type": row["queue_type"], "read_bytes": row["read_size"], "write_bytes": row["write_size"],
            "transfer_bytes": row["transfer_size"], "throughput": float(row["transfer_rate"]),
            "variable": row["variable"], "crc": row["crc"],
        }
        for row in document["dma"]
    ]  # fmt: skip
    usage = document["instruction_usage"]
    parts, banks = (0, 32, 64, 96), range(8)
    metadata, summary = document["metadata"][0], document["summary"][0]
    return {
        "Instruction": instructions,
        "DmaPacket": packets,
        "Flow": [
            {"in_id": cause["id"], "out_id": row["id"], "in_table": "Instruction", "out_table": "Instruction",
             "dependency_type": cause["type"], "gap_time": 0}
            for row in document["instruction"] for cause in row.get("predecessors", [])
        ],
        "SemaphoreUpdate": [
            {"timestamp": row["timestamp"], "id": row["id"], "value": row["value"]} | core(row)
            for row in document["semaphore_update"]
        ],
        "Throttle": [
            {name: row[name] for name in ("timestamp", "duration", "k", "n", "type")} | core(row)
            for row in document["ham"]
        ],
        "PendingDma": [
            {"timestamp": row["timestamp"], "value": row["value"]} | core(row) for row in document["pending_dma"]
        ],
        "DmaUsage": [
            {"timestamp": row["timestamp"], "current_throughput": float(row["transfer_rate"]),
             "total_transfer_bytes": row["total_transfer_bytes"]} | core(row)
            for row in document["dma_throughput"]
        ],
        "ActiveTime": [
            {name: row[name] for name in ("start_ts", "end_ts", "engine", "pcore_idx", "duration_ns")}
            for row in document["active_time"]
        ],
        "SbufUsage": [
            {"timestamp": row["timestamp"], "avg_util_percent": float(row["usage_avg"])} | core(row)
            | {f"partition_{n}_util_percent": float(row[f"partition_{n}_usage"]) for n in parts}
            for row in usage if row["type"] == "sb"
        ],
        "PsumUsage": [
            {"timestamp": row["timestamp"], "avg_util_percent": float(row["usage_avg"])} | core(row)
            | {f"bank_{n}_util_percent": float(row[f"bank_{n}_usage"]) for n in banks}
            for row in usage if row["type"] == "psum"
        ],
        "HbmUsageSummaryByType": [
            {"neuron_device_idx": row["nd"], "neuroncore_idx": row["nc"], "usage_type": row["usage_type"],
             "usage_bytes": row["amount_bytes"]}
            for row in document["nc_mem_usage"]
        ],
        "Metadata": [{
            "profile_schema_version": "7.4.0", "explorer_version": summary["profiler_version"],
            "tensor_engine_num_rows": metadata["pe_num_rows"], "tensor_engine_num_cols": metadata["pe_num_cols"],
            "tensor_engine_clock_freq": metadata["pe_clock_freq"],
            "neuroncore_clock_freq": metadata["pe_clock_others"],
            "hbm_ddr_bandwidth": float(metadata["hbm_ddr_bandwidth"]),
            "dma_ddr_bandwidth": float(metadata["dma_ddr_bandwidth"]), "ntff_version": metadata["ntff_version"],
            "num_physical_cores": metadata["num_physical_cores"], "neuron_device_idx": summary["nd_idx"],
            "last_hw_timestamp": metadata["last_hw_timestamp"], "first_hw_timestamp": 0,
            **{name: summary[name] for name in (
                "instance_type", "runtime_version", "driver_version", "collectives_version", "compiler_version")},
        }],
        "NeffHeader": [{
            "network_name": row["network_name"], "uuid": row["uuid"], "hash": row["hash"],
            "header_size": int(row["header_size"]), "data_size": int(row["data_size"]),
            "pcore_count_per_lnc": int(row["number_of_neuroncores_per_lnc"]),
        } for row in document["neff_header"]],
        "Summary": [{name: value for name, value in summary.items() if not isinstance(value, str)}],
        "TensorInfo": [
            {"variable_name": row["variable_name"], "type": row["type"], "format": row["format"], "shape": row["shape"],
             "size": int(row["size"])}
            for row in document["neff_node"] if row["variable_name"]
        ],
        "Warning": document["warnings"],
    }  # fmt: skip
