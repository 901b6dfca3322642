"""What the JSON members of a NEFF say: tensors and DMA queues of a subgraph, the compiler and its measurements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from trace_format.importers.neff.contents import DmaQueue, NeffTensor
from trace_format.importers.neuron_device.engines import engine_name
from trace_format.json_object import json_object

# Worked out from data: what def.json calls the variables whose meaning is clear.
_KINDS = {"input": "input", "output": "output", "file": "weight"}
_NO_TENSORS = ("state-buffer", "dge-table")  # the core's own memory; tables of addresses
_SPILL = "SpillSave"
_INT64 = 2**63


def tensors(definition: Mapping[str, Any], tensor_map: Mapping[str, Any]) -> list[NeffTensor]:
    """The tensors of a subgraph: sizes as its def.json has them, shapes and types as its tensor_map.json does.

    A weight has another name in each; both name the file that holds it.
    """
    by_file = {text(entry.get("tf_file")): entry for entry in _objects(tensor_map).values()}
    out = []
    for name, var in _objects(definition.get("var")).items():
        kind = text(var.get("type"))
        if kind in _NO_TENSORS:
            continue
        if kind == "virtual" and _SPILL in name:
            kind = "spill"
        shaped = tensor_map.get(name)
        if not isinstance(shaped, dict):
            file = text(var.get("file_name"))
            shaped = by_file.get(file, {}) if file else {}
        out.append(
            NeffTensor(
                name=name,
                kind=_KINDS.get(kind, kind),
                bytes=whole(var.get("size")),
                shape=_integers(shaped.get("tf_shape")),
                dtype=text(shaped.get("dtype")),
                layout=text(shaped.get("tf_format")),
                var_id=whole(var.get("var_id")),
            )
        )
    return out


def queues(definition: Mapping[str, Any]) -> tuple[DmaQueue, ...]:
    """The DMA queues of a subgraph, by the names that the compiler gives them."""
    return tuple(
        DmaQueue(
            name=name,
            type=text(queue.get("type")),
            owner=engine_name(text(queue.get("owner"))),
            num_queues=whole(queue.get("num_queues")),
            semaphores=_integers(queue.get("semaphore_set")) or (),
        )
        for name, queue in _objects(definition.get("dma_queue")).items()
    )


def cc_streams(definition: Mapping[str, Any]) -> int | None:
    streams = definition.get("cc_streams")
    return whole(streams.get("num_streams")) if isinstance(streams, dict) else None


def measurements(stats: bytes) -> dict[str, float]:
    """The numbers of hlo_stats.json (`{name: value}`) or metrics.json (`[{"MetricName", "Value", "Unit"}]`)."""
    try:
        found = msgspec.json.decode(stats)
    except (msgspec.DecodeError, RecursionError):
        found = json_object(stats)
    if isinstance(found, list):
        found = {text(row.get("MetricName")): row.get("Value") for row in found if isinstance(row, dict)}
    out = {}
    for name, value in (found if isinstance(found, dict) else {}).items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if name and is_number and abs(value) < 2.0**200 and math.isfinite(value):
            out[name] = float(value) if isinstance(value, float) else value
    return out


def text(value: Any) -> str:
    """The value if it is text, else ""."""
    return value if isinstance(value, str) else ""


def whole(value: Any) -> int | None:
    """The value if it is a whole number that int64 holds and not negative, else None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _INT64 else None


def _objects(value: Any) -> dict[str, dict[str, Any]]:
    """Those entries of an object that are objects."""
    return {name: entry for name, entry in value.items() if isinstance(entry, dict)} if isinstance(value, dict) else {}


def _integers(value: Any) -> tuple[int, ...] | None:
    """The value if it is a list of whole numbers, else None."""
    if not isinstance(value, list):
        return None
    out = tuple(number for number in map(whole, value) if number is not None)
    return out if len(out) == len(value) else None
