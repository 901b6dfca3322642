"""One run of a NEFF on a logical core: the slice on the Executions track, and the facts it carries as arguments."""

from __future__ import annotations

from typing import Any

import msgspec

from trace_format.builder import TraceBuilder
from trace_format.importers.neuron_device.tracks import DeviceTracks
from trace_format.tables import CATEGORIES


class Execution(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known about one run of a NEFF on one logical core, as the arguments of its slice carry it.

    None, "" and empty: not told by the source. Percentages are fractions, as AWS has them.
    """

    total_time_ps: int
    neff: str = ""  # its name
    neff_uuid: str = ""
    index: int = 0  # which of the runs in its file
    nd_idx: int | None = None  # the Neuron device
    physical_cores: list[int] = []
    instance_type: str = ""
    ntff_version: int | None = None
    runtime_version: str = ""
    driver_version: str = ""
    collectives_version: str = ""
    compiler_version: str = ""
    profiler_version: str = ""
    # the peaks, where the source states them
    pe_rows: int | None = None
    pe_cols: int | None = None
    pe_clock_ghz: float | None = None
    others_clock_ghz: float | None = None
    hbm_bytes_per_s: float | None = None
    dma_bytes_per_s: float | None = None
    # counts of the source's records of this run
    event_count: int | None = None
    # what only the NEFF tells
    weight_size_bytes: int | None = None
    inputs_and_weights_size_bytes: int | None = None
    inputs_outputs_weights_size_bytes: int | None = None
    hlo_macs: int | None = None
    # whether instructions are known to be transposes or not (else transpose_flops is unknown)
    knows_transposes: bool = False
    # metrics that AWS's own tool wrote into the source, by its names
    reported: dict[str, Any] = {}
    warnings: list[str] = []


def add_execution(
    builder: TraceBuilder, tracks: DeviceTracks, execution: Execution, *, start_ns: int, start_ps: int = -1
) -> int:
    """Add the slice of an execution and return its row; `start_ps`: picoseconds beyond `start_ns`, -1 where unknown."""
    return builder["slices"].append(
        1,
        ts_ns=start_ns,
        dur_ns=execution.total_time_ps // 1000,
        ts_ps=start_ps,
        dur_ps=execution.total_time_ps % 1000,
        track=tracks.executions(),
        name=builder.string(execution.neff or "execution"),
        category=CATEGORIES.index("annotation"),
        args=builder.pool.arg_sets.id(msgspec.json.encode(execution)),
    )


def execution_of(args: bytes) -> Execution:
    """The facts that the arguments of an execution's slice carry. Raises msgspec.MsgspecError for anything else."""
    return msgspec.json.decode(args, type=Execution)
