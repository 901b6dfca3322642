"""Small device profiles as JSON, for tests: what AWS's tool writes, cut down to what a test is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

INSTRUCTION = {
    "timestamp": 100, "duration": 40, "label": "TensorMatrix", "subgroup": "Tensor", "opcode": "MATMUL",
    "operands": " acc_flags=0 ", "pc": 7, "compiler_pc": 3, "id": 11, "evt_wait_time": 25, "elements": 1000,
    "instruction_type": "REGULAR", "subgraph": "sg00", "crc_in": 1, "crc_out": 2, "hlo_name": "",
}  # fmt: skip
PACKET = {
    "timestamp": 200, "duration": 50, "dma_engine": "64", "dma_queue": "0", "subgroup": "Q0-E64",
    "queue_type": "software_dynamic", "transfer_size": 4096, "read_size": 4096, "write_size": 4096, "id": 21,
    "packet_idx": 0, "crc": 9, "aggregated": "no", "subgraph": "sg00", "variable": "unknown",
    "transfer_rate": 81920000000,
}  # fmt: skip
TWO_CORES = [{"sg_name": "sg00", "nd_idx": 0, "nc_idx": 4}, {"sg_name": "sg01", "nd_idx": 0, "nc_idx": 5}]


def write_profile(path: Path, **sections: Any) -> Path:
    """Write a device profile of these sections, `model_info` of two cores first, and return its path."""
    path.write_text(json.dumps({"model_info": TWO_CORES} | sections))
    return path


def instruction(**values: Any) -> dict[str, Any]:
    return INSTRUCTION | values


def packet(**values: Any) -> dict[str, Any]:
    return PACKET | values
