"""Updates of semaphores become values on their tracks, throttling becomes slices."""

from __future__ import annotations

from trace_format.importers.neuron_device_tables.context import Context
from trace_format.importers.neuron_device_tables.part import Part, Row, encoded
from trace_format.tables import CATEGORIES

_THROTTLE_ARGS = ("k", "n", "type")


def add_semaphores(context: Context, part: Part) -> None:
    """Add the value of each update to the semaphore's track."""
    part, ts = context.timed(part)
    values = part.reals("value")
    good = values == values  # NaN: none that can be read
    context.leave_out(f"row of {part.name} without a value", int((~good).sum()))
    part, ts, values = part.where(good), ts[good], values[good]
    if not len(part):
        return
    tracks = context.tracks_of(context.tracks.semaphore, context.cores.of(part), part.texts("id"))
    context.builder["counters"].append(len(part), ts_ns=ts, track=tracks, value=values)
    said = {"timestamp", "value", "id", "subgraph", "pcore_idx"}
    more = [{"timestamp": row["timestamp"], "id": row.get("id"), **row} for row in part.rows if row.keys() - said]
    context.carried.rows(part.name, more, without={"value", "subgraph"})


def add_throttling(context: Context, part: Part) -> None:
    """Add a slice for each interval in which one limit held; the limit is k/n of full speed."""
    part, ts = context.timed(part)
    if not len(part):
        return
    builder = context.builder
    cores = context.cores.of(part)
    names = [f"{k}/{n}" for k, n in zip(part.texts("k"), part.texts("n"), strict=True)]
    builder["slices"].append(
        len(part),
        ts_ns=ts,
        dur_ns=context.durations(part, ts),
        track=context.tracks_of(lambda core, _: context.tracks.throttle(core), cores, [""] * len(part)),
        name=builder.pool.strings.ids([f"limit {name}" for name in names]),
        category=CATEGORIES.index("overhead"),
        args=builder.pool.arg_sets.ids([encoded(_arguments(row)) for row in part.rows]),
    )
    context.carried.rows(
        part.name, part.rows,
        without={"timestamp", "duration", "end_ts", "subgraph", "pcore_idx", *_THROTTLE_ARGS},
    )  # fmt: skip


def _arguments(row: Row) -> Row:
    return {name: row[name] for name in _THROTTLE_ARGS if row.get(name) is not None}
