"""Collectives from torch's own `c10d::` operators and the spans of the gloo backend, which name no collective.

An operator is the call: it says what was asked for, and with which buffers, but ends when the work is queued. A span
(`gloo:all_reduce`, on a thread of the backend) is the work, waiting for the other ranks included; its name is that of
the algorithm, so that a reduce_scatter shows as `gloo:all_reduce`. So the operation is taken from the call and the
slice from the span. Seen in torch 2.13's traces; the signatures are those of torch/csrc/distributed/c10d/Ops.cpp.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.tables import Slices
from trace_format.trace_events.collectives import element_bytes

OPERATOR, SPAN = "c10d::", "gloo:"
CALL = "collective"  # the kind of the flow from an operator to its spans
_MOST_ELEMENTS = 2**55  # so that bytes fit int64


@dataclass(frozen=True, slots=True)
class _Signature:
    """An operator: which collective, which span, and which of its arguments are this rank's buffers.

    -1: none of them is told (a list of lists); `root`: the argument that holds the root's or the peer's rank.
    """

    op: str
    span: str
    sent: int
    received: int
    root: int = -1


_SIGNATURES = {
    "allreduce_": _Signature("all_reduce", "all_reduce", 0, 0),
    "allreduce_coalesced_": _Signature("all_reduce", "all_reduce", 0, 0),
    "broadcast_": _Signature("broadcast", "broadcast", 0, 0, root=2),
    "reduce_": _Signature("reduce", "reduce", 0, 0, root=3),
    "_allgather_base_": _Signature("all_gather", "all_gather", 1, 0),
    "allgather_": _Signature("all_gather", "all_gather", 1, -1),
    "allgather_coalesced_": _Signature("all_gather", "all_gather", 1, -1),
    "allgather_into_tensor_coalesced_": _Signature("all_gather", "all_gather", 1, 0),
    "_reduce_scatter_base_": _Signature("reduce_scatter", "all_reduce", 1, 0),
    "reduce_scatter_": _Signature("reduce_scatter", "all_reduce", -1, 0),
    "reduce_scatter_tensor_coalesced_": _Signature("reduce_scatter", "all_reduce", 1, 0),
    "alltoall_base_": _Signature("all_to_all", "all_to_all", 1, 0),
    "alltoall_": _Signature("all_to_all", "all_to_all", 1, 0),
    "gather_": _Signature("gather", "gather", 1, -1, root=3),
    "scatter_": _Signature("scatter", "scatter", -1, 0, root=3),
    "send": _Signature("send", "send", 0, -1, root=2),
    "recv_": _Signature("recv", "recv", -1, 0, root=2),
    "recv_any_source_": _Signature("recv", "recv", -1, 0),
    "barrier": _Signature("barrier", "barrier", -1, -1),
}
_POINT_TO_POINT = frozenset({"send", "recv_", "recv_any_source_"})  # whose last arguments say nothing of async


def add_c10d_collectives(builder: TraceBuilder, *, rank: int, ranks: int | None, others: bool) -> None:
    """Add a row of the collectives table for each `c10d::` operator among the slices.

    `rank`: that of the trace; `ranks`: how many the group has, where the trace says so; `others`: whether collectives
    were found otherwise, so that only those with a gloo span are new. Of several spans of one call (a reduce_scatter
    of lists is an all_reduce for each rank) the row has the last, with which the call is done. A flow leads from the
    operator to each of its spans.
    """
    names = {i: text for i, text in enumerate(builder.pool.strings.values) if text.startswith((OPERATOR, SPAN))}
    if not names:
        return
    slices: Slices = builder.collected(builder["slices"], "name", "ts_ns", "args")
    rows = np.flatnonzero(np.isin(slices.name, list(names)))
    rows = rows[np.argsort(slices.ts_ns[rows], kind="stable")]
    spans, calls = _Spans(), []
    for row in rows.tolist():
        name = names[int(slices.name[row])]
        said = builder.pool.args(int(slices.args[row]))
        if name.startswith(SPAN):
            spans.add(_Span(row, int(slices.ts_ns[row]), said), name.removeprefix(SPAN))
        elif name.removeprefix(OPERATOR) in _SIGNATURES:
            calls.append((row, int(slices.ts_ns[row]), name.removeprefix(OPERATOR), said))
    for row, start_ns, name, said in calls:
        signature = _SIGNATURES[name]
        work = spans.take(signature, start_ns, said, 1 if name != "reduce_scatter_" else ranks or 1)
        if work or not others:
            columns = _columns(name, signature, said, work, rank, ranks)
            text = {key: builder.string(value) for key, value in columns.items() if isinstance(value, str)}
            builder["collectives"].append(1, slice=work[-1].row if work else row, **{**columns, **text})
            for span in work:
                builder["flows"].append(from_slice=row, to_slice=span.row, kind=builder.string(CALL))


def group_size(distributed: Any) -> int | None:
    """How many ranks each process group has by torch's `distributedInfo`; None where that says nothing or several."""
    groups = distributed.get("pg_config") if isinstance(distributed, dict) else None
    sizes = {group.get("pg_size") for group in groups if isinstance(group, dict)} if isinstance(groups, list) else set()
    size = sizes.pop() if len(sizes) == 1 else None
    return size if isinstance(size, int) and 0 < size < 2**31 else None


def _columns(
    name: str, signature: _Signature, said: Mapping[str, Any], work: Sequence[_Span], rank: int, ranks: int | None
) -> dict[str, Any]:
    """The other columns of a collective, texts as they are."""
    out: dict[str, Any] = {"op": signature.op, "rank": rank, "source": "gloo" if work else "c10d"}
    types = [kind for one in (*(span.said for span in work), said) for kind in _list(one, "Input type")]
    dtype = next((kind for kind in types if isinstance(kind, str) and element_bytes(kind)), "")
    root = _number(_concrete(said, signature.root))
    sent, received = _elements(said, signature.sent), _elements(said, signature.received)
    if signature.op in ("all_gather", "reduce_scatter") and ranks:  # a list of lists: as many as there are ranks
        sent = received * ranks if sent is None and received is not None else sent
        received = sent * ranks if received is None and sent is not None else received
    if signature.op == "gather":
        received = _on_root(sent, root, rank, ranks)
    if signature.op == "scatter":
        sent = _on_root(received, root, rank, ranks)
    if signature.op == "barrier":
        sent = received = 0
    size = element_bytes(dtype)
    for column, elements in (("in_bytes", sent), ("out_bytes", received)):
        if elements is not None and (size is not None or not elements):
            out[column] = elements * (size or 0)
    if signature.op == "send":
        out["out_bytes"], out["peer"] = 0, -1 if root is None else root
    if signature.op == "recv":
        out["in_bytes"], out["peer"] = 0, -1 if root is None else root
    if dtype:
        out["dtype"] = dtype
    if name not in _POINT_TO_POINT:
        out["is_async"] = _concrete(said, -2) == "True"
    return out


def _on_root(elements: int | None, root: int | None, rank: int, ranks: int | None) -> int | None:
    """The elements of the root's list, one tensor for each rank; others have none. None where that is not told."""
    if elements is None or root is None or rank < 0:
        return None
    if root != rank:
        return 0
    return elements * ranks if ranks else None


@dataclass(frozen=True, slots=True)
class _Span:
    row: int
    start_ns: int
    said: Mapping[str, Any]


class _Spans:
    """The spans of each name, in order of time; each belongs to one call, that of its size that came first."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[int | None, deque[_Span]]] = {}

    def add(self, span: _Span, name: str) -> None:
        elements = [_product(shape) for shape in _list(span.said, "Input Dims")]
        size = None if None in elements or not elements else sum(e for e in elements if e is not None)
        self._waiting.setdefault(name, {}).setdefault(size, deque()).append(span)

    def take(self, signature: _Signature, start_ns: int, said: Mapping[str, Any], count: int) -> list[_Span]:
        """The next spans that may be this call's; none where there are none."""
        by_size = self._waiting.get(signature.span, {})
        place = signature.received if signature.sent < 0 else signature.sent
        waiting = by_size.get(_elements(said, place))
        if waiting is None:  # the backend lists other buffers than the call does
            waiting = min((q for q in by_size.values() if q), key=lambda q: q[0].start_ns, default=deque())
        while waiting and waiting[0].start_ns < start_ns:  # of a call before the window
            waiting.popleft()
        return [waiting.popleft() for _ in range(min(count, len(waiting)))]


def _elements(said: Mapping[str, Any], place: int) -> int | None:
    """The elements of all tensors in one argument of a call; None where they are not told."""
    dims, types = _list(said, "Input Dims"), _list(said, "Input type")
    if not 0 <= place < min(len(dims), len(types)) or not isinstance(dims[place], list):
        return None
    sizes = [_product(shape) for shape in (dims[place] if types[place] == "TensorList" else dims[place : place + 1])]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _product(shape: Any) -> int | None:
    if not isinstance(shape, list) or not all(isinstance(size, int) and 0 <= size < 2**31 for size in shape):
        return None
    found = math.prod(shape)
    return found if found < _MOST_ELEMENTS else None


def _list(said: Mapping[str, Any], key: str) -> list[Any]:
    value = said.get(key)
    return value if isinstance(value, list) else []


def _concrete(said: Mapping[str, Any], place: int) -> str:
    values = _list(said, "Concrete Inputs")
    return str(values[place]) if place != -1 and -len(values) <= place < len(values) else ""


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 10 else None
