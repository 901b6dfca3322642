"""What a profile says about the NEFF that ran: its layers, its tensors, its header."""

from __future__ import annotations

import json
import re

import msgspec

from trace_format.builder import TraceBuilder
from trace_format.importers.neuron_device_tables.context import Context
from trace_format.importers.neuron_device_tables.part import Part, Row, encoded
from trace_format.tables import CATEGORIES

_TENSOR_KINDS = {"IN": "input", "OUT": "output", "WEIGHT": "weight"}
_NUMBER = re.compile(r"\d{1,18}")
_IN_TENSORS = {"type", "shape", "size"}
_LAYER_TIMES = {"start", "end", "duration"}


def add_layers(context: Context, part: Part) -> None:
    """Add a slice for each layer; what the engines did in it are the arguments."""
    named = Part(part.name, [_with_times(row) for row in part.rows])
    named, ts = context.timed(named)
    builder = context.builder
    builder["slices"].append(
        len(named),
        ts_ns=ts,
        dur_ns=context.durations(named, ts),
        track=context.tracks.layers(),
        name=builder.pool.strings.ids(named.texts("name")),
        category=CATEGORIES.index("annotation"),
        args=builder.pool.arg_sets.ids([encoded(_arguments(row)) for row in named.rows]),
    )
    series = [row for row in part.rows if any(map(_is_series, row))]
    context.carried.rows(part.name, [{n: v for n, v in row.items() if n == "name" or _is_series(n)} for row in series])


def _with_times(row: Row) -> Row:
    return row | {"timestamp": row.get("start"), "end_ts": row.get("end")}


def _arguments(row: Row) -> Row:
    times = {"timestamp", "end_ts", "name", *_LAYER_TIMES}
    return {
        name: value
        for name, value in row.items()
        if name not in times and value not in (None, "", []) and not _is_series(name)
    }


def _is_series(name: str) -> bool:
    """Whether a column holds a list that grows with the trace; those are carried along."""
    return name.endswith("_per_interval") or name in ("time_intervals", "children_names", "children_ids")


def add_tensors(builder: TraceBuilder, part: Part, neff: int) -> None:
    """Add the tensors of the NEFF; a row that names none stands for a subgraph."""
    named = Part(part.name, [row for row in part.rows if row.get("variable_name")])
    strings = builder.pool.strings
    builder["tensors"].append(
        len(named),
        neff=neff,
        name=strings.ids(named.texts("variable_name")),
        kind=strings.ids([_TENSOR_KINDS.get(kind, kind.lower()) for kind in named.texts("type")]),
        shape=strings.ids([_shape(text) for text in named.texts("shape")]),
        bytes=named.integers("size"),
    )


def _shape(text: str) -> str:
    """The shape "[128 512]" as a JSON list."""
    return json.dumps([int(number) for number in _NUMBER.findall(text)]) if text else ""


def add_neff(builder: TraceBuilder, part: Part, compiler_version: str) -> int:
    """Add the NEFF whose header this is and return its row; -1 for a part without rows."""
    if not len(part):
        return -1
    string = builder.string
    lnc = part.integers("number_of_neuroncores_per_lnc")
    sizes = [
        {name: size for name, size in (("header", header), ("data", data)) if size >= 0}
        for header, data in zip(part.integers("header_size").tolist(), part.integers("data_size").tolist(), strict=True)
    ]
    return builder["neffs"].append(
        len(part),
        uuid=builder.pool.strings.ids(part.texts("uuid")),
        hash=builder.pool.strings.ids(part.texts("hash")),
        name=builder.pool.strings.ids(part.texts("network_name")),
        compiler_version=string(compiler_version),
        lnc=lnc.clip(-1, 2**31 - 1),
        sizes=builder.pool.arg_sets.ids([msgspec.json.encode(size) if size else b"" for size in sizes]),
    )
