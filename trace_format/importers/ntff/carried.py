"""What an NTFF file says beside its records: the use of memory and the DMA queues, by the names of AWS's JSON."""

from __future__ import annotations

import numpy as np

from trace_format.importers.neuron_device.engines import queue_name
from trace_format.importers.ntff.profile import Profile

# As `neuron_device_tables` names what it carries of AWS's JSON.
MEMORY, QUEUES = "neuron_nc_mem_usage", "neuron_dma_queues_info"
_TOTAL = "Total"
_USES = {
    "generic": "Generic", "pe": "Tensor Instructions", "act": "Scalar Instructions", "pool": "GpSimd Instructions",
    "dve": "Vector Instructions", "sp": "Sync Instructions", "io": "IO", "spill": "DRAM Spill", "weight": "Weights",
    "profiler buffers": "Profiler Buffers", "act table": "Scalar Table", "shared scratchpad": "Shared Scratchpad",
    "tensor": "Tensors", "ucode": "Ucode lib", "pool stdio": "GpSimd STDIO", "collectives": "Collectives",
    "scratchpad": "Scratchpad", "xt cc": "XT CC (unused)", "dma rings runtime": "DMA Rings Runtime",
    "dma rings spill": "DMA Rings Spill", "dma rings io": "DMA Rings IO",
    "dma rings collectives": "DMA Rings Collectives",
}  # fmt: skip
_QUEUE_TYPES = {0: "unknown", 2: "weights"}


def carry_tables(profile: Profile) -> None:
    """Add the carried tables: bytes of HBM by core and use, their sum last, and the queues that were registered."""
    rows = [
        (core, use, size)
        for core in profile.container.cores
        for use, size in (*core.memory, *([(_TOTAL, sum(size for _, size in core.memory))] if core.memory else []))
    ]
    if rows:
        columns = {
            "nd": np.array([core.device for core, _, _ in rows], np.int64),
            "nc": np.array([core.core for core, _, _ in rows], np.int64),
            "usage_type": [_USES.get(use, use) for _, use, _ in rows],
            "amount_bytes": np.array([min(size, 2**64 - 1) for _, _, size in rows], np.uint64),
        }
        profile.builder.carry(MEMORY, columns, rows=len(rows))
    queues = [(core.name, queue) for core in profile.container.cores for queue in core.queues]
    if queues:
        columns = {
            "q_name": [queue_name(queue.name) for _, queue in queues],
            "q_type": [_QUEUE_TYPES.get(queue.type, str(queue.type)) for _, queue in queues],
            "q_idx": np.array([queue.index for _, queue in queues], np.uint64),
            "q_eng_idx": np.array([queue.engine for _, queue in queues], np.uint64),
            "q_dram_channel": np.array([queue.dram_channel for _, queue in queues], np.uint64),
            "q_event_id": np.array([queue.event for _, queue in queues], np.int64),
            "subgraph": [name for name, _ in queues],
        }
        profile.builder.carry(QUEUES, columns, rows=len(queues))
