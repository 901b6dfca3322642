"""What is inside a NEFF as rows of a trace."""

from __future__ import annotations

import json

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.importers.neff.contents import NeffContents

QUEUES, PROGRAMS = "neff_queues", "neff_programs"  # the tables carried along
_LARGEST_LNC = 1 << 16


def add_neff(builder: TraceBuilder, contents: NeffContents, path: str) -> int:
    """Add a NEFF, its tensors, queues and programs, and return its row in `neffs`. `path`: the name of its file."""
    sizes = {name: size for name, size in contents.sizes.items() if size is not None}
    row = builder["neffs"].append(
        1,
        uuid=builder.string(contents.uuid),
        hash=builder.string(contents.hash),
        name=builder.string(contents.name),
        path=builder.string(path),
        compiler_version=builder.string(contents.compiler_version),
        lnc=contents.lnc if contents.lnc < _LARGEST_LNC else -1,
        sizes=builder.pool.arg_sets.id(json.dumps(sizes).encode()),
    )
    tensors = contents.tensors
    builder["tensors"].append(
        len(tensors),
        neff=row,
        name=[builder.string(tensor.name) for tensor in tensors],
        kind=[builder.string(tensor.kind) for tensor in tensors],
        shape=[builder.string("" if tensor.shape is None else json.dumps(tensor.shape)) for tensor in tensors],
        dtype=[builder.string(tensor.dtype) for tensor in tensors],
        bytes=[-1 if tensor.bytes is None else tensor.bytes for tensor in tensors],
    )
    _carry_queues(builder, contents, row)
    _carry_programs(builder, contents, row)
    return row


def _carry_queues(builder: TraceBuilder, contents: NeffContents, row: int) -> None:
    queues = [(graph.name, queue) for graph in contents.subgraphs for queue in graph.queues]
    if queues:
        columns = {
            "neff": np.full(len(queues), row),
            "subgraph": [graph for graph, _ in queues],
            "name": [queue.name for _, queue in queues],
            "type": [queue.type for _, queue in queues],
            "owner": [queue.owner for _, queue in queues],
            "num_queues": np.array([-1 if queue.num_queues is None else queue.num_queues for _, queue in queues]),
        }
        builder.carry(QUEUES, columns, rows=len(queues))


def _carry_programs(builder: TraceBuilder, contents: NeffContents, row: int) -> None:
    programs = [
        (graph.name, engine, program) for graph in contents.subgraphs for engine, program in graph.programs.items()
    ]
    if programs:
        columns = {
            "neff": np.full(len(programs), row),
            "subgraph": [graph for graph, _, _ in programs],
            "engine": [engine for _, engine, _ in programs],
            "slots": np.array([program.slots for _, _, program in programs]),
        }
        builder.carry(PROGRAMS, columns, rows=len(programs))
