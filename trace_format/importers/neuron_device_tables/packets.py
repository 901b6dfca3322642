"""DMA packets become slices of their queues; rows that sum packets up become instants there."""

from __future__ import annotations

import numpy as np

from trace_format.importers.neuron_device_tables.context import Context
from trace_format.importers.neuron_device_tables.part import Part, Row, encoded, text_of
from trace_format.tables import CATEGORIES

TABLE = "dma"

# What many packets have in common: the arguments of their slices.
_OF_THE_TRANSFER = frozenset({
    "dma_engine", "dma_queue", "op", "variable", "source", "dest", "semaphore_id", "block_id", "trigger",
    "is_cc_dma", "duplicate", "modular_flow_function", "completion",
    "read_sbuf_partitions", "read_num_sbuf_partitions", "read_shape", "read_offset", "read_steps",
    "write_sbuf_partitions", "write_num_sbuf_partitions", "write_shape", "write_offset", "write_steps",
    "source_offset", "source_steps", "source_shape", "source_sb_partitions",
    "dest_offset", "dest_steps", "dest_shape", "dest_sb_partitions",
    "is_transpose_mode", "transpose_element_size", "transpose_shape", "transpose_from_shape", "transpose_to_shape",
    "transpose_unroll_factor",
})  # fmt: skip
_IN_COLUMNS = frozenset({
    "timestamp", "duration", "end_ts", "subgroup", "subgraph", "pcore_idx", "transfer_size", "queue_type",
    "aggregated",
})  # fmt: skip
_NUMBERED = ("dma_engine", "dma_queue")  # as text, as JSON has them; Parquet has numbers


def add_packets(context: Context, part: Part) -> None:
    """Add a slice for each packet, an instant for each row that sums packets up."""
    part, ts = context.timed(part)
    summed = np.array([text in ("yes", "true") for text in part.texts("aggregated")], bool)
    _add_sums(context, part.where(summed), ts[summed])
    part, ts = part.where(~summed), ts[~summed]
    if not len(part):
        return
    builder = context.builder
    first = builder["slices"].append(
        len(part),
        ts_ns=ts,
        dur_ns=context.durations(part, ts),
        track=_tracks(context, part),
        name=builder.pool.strings.ids(_queues(part)),
        category=CATEGORIES.index("dma"),
        source_category=builder.pool.strings.ids(part.texts("queue_type")),
        external_id=part.integers("id"),
        bytes=part.integers("transfer_size"),
        args=builder.pool.arg_sets.ids([encoded(_arguments(row)) for row in part.rows]),
    )
    context.links.name(TABLE, part.values("id"), first)
    context.carried.rows(TABLE, part.rows, without=_OF_THE_TRANSFER | _IN_COLUMNS)


def _add_sums(context: Context, part: Part, ts: np.ndarray) -> None:
    if not len(part):
        return
    builder = context.builder
    told = {"duration", "transfer_size", "id"}
    builder["instants"].append(
        len(part),
        ts_ns=ts,
        track=_tracks(context, part),
        name=builder.pool.strings.ids(_queues(part)),
        category=CATEGORIES.index("dma"),
        source_category=builder.pool.strings.ids(part.texts("queue_type")),
        args=builder.pool.arg_sets.ids(
            [encoded(_arguments(row) | {name: row[name] for name in told & row.keys()}) for row in part.rows]
        ),
    )
    context.carried.rows(TABLE, part.rows, without=_OF_THE_TRANSFER | _IN_COLUMNS)


def _queues(part: Part) -> list[str]:
    """The name of each row's queue; one that is not known is called by its number alone, as Q0."""
    out = []
    for name, number, engine in zip(
        part.texts("subgroup"), part.texts("dma_queue"), part.texts("dma_engine"), strict=True
    ):
        out.append(name.removesuffix(f"-E{engine}") or f"Q{number}")
    return out


def _tracks(context: Context, part: Part) -> np.ndarray:
    keys = list(zip(_queues(part), part.integers("dma_engine").tolist(), strict=True))
    return context.tracks_of(lambda core, key: context.tracks.queue(core, *key), context.cores.of(part), keys)


def _arguments(row: Row) -> Row:
    """What is known of the transfer; what says nothing is left out."""
    kept = {name: row[name] for name in row if name in _OF_THE_TRANSFER and row[name] not in (None, "", [])}
    kept |= {name: text_of(kept[name]) for name in _NUMBERED if name in kept}
    identity = row.get("id")
    if isinstance(identity, int) and identity >= 2**63:
        kept["id"] = identity  # wider than the column
    return kept
