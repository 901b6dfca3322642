"""The path itself: from the end of the window back, each time to who was the last to be ready."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.critical_path.graph import LAUNCH, ORDER, Graph
from neuron_profile.analysis.critical_path.kinds import GAP, KINDS, LAUNCH_DELAY
from trace_format import Trace

Array = np.ndarray

BEFORE_THE_FIRST = "(nothing recorded before)"
AFTER_THE_LAST = "(nothing recorded after)"
IDLE_DEVICE = "(idle device, no cause recorded)"
IDLE_THREAD = "(nothing recorded on the thread)"


def walked(trace: Trace, graph: Graph) -> pd.DataFrame:
    """The segments of the critical path in order of time: one ends where the next begins, and they fill the window.

    Columns: start_ns, end_ns, dur_ns, slice (its row; -1 for none), kind (of `KINDS`), name. A "launch delay" has the
    row and the name of the work that was launched; a "gap" is time in which nothing was recorded that explains it.
    """
    window = graph.window
    node, piece, end_ns = _terminal(graph)
    segments = _Segments(graph)
    if node < 0:
        segments.named(window.start_ns, window.end_ns, GAP, AFTER_THE_LAST)
        return segments.frame(trace)
    segments.named(end_ns, window.end_ns, GAP, AFTER_THE_LAST)
    if piece >= 0:
        segments.pieces(piece, piece + 1)
    host_pieces, host_nodes = len(graph.pieces.row) - graph.works, len(graph.at_ns) - graph.works
    at, binding, source = graph.at_ns.tolist(), graph.binding.tolist(), graph.source.tolist()
    first, last, label, lag = graph.first.tolist(), graph.last.tolist(), graph.label.tolist(), graph.lag_ns.tolist()
    while binding[node] >= 0:
        edge = binding[node]
        begin = at[node] - lag[edge]
        if label[edge] == LAUNCH:
            segments.of_row(begin, at[node], LAUNCH_DELAY, int(graph.pieces.row[host_pieces + node - host_nodes]))
        elif label[edge] != ORDER:  # the pieces of a thread fill its time
            segments.named(begin, at[node], GAP, IDLE_THREAD if node < host_nodes else IDLE_DEVICE)
        segments.pieces(first[edge], last[edge])
        node = source[edge]
    segments.named(window.start_ns, at[node], GAP, BEFORE_THE_FIRST)
    return segments.frame(trace)


def _terminal(graph: Graph) -> tuple[int, int, int]:
    """The node and the piece (-1: none) that end last of what counts, and when; of several the one of most weight."""
    counts = np.flatnonzero(graph.counts & (graph.ends >= 0))
    if len(counts) == 0:
        return -1, -1, graph.window.start_ns
    node, piece = graph.ends[counts], graph.end_piece[counts]
    end_ns = np.where(piece >= 0, graph.pieces.end_ns[np.maximum(piece, 0)], graph.at_ns[node])
    best = np.lexsort((graph.weights[counts], end_ns))[-1]
    return int(node[best]), int(piece[best]), int(end_ns[best])


class _Segments:
    """Collects segments from the last to the first."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._parts: list[tuple[int, int, int, int, int, str]] = []  # start, end, kind, first piece or row, last, name

    def pieces(self, first: int, last: int) -> None:
        if last > first:
            self._parts.append((0, 0, -1, first, last, ""))

    def of_row(self, start_ns: int, end_ns: int, kind: int, row: int) -> None:
        if end_ns > start_ns:
            self._parts.append((start_ns, end_ns, kind, row, 0, ""))

    def named(self, start_ns: int, end_ns: int, kind: int, name: str) -> None:
        if end_ns > start_ns:
            self._parts.append((start_ns, end_ns, kind, -1, 0, name))

    def frame(self, trace: Trace) -> pd.DataFrame:
        pieces, parts = self._graph.pieces, self._parts[::-1]
        start, end, kind, first, last = (np.array([part[i] for part in parts], np.int64) for i in range(5))
        count = np.where(kind < 0, last - first, 1)
        part = np.repeat(np.arange(len(parts)), count)
        within = np.arange(len(part)) - np.repeat(np.cumsum(count) - count, count)
        real = kind[part] < 0
        piece = np.where(real, first[part] + within, 0)
        if len(pieces.row) == 0:
            taken = dict.fromkeys(("start_ns", "end_ns", "row", "kind"), part * 0)
        else:
            taken = {name: getattr(pieces, name)[piece] for name in ("start_ns", "end_ns", "row", "kind")}
        row = np.where(real, taken["row"], first[part])
        columns: dict[str, Any] = {
            "start_ns": np.where(real, taken["start_ns"], start[part]),
            "end_ns": np.where(real, taken["end_ns"], end[part]),
        }
        columns["dur_ns"] = columns["end_ns"] - columns["start_ns"]
        columns["slice"] = row
        kinds = np.where(real, taken["kind"], kind[part])
        columns["kind"] = pd.Categorical.from_codes(kinds, categories=pd.Index(KINDS))
        columns["name"] = pd.Series(self._names(trace, row, part, parts), dtype=object)
        return pd.DataFrame(columns)

    def _names(self, trace: Trace, row: Array, part: Array, parts: list[tuple[int, int, int, int, int, str]]) -> Array:
        strings = trace.pool.strings.values
        own = [one[5] or IDLE_THREAD for one in parts]
        has = row >= 0
        texts = np.empty(len(row), object)
        name = trace.slices.name[row[has]].tolist()
        texts[has] = [strings[i] for i in name]
        texts[~has] = [own[i] for i in part[~has].tolist()]
        return texts
