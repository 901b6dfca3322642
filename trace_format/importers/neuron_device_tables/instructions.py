"""Instructions become slices of their engines."""

from __future__ import annotations

import numpy as np

from trace_format.importers.neuron_device.engines import engine_name
from trace_format.importers.neuron_device_tables.context import Context
from trace_format.importers.neuron_device_tables.part import Part, Row, encoded
from trace_format.tables import CATEGORIES

TABLE = "instruction"

# What is the same whenever the instruction at this place of the program runs: the arguments of its slices.
_OF_THE_PROGRAM = frozenset({
    "opcode", "operands", "instruction_type", "elements", "performance_mode", "activation_fn", "trigger", "layer",
    "compiler_pc", "compiler_opcode", "compiler_operands", "bir_id", "raw_bir_id", "bir_instruction_name",
    "penguin_id", "raw_penguin_id", "hlo_name", "hlo_attrs", "raw_hlo_id", "raw_framework_id",
    "fully_qualified_subgraph", "kernel_instruction_name", "stack_frame_ids", "nki_source_location",
    "bir_debug_info_source_location", "hbm_read_bytes", "hbm_write_bytes", "sbuf_read_bytes", "sbuf_write_bytes",
    "psum_read_bytes", "psum_write_bytes", "is_psum_read_sbuf_write", "psum_read_sbuf_write_bytes",
    "spill_save_bytes", "spill_reload_bytes", "input_queue_bytes", "output_queue_bytes", "weight_queue_bytes",
    "adjusted_flops", "tensor_elements_transpose", "flops_transpose", "adjusted_flops_transpose",
})  # fmt: skip
# What columns of the schema hold.
_IN_COLUMNS = frozenset({
    "timestamp", "duration", "end_ts", "subgroup", "label", "subgraph", "pcore_idx", "pc", "evt_wait_time",
    "predecessors", "raw_flops",
})  # fmt: skip
_WAITS = "EVENT_SEMAPHORE"  # does no work; AWS Neuron docs: engine times leave semaphore waits out
_WAITING, _COMPUTE = CATEGORIES.index("semaphore"), CATEGORIES.index("compute")
_FLOPS_PER_ELEMENT = 2  # a multiplication and an addition for each element of a MATMUL


def add_instructions(context: Context, part: Part) -> None:
    """Add a slice for each instruction, and a flow from each of its predecessors."""
    context.listed.update(_engines(part))
    part, ts = context.timed(part)
    if not len(part):
        return
    builder = context.builder
    engines = _engines(part)
    opcodes = part.texts("opcode")
    first = builder["slices"].append(
        len(part),
        ts_ns=ts,
        dur_ns=context.durations(part, ts),
        track=context.tracks_of(context.tracks.engine, context.cores.of(part), engines),
        name=builder.pool.strings.ids([opcode or "instruction" for opcode in opcodes]),
        category=[_WAITING if opcode == _WAITS else _COMPUTE for opcode in opcodes],
        external_id=part.integers("id"),
        wait_ns=part.integers("evt_wait_time"),
        pc=part.integers("pc"),
        flops=_flops(part, opcodes),
        args=builder.pool.arg_sets.ids([_arguments(row) for row in part.rows]),
    )
    context.links.name(TABLE, part.values("id"), first)
    _add_predecessors(context, part)
    context.knows_transposes |= any(part.texts("instruction_type"))
    context.carried.rows(TABLE, part.rows, without=_OF_THE_PROGRAM | _IN_COLUMNS)


def _engines(part: Part) -> list[str]:
    names = zip(part.texts("subgroup"), part.texts("label"), strict=True)
    return [engine_name(engine or label) for engine, label in names]


def _flops(part: Part, opcodes: list[str]) -> np.ndarray:
    told = part.reals("raw_flops")
    elements = part.reals("elements")
    matmul = np.array([opcode == "MATMUL" for opcode in opcodes], bool)
    return np.where(np.isnan(told) & matmul, elements * _FLOPS_PER_ELEMENT, told)


def _arguments(row: Row) -> bytes:
    """The arguments of a row as JSON; what says nothing is left out."""
    kept = {name: row[name] for name in row if name in _OF_THE_PROGRAM and row[name] not in (None, "", [])}
    label, identity = row.get("label"), row.get("id")
    if label and str(label).lower() != str(row.get("subgroup", "")).lower():
        kept["label"] = label  # "TensorMatrix": a line of its own in AWS's timeline
    if isinstance(identity, int) and identity >= 2**63:
        kept["id"] = identity  # wider than the column
    return encoded(kept)


def _add_predecessors(context: Context, part: Part) -> None:
    by_kind: dict[str, tuple[list[object], list[object]]] = {}
    for row in part.rows:
        given = row.get("predecessors")
        for cause in given if isinstance(given, list) else []:
            if isinstance(cause, dict):
                causes, effects = by_kind.setdefault(str(cause.get("type", "")), ([], []))
                causes.append(cause.get("id"))
                effects.append(row.get("id"))
    for kind, (causes, effects) in by_kind.items():
        context.unjoined += context.links.join(kind, causes, effects, tables=(TABLE, TABLE))
